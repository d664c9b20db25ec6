"""Curves of a metric against the cutoff rank."""

import inspect

import numpy as np
import pytest
from matplotlib import pyplot as plt
from numpydoc.docscrape import NumpyDocString
from support.ranks import rows_of_ranks

from skrank_metrics import displays, evaluate, leaderboard, ndcg_score, with_qid
from skrank_metrics.displays import MetricAtKDisplay

Y, SCORES, QID = rows_of_ranks([1, 2, 3])


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def names_beside(display):
    """Names beside the ends of the curves, from top to bottom."""
    texts = sorted(display.ax_.texts, key=lambda text: -text.xy[1])
    return [text.get_text().replace("\n", " ") for text in texts]


def test_means_and_intervals_at_each_cutoff():
    display = MetricAtKDisplay.from_predictions(Y, SCORES, qid=QID, metric="recall", k=3, name="model")
    (line,) = display.lines_
    np.testing.assert_allclose(line.get_xydata(), [[1, 1 / 3], [2, 2 / 3], [3, 1]])
    report = evaluate(Y, SCORES, qid=QID, metrics=["recall@1,2,3"])
    band = display.bands_[0].get_paths()[0].vertices
    for k, ends in zip((1, 2, 3), report.intervals().values(), strict=True):
        assert sorted(set(band[band[:, 0] == k, 1])) == pytest.approx(sorted(set(ends)))
    assert display.ax_.get_ylabel() == "recall@k, mean over queries with 95% interval"
    assert display.ax_.get_xticks().tolist() == [1, 2, 3]
    assert names_beside(display) == ["model"]


def test_cutoffs_in_any_order_and_parameters_in_the_metric():
    display = MetricAtKDisplay.from_predictions(Y, SCORES, qid=QID, metric="ndcg(gain=exp2)", k=[3, 1])
    expected = [(k, ndcg_score(Y, SCORES, qid=QID, gain="exp2", k=k)) for k in (1, 3)]
    np.testing.assert_array_equal(display.lines_[0].get_xydata(), expected)
    default = MetricAtKDisplay.from_predictions(Y, SCORES, qid=QID)
    assert default.lines_[0].get_xdata().tolist() == list(range(1, 21))


@pytest.mark.parametrize(("metric", "k"), [(None, [1, 3]), ("recall", [1, 2])])
def test_cutoffs_of_a_report(metric, k):
    metrics = ["map", "ndcg@3", "ndcg(ties=worst)@2", "ndcg@1", "ndcg", "recall@2", "recall@1"]
    report = evaluate(Y, SCORES, qid=QID, metrics=metrics)
    display = MetricAtKDisplay.from_result(report, metric=metric)
    expected = [(cutoff, report.mean[f"{metric or 'ndcg'}@{cutoff}"]) for cutoff in k]
    np.testing.assert_array_equal(display.lines_[0].get_xydata(), expected)


def test_a_convention_changes_parameters_but_not_names():
    report = evaluate(Y, SCORES, qid=QID, metrics=["ndcg@1", "ndcg@3"], convention="lightgbm")
    (line,) = MetricAtKDisplay.from_result(report).lines_
    assert line.get_ydata().tolist() == list(report.mean.values())


def board(n_models):
    ranks = [[1 + (query + model) % 5 * (model > 0) for query in range(12)] for model in range(n_models)]
    scores = {f"model {model}": rows_of_ranks(row)[1] for model, row in enumerate(ranks)}
    labels, _, qid = rows_of_ranks(ranks[0])
    return leaderboard(labels, scores, qid=qid, metrics=["recall@1,2,3,4"])


def test_few_models_have_colours_and_bands():
    display = MetricAtKDisplay.from_result(board(3))
    assert len(display.lines_) == len(display.bands_) == 3
    assert len({line.get_color() for line in display.lines_}) == 3
    assert set(names_beside(display)) == {"model 0", "model 1", "model 2"}


def test_of_many_models_the_best_is_highlighted():
    result = board(10)
    display = MetricAtKDisplay.from_result(result)
    assert (len(display.lines_), len(display.bands_)) == (10, 1)
    best, *others = (line.get_color() for line in display.lines_)
    assert len(set(others)) == 1
    assert best != others[0]
    assert len(names_beside(display)) == 10


def test_displays_go_into_one_picture():
    first = MetricAtKDisplay.from_predictions(Y, SCORES, qid=QID, name="one")
    second = MetricAtKDisplay.from_predictions(with_qid(Y, QID), -SCORES, name="other", ax=first.ax_)
    assert len(plt.get_fignums()) == 1
    assert first.lines_[0].get_color() != second.lines_[0].get_color()
    assert names_beside(second) == ["one", "other"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "kendall_tau"}, "metric must be one that takes a cutoff, such as ndcg; got kendall_tau"),
        ({"metric": "ndcg@10"}, "metric must be passed without a cutoff, as ndcg; got ndcg@10"),
        ({"k": 1}, "k must be an int >= 2"),
        ({"k": [0, 1]}, "k must be an int >= 1"),
        ({"k": [3]}, r"k must be an int >= 2 or hold at least two cutoffs; got \[3\]"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        MetricAtKDisplay.from_predictions(Y, SCORES, qid=QID, **options)
    assert plt.get_fignums() == []


def test_a_result_with_one_cutoff():
    with pytest.raises(ValueError, match=r"result must hold ndcg at two or more cutoffs, .* got ndcg@10, map, mrr"):
        MetricAtKDisplay.from_result(evaluate(Y, SCORES, qid=QID))


@pytest.mark.parametrize("name", displays.__all__)
def test_parameters_of_every_public_method_are_documented(name):
    cls = getattr(displays, name)
    for method in (cls.__init__, *(getattr(cls, name) for name in dir(cls) if name.startswith(("from_", "plot")))):
        documented = NumpyDocString(inspect.getdoc(cls if method is cls.__init__ else method))["Parameters"]
        listed = [one.strip(" *") for parameter in documented for one in parameter.name.split(",")]
        assert listed == [name for name in inspect.signature(method).parameters if name not in ("self", "cls")]
