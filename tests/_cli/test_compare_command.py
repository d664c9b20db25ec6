"""Comparisons."""

import json

import pytest
from support.command_line import BOTH, as_command, code_of, output_of, report_of

from skrank_metrics import (
    compare,
)


def test_compare(many, capsys):
    words = ["compare", "many.csv", *BOTH, "mrr"]  # metrics may follow the options
    expected = compare({name: many[name] for name in "ab"}, baseline="a")
    assert output_of(capsys, *words) == f"{expected}\n"
    found = json.loads(output_of(capsys, *words, "--output", "json"))
    (row,) = found["rows"]
    pair = expected.pair()
    assert row["first"] == pair.first
    assert row["p_value"] == pair.p_value
    assert found["verdict"] == expected.verdict
    assert found["decision"] is None
    assert [one["ranking"] for one in found["rankings"]] == [*expected.names]


CHOICES = {
    "--confidence 0.9": {"confidence": 0.9},
    "--random-state 7": {"random_state": 7},
    "--baseline b": {"baseline": "b"},
    "--margin 0.5 --baseline a": {"margin": 0.5, "baseline": "a"},
    "--baseline a --baseline b": {"baseline": ["a", "b"]},
}


@pytest.mark.parametrize("words", CHOICES)
def test_options_of_compare(words, many, capsys):
    command = [
        "compare",
        "many.csv",
        "mrr",
        "--label",
        "y",
        "--score",
        "a",
        "b",
        "c",
        "--qid",
        "q",
        "--output",
        "json",
    ]
    code_of(*command, *words.split())
    rows = json.loads(capsys.readouterr().out)["rows"]
    expected = compare(many, **{"baseline": "a"} | CHOICES[words]).pairs()
    assert [(row["first"], row["second"]) for row in rows] == [
        (pair.first, pair.second) for pair in expected
    ]
    for row, pair in zip(rows, expected, strict=True):
        assert [row[name] for name in ("p_value", "p_adjusted")] == [
            pair.p_value,
            pair.p_adjusted,
        ]
        assert (row["low"], row["high"]) == pair.interval


def test_compare_within_slices(files, capsys):
    words = [
        "compare",
        "rows.csv",
        "mrr",
        *BOTH,
        "--by",
        "kind",
        "--weight",
        "w",
        "--groups",
        "user",
    ]
    options = {"by": files["kind"], "sample_weight": files["w"], "groups": files["user"]}
    reports = {name: report_of(files, name, **options) for name in ("a", "b")}
    expected, printed = as_command(compare, reports, baseline="a")
    assert output_of(capsys, *words) == printed
    rows = json.loads(output_of(capsys, *words, "--output", "json"))["rows"]
    parts = expected, *expected.slices.values()
    differences = [
        (name, part.pair().difference) for name, part in zip(("all", "0", "1"), parts, strict=True)
    ]
    assert [(row["slice"], row["difference"]) for row in rows] == differences
