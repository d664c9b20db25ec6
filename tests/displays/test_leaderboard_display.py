"""The picture of a leaderboard shows the comparisons with the best."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from support.ranks import report_of_ranks, rows_of_ranks

from skrank_metrics import LeaderboardDisplay, compare, kendall_tau_distance, leaderboard

# Reciprocal ranks 1, two in three of 1, and 1/3.
RANKS = {"worst": [3] * 9, "best": [1] * 9, "middle": [1, 2, 1] * 3}
LABELS, _, IDS = rows_of_ranks([1] * 9)
SCORES = {name: rows_of_ranks(ranks)[1] for name, ranks in RANKS.items()}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def board():
    return leaderboard(LABELS, SCORES, qid=IDS, metrics=["mrr", kendall_tau_distance], confidence=0.9)


def axes():
    return Figure().subplots()


def legend(display):
    return [text.get_text().replace("\n", " ") for text in display.ax_.get_legend().get_texts()]


def drawn(bars):
    """Differences, places and intervals of some models."""
    marks, _, (lines,) = bars.lines
    ends = [segment[:, 0].tolist() for segment in lines.get_segments()]
    return marks.get_xdata().tolist(), marks.get_ydata().tolist(), ends


def test_models_stand_against_the_best(board):
    display = LeaderboardDisplay.from_leaderboard(board)
    assert display.models == ["best", "middle", "worst"]
    # Holm: 2 of 2^9 signs for the worst; 2 of 2^3 for the middle, which differs in three queries.
    pairs = [board.compare().pair(name, "best") for name in ("middle", "worst")]
    for bars, place, pair in zip(display.bars_, (1, 2), pairs, strict=True):
        means, places, ends = drawn(bars)
        assert (means, places) == ([pair.difference], [place])
        assert ends[0] == pytest.approx(pair.interval)
    assert display.differences == pytest.approx([-1 / 6, -2 / 3])
    assert display.best_.get_xydata().tolist() == [[0, 0]]
    assert set(display.line_.get_xdata()) == {0}
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == ["best", "middle  -0.1667", "worst  -0.6667"]
    assert display.ax_.get_ylim() == (2.5, -0.5)
    label = "mrr minus that of best, mean and paired 90% interval, not adjusted"
    assert display.ax_.get_xlabel().replace("\n", " ") == label
    assert legend(display) == ["best", "1 model not significantly different", "1 model significantly different"]


@pytest.mark.option("LeaderboardDisplay.from_leaderboard.metric")
def test_another_metric(board):
    display = LeaderboardDisplay.from_leaderboard(board, metric="kendall_tau_distance", ax=axes())
    assert display.metric == "kendall_tau_distance"
    assert display.differences == pytest.approx([1 / 3, 2]), "inversions"
    assert "(lower is better)" in display.ax_.get_xlabel().replace("\n", " ")
    with pytest.raises(ValueError, match="metric must be one of"):
        LeaderboardDisplay.from_leaderboard(board, "map")


def test_of_a_comparison():
    reports = {name: report_of_ranks(ranks) for name, ranks in RANKS.items()}
    display = LeaderboardDisplay.from_comparison(compare(reports, "mrr"), ax=axes())
    assert display.models == ["best", "middle", "worst"]
    assert display.different.tolist() == [False, True]
    # Both differ from the best in six queries, 2 of 2^6 signs; Holm multiplies the smallest of three by 3.
    near = {"best": [1] * 9, "a": [2] * 6 + [1] * 3, "b": [1] * 3 + [2] * 6}
    near = compare({name: report_of_ranks(ranks) for name, ranks in near.items()}, "mrr")
    assert near.pair("best", "a").p_value <= near.level
    assert not LeaderboardDisplay.from_comparison(near, ax=axes()).different.any()
    two = LeaderboardDisplay.from_comparison(compare({"a": reports["worst"], "b": reports["best"]}, "mrr"))
    assert legend(two) == ["best", "1 model significantly different"], "kinds that no model has are not named"


@pytest.mark.option("LeaderboardDisplay.*.errorbar_kw")
@pytest.mark.parametrize("way", ["plot", "from_leaderboard", "from_comparison"])
def test_properties_of_the_intervals(board, way):
    given = {"from_leaderboard": [board], "from_comparison": [board.compare()]}.get(way)
    draw = getattr(LeaderboardDisplay if given else LeaderboardDisplay.from_leaderboard(board), way)
    display = draw(*(given or []), ax=axes(), errorbar_kw={"color": "#123456", "fmt": "D"})
    for bars in display.bars_:
        assert (bars.lines[0].get_color(), bars.lines[0].get_marker()) == ("#123456", "D")
    assert [bars.lines[0].get_marker() for bars in draw(*(given or []), ax=axes()).bars_] == ["o", "s"]


@pytest.mark.option(
    "LeaderboardDisplay.metric", "LeaderboardDisplay.greater_is_better", "LeaderboardDisplay.confidence"
)
def test_what_the_label_says():
    data = ["a", "b"], [0.00002], [(np.nan, np.nan)], [False]
    display = LeaderboardDisplay(*data, metric="dcg", greater_is_better=False, confidence=0.99).plot(axes())
    label = "dcg minus that of a, mean and paired 99% interval, not adjusted (lower is better)"
    assert display.ax_.get_xlabel().replace("\n", " ") == label
    assert display.ax_.get_yticklabels()[1].get_text() == "b  +0.00002", "as many digits as show the sign"
    assert "lower" not in LeaderboardDisplay(*data, metric="dcg").plot(axes()).ax_.get_xlabel()


@pytest.mark.parametrize("n_models", [2, 12, 36])
def test_names_stay_inside_and_apart(n_models):
    names = [f"a rather long name of a model, version {number}, depth={number}" for number in range(n_models)]
    differences = -np.arange(1, n_models) / 100
    ends = np.column_stack([differences - 0.05, differences + 0.05])
    display = LeaderboardDisplay(names, differences, ends, differences < -0.05, metric="ndcg@10").plot()
    display.figure_.draw_without_rendering()
    boxes = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
    assert min(box.x0 for box in boxes) >= 0
    assert all(upper.y0 >= lower.y1 for upper, lower in pairwise(boxes))
