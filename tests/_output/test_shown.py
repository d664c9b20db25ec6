"""Text, HTML and frames of every result show its attributes, number by number."""

import numpy as np
import pytest
from support.shown import alignments_of, assert_shown, check_frame

from skrank_metrics import evaluate
from skrank_metrics.conventions import explain_difference


def number(value):
    return f"{value:.4f}"


def ends(interval, sign=""):
    low, high = interval
    return "none" if np.isnan(low) else f"[{low:{sign}.4f}, {high:{sign}.4f}]"


@pytest.fixture(scope="module")
def report():
    one = [1, 0, 0, 0, 0, 0]
    none = [0, 0, 0, 0, 0, 0]
    two = [1, 2, 0, 0, 0, 0]
    labels = np.concatenate([one, one, one, none, two, two])
    first = [6, 5, 4, 3, 2, 1]
    third = [4, 6, 5, 3, 3, 1]
    fifth = [2, 6, 5, 4, 3, 1]
    scores = np.concatenate([first, third, fifth] * 2)
    ids = np.repeat(list("uvwxyz"), 6)
    by = np.repeat(["de", "fr", "fr", "de", "de", "fr"], 6)
    weights = np.repeat([5, 2, 3, 1, 4, 2], 6)
    metrics = ["mrr", "recall(average=micro)@2", "dcg(replace_undefined_by=nan)"]
    return evaluate(labels, scores, qid=ids, metrics=metrics, sample_weight=weights, by=by)


def test_report(report):
    intervals = report.intervals()
    means = [["metric", "mean", "95% interval", "undefined queries"]]
    means += [
        [
            name,
            number(mean),
            ends(intervals[name]),
            str(report.n_undefined[name]),
        ]
        for name, mean in report.mean.items()
    ]
    slices = [["slice", "metric", "queries", "mean", "95% interval"]]
    slices += [
        [value, name, "3", number(part.mean[name]), ends(part.intervals()[name])]
        for value, part in report.slices.items()
        for name in part.mean
    ]
    for row in means[1:] + slices[1:]:
        assert len(set(row)) == len(row), "no number can be in the place of another"
    title = "6 queries, 36 documents"
    weighted = "Weighted by sample_weight."
    more = "More: pass two rankings to compare them; intervals of single ones cannot do that"
    assert_shown(report, [means, slices], [title, weighted, *report.health.findings, more])
    assert report.health.findings
    by = ["de", "fr", "fr", "de", "de", "fr"]
    values = {name: values.tolist() for name, values in report.per_query.items()}
    check_frame(
        report.to_frame(),
        {"qid": list("uvwxyz"), "by": by, "weight": report.weights.tolist(), **values},
    )
    assert report.to_frame().index.name == "qid"


def test_difference():
    labels = [1, 2, 0, 2, 1, 0]
    scores = [2, 1, 0, 1, 1, 0]
    qid = ["a", "a", "b", "c", "c", "c"]
    difference = explain_difference(
        labels, scores, qid=qid, metric="ndcg@2", conventions=("lightgbm", "trec_eval")
    )
    first, second = [f"{cause.effect:+.4f}" for cause in difference.causes]
    changes = {"gain": "exp2 -> linear", "queries without a value": "1.0 -> 0.0"}
    assert {c.cause: c.change for c in difference.causes} == changes
    rows = [
        ["gain: exp2 -> linear", first],
        ["queries with no relevant document count as 0, not 1", second],
    ]
    gap = ["gap", f"{difference.end - difference.start:+.4f}"]
    title = f"ndcg@2: {difference.start:.4f} by lightgbm, {difference.end:.4f} by trec_eval"
    lines = [title, "To get trec_eval's value, pass convention='trec_eval'."]
    assert_shown(difference, [[["", "effect"], *rows, gap]], lines)
    names = ("cause", "change", "effect")
    check_frame(
        difference.to_frame(),
        {name: [getattr(cause, name) for cause in difference.causes] for name in names},
    )


def test_names_are_left_and_numbers_right_in_html(report):
    means, slices = alignments_of(report._repr_html_())
    assert means == [["left", *["right"] * 3]] * 4
    assert slices == [["left", "left", *["right"] * 3]] * 7
