import math
import time

import pytest

from skrank_metrics._output.result import (
    Column,
    Result,
    Table,
    as_text,
    exact_end,
    p_text,
    plus_minus,
    signed,
    visible,
)

NAMES = [
    "ridge",
    "HistGradientBoostingRegressor",
    "x" * 100,
    "num_leaves=31, learning_rate=0.05, min_child_samples=20",
]
HEADS = [
    "mean over queries",
    "std over folds",
    "undefined queries",
    "share without relevant",
    "p",
    "adjusted p",
]


@pytest.mark.parametrize(
    ("spell", "value", "expected"),
    [
        (as_text, 0.5, "0.5000"),
        (as_text, (0.25, 0.5), "[0.2500, 0.5000]"),
        (as_text, (math.nan, math.nan), "none"),
        (as_text, -0.00004, "0.0000"),
        (as_text, (-0.0, 0.5), "[0.0000, 0.5000]"),
        (signed, 0.5, "+0.5000"),
        (signed, -0.00004, "+0.0000"),
        (signed, (-0.25, 0.5), "[-0.2500, +0.5000]"),
        (signed, (math.nan, math.nan), "none"),
        (plus_minus, (0.5, 0.125), "0.5000 ± 0.1250"),
        (plus_minus, (-0.0, 0.0), "0.0000 ± 0.0000"),
        (plus_minus, (math.nan, math.nan), "none"),
        (p_text, 0.05, "0.0500"),
        (p_text, 5e-5, "0.0001"),
        (p_text, 4.9e-5, "0.0001"),
    ],
)
def test_values_are_spelled_in_one_way(spell, value, expected):
    assert spell(value) == expected


def test_names_are_left_and_numbers_right():
    table = Table(("model", "mean", "n"), [("a", 0.5, 1000), ("longer", -0.25, None)])
    assert table.as_text().splitlines() == [
        "model      mean     n",
        "a        0.5000  1000",
        "longer  -0.2500",
    ]


def test_names_are_cut_in_the_middle_if_a_table_is_too_wide():
    names = ["a name of sixty characters, which is cut as there is no room", "b"]
    table = Table(("model", "mean over queries", "n"), [(names[0], 0.5, 1), ("b", 0.125, 12)])
    assert table.as_text().splitlines() == [
        "model                     mean over queries   n",
        "a name of si...s no room             0.5000   1",
        "b                                    0.1250  12",
    ]


def test_names_stay_different():
    names = [f"a name that begins alike, then {word} and ends alike" for word in ("this", "that")]
    lines = Table(("", *"abcd"), [(name, *[0.125] * 4) for name in names]).as_text().splitlines()
    assert len(set(lines)) == 3


@pytest.mark.parametrize(
    ("end", "limits", "expected"),
    [
        (0.5, [0.0], "+0.5000"),
        (0.00003, [0.0], "+0.00003"),
        (-0.01004, [0.0, -0.01], "-0.01004"),
        (-0.00996, [0.0, -0.01], "-0.00996"),
        (-0.01, [-0.01], "-0.0100"),
        (1e-20, [0.0], "+1.0e-20"),
        (-math.inf, [0.0], "-inf"),
    ],
)
def test_ends_show_on_which_side_of_limits_they_are(end, limits, expected):
    assert exact_end(end, "+", limits) == expected


def test_names_of_thousands_of_characters_are_cut_and_cost_nothing():
    names = [f"{number:04}" * 1000 for number in range(300)]
    table = Table(("model", "mean over queries", *"abcdef"), [(name, *[0.5] * 7) for name in names])
    start = time.process_time()
    lines = table.as_text().splitlines()
    assert time.process_time() - start < 2
    assert max(map(len, lines)) <= 80
    assert all("..." in line for line in lines[1:301])
    assert list(table.for_frame()["model"]) == names


@pytest.mark.parametrize(
    "hidden", ["\x1b]0;title\x07", "\x9b2J", "\u202eabc", "\x00", "\udc80", "\u2028", "\n", "\t"]
)
def test_control_characters_are_shown_as_escapes(hidden):
    class Odd(Result):
        def _brief(self):
            return hidden

        def _sections(self):
            return [
                f"title {hidden}",
                Table((f"head {hidden}", "n"), [(f"cell {hidden}", 1)]),
                f"sentence {hidden}",
            ]

    escaped = repr(hidden)[1:-1]
    for text, n in ((str(Odd()), 4), (Odd()._repr_html_(), 4), (repr(Odd()), 1)):
        assert text.count(escaped) == n
        assert hidden not in text.replace("\n", "") or hidden == "\n"


def test_joiners_and_other_scripts_are_text():
    for text in (
        "\U0001f469\u200d\U0001f52c",
        "\u0645\u06cc\u200c\u062e\u0648",
        "東京\u3000都",
        "naïve\xa0name",
    ):
        assert visible(text) == text


@pytest.mark.slow
@pytest.mark.parametrize("n_numbers", range(1, 30))
@pytest.mark.parametrize("n_names", [0, 1, 2])
def test_text_has_at_most_80_columns_and_every_value(n_names, n_numbers):
    heads = [*["name", "metric"][:n_names], *(f"{HEADS[i % 6]} {i}" for i in range(n_numbers))]
    rows = [
        [*[name, "ndcg(gain=exp2)@10"][:n_names], *(i + 0.125 for i in range(n_numbers))]
        for name in NAMES
    ]
    text = Table(heads, rows).as_text()
    assert max(map(len, text.splitlines())) <= 80
    for i in range(
        min(n_names == 0, n_numbers - 1), n_numbers
    ):  # without names the first number may be repeated
        assert text.split().count(f"{i + 0.125:.4f}") == len(NAMES), "numbers stay whole"
    if n_names == 1:
        assert "HistGradientBoosting" in text or "HistGradient...Regressor" in text


def test_columns_that_do_not_fit_go_on_below():
    metrics = [f"metric_number_{i}" for i in range(8)]
    values = [0.5] * 8
    table = Table(["rank", *metrics], [(1, *values)])
    heads, row, more_heads, more = words_of_lines(table)
    assert heads == ["rank", *metrics[:4]]
    assert more_heads == ["rank", *metrics[4:]]
    assert row == more == ["1"] + ["0.5000"] * 4


def test_all_names_are_repeated_below():
    metrics = [f"metric_number_{i}" for i in range(8)]
    values = [0.5] * 8
    table = Table(["model", "metric", "rank", *metrics], [("a", "b", 1, *values)])
    heads = words_of_lines(table)[::2]
    assert heads == [
        ["model", "metric", "rank", *metrics[:3]],
        ["model", "metric", *metrics[3:6]],
        ["model", "metric", *metrics[6:]],
    ]


def words_of_lines(table):
    return [line.split() for line in table.as_text().splitlines()]


def test_frames_hold_the_values():
    columns = ("model", Column("difference", signed, "change"), Column(None, name="index"))
    table = Table(columns, [("a", 1.5, 7), ("b", None, 8)])
    assert table.for_frame() == {"model": ["a", "b"], "change": [1.5, None], "index": [7, 8]}
    assert table.as_text().splitlines() == ["model  difference", "a         +1.5000", "b"]


def test_html_escapes_everything():
    hostile = "</td><script>alert('x')</script>&\"<img src=x onerror=y>"
    html = Table((hostile, "n"), [(hostile, 1)]).as_html()
    assert "<script" not in html
    assert "<img" not in html
    assert html.count("&lt;script&gt;") == 2
