"""The picture of a comparison shows its means and its standings, and that of a pair its queries."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from support.pictures import (
    explained,
    highlighted,
    intervals,
    mark_colours,
    marks,
    row_names,
    written,
)
from support.ranks import report_of_ranks, rows_of_ranks

from skrank_metrics import compare, evaluate, kendall_tau_distance
from skrank_metrics.displays import ComparisonDisplay, QueryPairDisplay, comparison, style
from skrank_metrics.reports import RankingReport

# Reciprocal ranks 1, two in three of 1, and 1/3.
RANKS = {
    "worst": [3] * 9,
    "best": [1] * 9,
    "middle": [1, 2, 1] * 3,
}
LABELS, _, IDS = rows_of_ranks([1] * 9)
SCORES = {name: rows_of_ranks(ranks)[1] for name, ranks in RANKS.items()}


@pytest.fixture(scope="module")
def board():
    metrics = ["mrr", "recall@1", kendall_tau_distance, "precision@2"]
    return compare(evaluate(LABELS, SCORES, qid=IDS, metrics=metrics), confidence=0.9)


def test_means_and_differences_are_those_of_the_standings(board):
    display = ComparisonDisplay.from_result(board)
    names = ["best", "middle", "worst"]
    assert row_names(display.ax_) == names
    assert len(display.axes_) == 4, "three of four metrics"
    for metric, panel in zip(board.metrics, display.axes_[:3], strict=False):
        means = board.by_metric(metric).means()
        assert marks(panel) == [means[name] for name in names]
        ends = [board.reports[name].intervals(0.9)[metric] for name in names]
        np.testing.assert_allclose(intervals(panel), ends)
    assert display.ax_.get_xlabel() == "mrr\nmean, 90% interval"


def test_differences_are_those_of_the_standings(board):
    display = ComparisonDisplay.from_result(board)
    panel = display.axes_[3]
    standings = board.standings()
    differences = [row.difference for row in standings]
    assert marks(panel) == [0.0, *differences[1:]]
    assert differences[1:] == pytest.approx([-1 / 6, -2 / 3])
    expected = [row.interval for row in standings]
    np.testing.assert_allclose(intervals(panel), expected)
    texts = [f"{row.difference:+.4f} {row.status}" for row in standings[1:]]
    assert written(panel) == [standings[0].status, *texts]
    label = "mrr minus that of best\n90% intervals, better \N{RIGHTWARDS ARROW}"
    assert panel.get_xlabel() == label
    assert "lower is better" in display.axes_[2].get_xlabel()
    title = display.figure_.get_suptitle()
    assert title.replace("\n", " ") == board.verdict


def test_a_model_has_one_colour_in_all_panels(board):
    display = board.plot()
    look = style.theme()
    n_worse = dict.fromkeys(board.names, 0)
    for metric in board.metrics[:3]:
        for row in board.by_metric(metric).standings():
            n_worse[row.name] += row.status == "worse"
    colours = {0: look.best, 3: look.soft}
    expected = [colours.get(n, look.ink) for n in n_worse.values()]
    assert len(set(expected)) > 1
    for panel in display.axes_:
        assert mark_colours(panel) == expected


# By mrr, "first" is better, with 1 on two of three queries; by recall@2, "second" is, which never misses.
DISAGREE = {
    "first": [1, 1, 3] * 10,
    "second": [2] * 30,
    "third": [9] * 30,
}


def test_metrics_that_disagree():
    labels, _, ids = rows_of_ranks([1] * 30)
    metrics = ["mrr", "recall@2"]
    scores = {name: rows_of_ranks(ranks)[1] for name, ranks in DISAGREE.items()}
    found = evaluate(labels, scores, qid=ids, metrics=metrics)
    assert found.by_metric("recall@2").best_set == ("second",)
    assert found.best_set == ("first",)
    display = found.plot()
    for panel in display.axes_:
        colours = mark_colours(panel)
        assert colours == [style.theme().ink, style.theme().ink, style.LIGHT.soft]
    mrr, recall, differences = display.axes_
    assert highlighted(mrr) == [0]
    assert highlighted(recall) == [1]
    assert highlighted(differences) == [0], "by mrr"
    for panel, best in ((mrr, 0), (recall, 1)):
        bold = [text.get_weight() == "bold" for text in panel.texts]
        assert bold == [row == best for row in range(3)]


def test_metrics_that_cannot_be_tested_do_not_change_the_colours():
    metrics = ["mrr", "mrr(average=median)"]
    alone = evaluate(LABELS, SCORES, qid=IDS, metrics="mrr").plot()
    expected = mark_colours(alone.ax_)
    assert len(set(expected)) == 2
    display = evaluate(LABELS, SCORES, qid=IDS, metrics=metrics).plot()
    for panel in display.axes_:
        assert mark_colours(panel) == expected
    median = evaluate(LABELS, SCORES, qid=IDS, metrics=metrics[1]).plot()
    assert set(mark_colours(median.ax_)) == {style.theme().ink}


def test_one_model_against_another():
    reports = {
        "new": report_of_ranks([1, 2, 1, 3, 1]),
        "old": report_of_ranks([2, 2, 4, 1, 1]),
    }
    found = compare(reports, "mrr")
    display = QueryPairDisplay.from_result(found)
    _, wins, losses, ties = display.ax_.lines
    assert wins.get_xydata().tolist() == [[1 / 2, 1], [1 / 4, 1]]
    assert losses.get_xydata().tolist() == [[1, 1 / 3]]
    assert ties.get_xydata().tolist() == [[1 / 2, 1 / 2], [1, 1]]
    look = style.LIGHT
    assert wins.get_color() == look.best
    assert losses.get_color() == look.second
    assert ties.get_color() == look.soft
    assert explained(display.ax_) == {
        "2 queries: new is better": look.best,
        "1 query: old is better": look.second,
        "2 queries: equal": look.soft,
    }
    assert display.ax_.get_ylabel() == "mrr of new"
    assert display.ax_.get_xlabel() == "mrr of old"
    assert display.ax_.get_aspect() == 1


def test_pairs_metrics_and_directions_of_points(board):
    distance = "kendall_tau_distance"
    display = QueryPairDisplay.from_result(
        board, first="worst", second="best", metric=kendall_tau_distance
    )
    _, wins, losses, ties = display.ax_.lines
    assert losses.get_xydata().tolist() == [[0, 2]] * 9
    assert not len(wins.get_xydata())
    assert not len(ties.get_xydata())
    assert [*explained(display.ax_)] == [
        "0 queries: worst is better",
        "9 queries: best is better",
        "0 queries: equal",
    ]
    assert display.ax_.get_ylabel() == f"{distance} of worst\n(lower is better)"
    with pytest.raises(ValueError, match="metric must be one of"):
        QueryPairDisplay(board, metric="map")
    with pytest.raises(ValueError, match="first and second must be two of"):
        QueryPairDisplay(board, first="worst", second="wurst")


@pytest.mark.parametrize("baseline", [None, "middle", "worst"])
def test_names_marks_and_bands_show_the_status(baseline):
    found = compare(evaluate(LABELS, SCORES, qid=IDS, metrics="mrr"), baseline=baseline)
    ax = found.plot().ax_
    look = style.LIGHT
    colours = mark_colours(ax)
    good = []
    for place, row in enumerate(found.standings()):
        is_worse = row.status == "worse"
        assert (colours[place] == look.soft) == is_worse
        is_good = row.status not in ("worse", "undecided", "baseline")
        assert (colours[place] == look.best) == is_good
        if is_good:
            good.append(place)
    assert highlighted(ax) == good


def test_a_model_that_is_worse_than_another_one_but_not_than_the_leader_says_so():
    # "leader" wins by much on a few queries, so only "steady" is significantly better than "worst".
    values = {
        "leader": [1.0] * 12 + [0.0] * 28,
        "steady": [0.29] * 40,
        "worst": [0.24] * 40,
    }
    reports = {
        name: RankingReport.from_frame({"qid": range(40), "mrr": column})
        for name, column in values.items()
    }
    found = compare(reports)
    status = {row.name: (row.status, row.worse_than) for row in found.standings()}
    assert status["worst"] == ("worse", "steady")
    assert "-0.0600 worse than steady" in written(found.plot().axes_[1])
    assert "worse than steady" in str(found)


def test_another_metric_and_fewer_models(board, monkeypatch):
    monkeypatch.setattr(comparison, "MOST_MODELS", 2)
    display = board.plot(metric="recall@1")
    assert len(display.axes_) == 2
    assert row_names(display.ax_) == ["best", "middle"]
    title = display.figure_.get_suptitle()
    assert title.replace("\n", " ") == board.by_metric("recall@1").verdict
    median = evaluate(LABELS, SCORES, qid=IDS, metrics=["mrr(average=median)"]).plot()
    assert len(median.axes_) == 1, "means only, without tests"
    with pytest.raises(ValueError, match="metric must be one of"):
        board.plot(metric="map")


def test_a_baseline_and_a_margin():
    reports = {name: report_of_ranks(ranks) for name, ranks in RANKS.items()}
    comparison = compare(reports, "mrr", baseline="middle", margin=0.05)
    display = comparison.plot()
    expected = []
    for row in comparison.standings():
        difference = "" if row.status == "baseline" else f"{row.difference:+.4f} "
        expected.append(difference + row.status)
    assert written(display.axes_[1]) == [*expected, "margin 0.05"]
    assert "mrr minus that of middle" in display.axes_[1].get_xlabel()
    several = compare(comparison, baseline=["middle", "worst"]).plot()
    panel = several.axes_[1]
    assert written(panel)[0].endswith(" against middle")
    assert "minus that of middle or worst" in panel.get_xlabel()
    board = evaluate(LABELS, SCORES, qid=IDS, metrics=[kendall_tau_distance])
    distances = compare(board, baseline="middle", margin=0.05).plot()
    for shown, place in ((display, -0.05), (distances, 0.05)):
        lines = shown.axes_[1].lines
        (margin,) = [line for line in lines if line.get_linestyle() == "--"]
        assert set(margin.get_xdata()) == {place}


def test_one_axes_is_divided():
    first, second = Figure().subplots(1, 2)
    display = evaluate(LABELS, SCORES, qid=IDS, metrics=["mrr"]).plot(ax=second)
    assert len(display.axes_) == 2
    assert not second.axison
    assert display.figure_ is first.figure
    assert display.figure_.get_suptitle() == ""


def test_infinite_or_missing_intervals_leave_the_mark():
    few = {}
    for name, ranks in RANKS.items():
        few[name] = report_of_ranks(ranks[:3], metrics=["dcg"])
    display = compare(few, "dcg").plot()
    assert np.isfinite(marks(display.axes_[-1])).all()
    display.figure_.draw_without_rendering()
