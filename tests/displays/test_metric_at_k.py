"""Curves of a metric against the cutoff rank."""

import inspect

import numpy as np
import pytest
from matplotlib import pyplot as plt
from numpydoc.docscrape import NumpyDocString
from support.ranks import rows_of_ranks

from skrank_metrics import displays, evaluate
from skrank_metrics.displays import MetricAtKDisplay, style

Y, SCORES, QID = rows_of_ranks([1, 2, 3])


def names_beside(display):
    """Names beside the ends of the curves, from top to bottom, with their colours."""
    legend = display.ax_.get_legend()
    texts = legend.get_texts() if legend else []
    return {text.get_text().replace("\n", " "): text.get_color() for text in texts}


def test_means_and_intervals_at_each_cutoff():
    report = evaluate(Y, SCORES, qid=QID, metrics=["recall@1,2,3"])
    display = MetricAtKDisplay.from_result(report)
    (line,) = display.ax_.lines
    assert line.get_xdata().tolist() == [1, 2, 3]
    np.testing.assert_allclose(line.get_ydata(), [1 / 3, 2 / 3, 1])
    (band,) = display.ax_.collections
    (path,) = band.get_paths()
    cutoffs, values = path.vertices.T
    for k, ends in enumerate(report.intervals().values(), start=1):
        at_k = values[cutoffs == k]
        found = (at_k.min(), at_k.max())
        assert found == pytest.approx(ends)
    assert display.ax_.get_ylabel() == "recall@k,\nmean over queries with 95% interval"
    metrics = [f"recall@{k}" for k in range(1, 31)]
    report = evaluate(Y, SCORES, qid=QID, metrics=metrics)
    many = MetricAtKDisplay.from_result(report)
    ticks = many.ax_.get_xticks()
    assert (ticks == ticks.round()).all(), "ranks"
    assert names_beside(display) == {}


@pytest.mark.parametrize(
    ("metric", "k"),
    [
        (None, [1, 3]),
        ("recall@2", [1, 2]),
        ("map(normalizer=hits)@1", [1, 3]),
    ],
)
def test_cutoffs_of_a_report(metric, k):
    metrics = ["map", "ndcg@3", "ndcg(ties=worst)@2", "ndcg@1", "ndcg", "recall@2", "recall@1"]
    report = evaluate(Y, SCORES, qid=QID, metrics=[*metrics, "map(normalizer=hits)@3,1"])
    display = MetricAtKDisplay.from_result(report, metric=metric)
    name = (metric or "ndcg@1").split("@")[0]
    expected = [(cutoff, report.mean[f"{name}@{cutoff}"]) for cutoff in k]
    np.testing.assert_array_equal(display.ax_.lines[0].get_xydata(), expected)


def test_a_convention_changes_parameters_but_not_names():
    report = evaluate(Y, SCORES, qid=QID, metrics=["ndcg@1", "ndcg@3"], convention="lightgbm")
    for metric in (None, report.metrics["ndcg@1"]):
        display = MetricAtKDisplay.from_result(report, metric=metric)
        (line,) = display.ax_.lines
        assert line.get_ydata().tolist() == list(report.mean.values())


def board(n_models):
    labels, best, qid = rows_of_ranks([1] * 12)
    scores = {"model 0": best}
    for model in range(1, n_models):
        ranks = [1 + (query + model) % 5 for query in range(12)]
        _, scores[f"model {model}"], _ = rows_of_ranks(ranks)
    return evaluate(labels, scores, qid=qid, metrics=["recall@1,2,3,4"])


@pytest.mark.parametrize(
    ("n_models", "n_bands", "n_colours"),
    [
        (3, 3, 3),
        (4, 1, 2),
        (10, 1, 2),
    ],
)
def test_few_models_have_colours_and_bands_and_of_many_the_best(n_models, n_bands, n_colours):
    display = MetricAtKDisplay.from_result(board(n_models))
    assert len(display.ax_.collections) == n_bands
    best, *others = [line.get_color() for line in display.ax_.lines]
    assert len(others) == n_models - 1
    assert len(set(others)) == n_colours - 1
    assert best not in others
    colours = names_beside(display)
    assert next(iter(colours)) == "model 0"
    assert set(colours) == {f"model {number}" for number in range(n_models)}
    assert colours["model 0"] == best == style.LIGHT.best
    assert style.LIGHT.alarm not in colours.values()


def test_the_best_at_the_largest_cutoff_is_blue():
    # At k=1, "early" finds two of three and "late" one; at k=2, "late" finds all.
    labels, early, qid = rows_of_ranks([1, 1, 3])
    _, late, _ = rows_of_ranks([1, 2, 2])
    scores = {"early": early, "late": late}
    for metric in ("recall@1,2", "fall_out@1,2"):
        found = evaluate(labels, scores, qid=qid, metrics=metric)
        display = MetricAtKDisplay.from_result(found)
        assert names_beside(display)["late"] == style.LIGHT.best


@pytest.mark.parametrize("metric", [None, "kendall_tau", "ndcg@10"])
def test_a_result_with_one_cutoff(metric):
    report = evaluate(Y, SCORES, qid=QID, metrics=["ndcg@10", "map", "mrr", "kendall_tau"])
    message = r"at two or more cutoffs, such as .*@1,5,10; got ndcg@10, map, mrr, kendall_tau\."
    with pytest.raises(ValueError, match=message):
        MetricAtKDisplay.from_result(report, metric=metric)
    assert plt.get_fignums() == []


@pytest.mark.parametrize("name", displays.__all__)
def test_parameters_of_every_public_method_are_documented(name):
    cls = getattr(displays, name)
    methods = [name for name in dir(cls) if name.startswith(("from_", "plot"))]
    # The parameters of __init__ are documented by the class.
    for method in (cls, *[getattr(cls, name) for name in methods]):
        documented = NumpyDocString(inspect.getdoc(method))["Parameters"]
        listed = [one.strip(" *") for parameter in documented for one in parameter.name.split(",")]
        assert listed == [
            name for name in inspect.signature(method).parameters if name not in ("self", "cls")
        ]
