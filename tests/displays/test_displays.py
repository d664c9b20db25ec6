"""The data of what displays draw, not its pixels."""

import inspect
import sys

import numpy as np
import pytest
from lightgbm import LGBMRanker
from matplotlib import pyplot as plt
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skrank_metrics
from skrank_metrics import (
    ComparisonDisplay,
    CVResultsDisplay,
    MetricAtKDisplay,
    QueryKFold,
    QueryRanker,
    QueryScoreDisplay,
    compare,
    evaluate,
    kendall_tau_distance,
    make_ranking_scorer,
    ndcg_score,
    ranking_scorers,
    search_report,
    with_qid,
)
from skrank_metrics.datasets import make_ranking

# The relevant document is at rank 1, 2 and 3 of three queries.
Y, SCORES, QID = [1, 0, 0, 0, 1, 0, 0, 0, 1], [3, 2, 1] * 3, ["a"] * 3 + ["b"] * 3 + ["c"] * 3


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def split():
    """Half of 80 queries to fit on, half to draw."""
    X, y, qid = make_ranking(80, 6, mean_length=15, random_state=0)
    train = qid < 40
    return X[train], with_qid(y[train], qid[train]), X[~train], y[~train], qid[~train]


@pytest.fixture(scope="module")
def models(split):
    X, y, *_ = split
    ranker = QueryRanker(LGBMRanker(n_estimators=10, n_jobs=1, verbose=-1)).fit(X, y)
    return {"LGBMRanker": ranker, "Ridge": make_pipeline(StandardScaler(), QueryRanker(Ridge())).fit(X, y)}


def legend(display):
    """Names in the legend, on one line each."""
    return [text.get_text().replace("\n", " ") for text in display.ax_.get_legend().get_texts()]


def test_metric_at_k_draws_means_and_intervals():
    display = MetricAtKDisplay.from_predictions(Y, SCORES, qid=QID, metric="recall", k=3, name="model")
    assert isinstance(display, MetricAtKDisplay)
    np.testing.assert_array_equal(display.line_.get_xdata(), [1, 2, 3])
    np.testing.assert_allclose(display.line_.get_ydata(), [1 / 3, 2 / 3, 1])
    # Three values and half a one at 0 and at 1 have three degrees of freedom: 3.1824 standard errors.
    t, band = 3.182446305284263, display.band_.get_paths()[0].vertices
    # 1, 0, 0: mean 3/8, squares 3/2 - 4 (3/8)^2 = 15/16; both ends are cut.
    assert 3 / 8 + t * np.sqrt(15 / 16 / 3 / 4) > 1
    assert sorted(set(band[band[:, 0] == 1, 1])) == [0, 1]
    # 1, 1, 1: mean 7/8, squares 7/2 - 4 (7/8)^2 = 7/16.
    np.testing.assert_allclose(sorted(set(band[band[:, 0] == 3, 1])), [7 / 8 - t * np.sqrt(7 / 16 / 3 / 4), 1])
    assert display.ax_.get_xlabel() == "cutoff rank k"
    assert display.ax_.get_ylabel() == "recall@k, mean over queries with 95% interval"
    assert legend(display) == ["model"]
    assert display.figure_ is display.ax_.figure
    assert all(tick == int(tick) for tick in display.ax_.get_xticks())


def test_metric_at_k_takes_cutoffs_in_any_order_and_parameters_in_the_metric():
    display = MetricAtKDisplay.from_predictions(Y, SCORES, qid=QID, metric="ndcg(gain=exp2)", k=[3, 1])
    np.testing.assert_array_equal(display.k, [1, 3])
    assert display.metric == "ndcg(gain=exp2)"
    assert display.ax_.get_legend() is None
    expected = [ndcg_score(Y, SCORES, qid=QID, gain="exp2", k=k) for k in (1, 3)]
    np.testing.assert_array_equal(display.line_.get_ydata(), expected)


def test_metric_at_k_finds_the_cutoffs_of_a_report():
    metrics = ["ndcg@3", "map", "ndcg(ties=worst)@2", "ndcg@1", "ndcg", "recall@2"]
    report = evaluate(Y, SCORES, qid=QID, metrics=metrics)
    display = MetricAtKDisplay.from_report(report)
    np.testing.assert_array_equal(display.line_.get_xdata(), [1, 3])
    np.testing.assert_array_equal(display.line_.get_ydata(), [report.mean["ndcg@1"], report.mean["ndcg@3"]])


def test_metric_at_k_of_a_report_with_a_convention():
    report = evaluate(Y, SCORES, qid=QID, metrics=["ndcg@1", "ndcg@3"], convention="lightgbm")
    display = MetricAtKDisplay.from_report(report)
    np.testing.assert_array_equal(display.line_.get_ydata(), list(report.mean.values()))


@pytest.mark.parametrize("cls", [MetricAtKDisplay, QueryScoreDisplay])
def test_several_models_go_into_one_picture(cls, models, split):
    *_, X, y, qid = split
    displays, ax = [], None
    for model in models.values():
        displays.append(cls.from_estimator(model, X, y, qid=qid, ax=ax))
        ax = displays[0].ax_
    assert len(plt.get_fignums()) == 1
    assert len({display.line_.get_color() for display in displays}) == 2
    assert len({(display.line_.get_marker(), display.line_.get_linestyle()) for display in displays}) == 2
    assert [text.partition(" (mean")[0] for text in legend(displays[1])] == list(models)


@pytest.mark.parametrize("cls", [MetricAtKDisplay, QueryScoreDisplay])
def test_an_estimator_is_ranked_by_its_predictions(cls, models, split):
    *_, X, y, qid = split
    for model in models.values():
        own = cls.from_estimator(model, X, with_qid(y, qid))
        same = cls.from_predictions(y, model.predict(X), qid=qid)
        np.testing.assert_array_equal(own.line_.get_xydata(), same.line_.get_xydata())


def test_an_estimator_that_was_fitted_on_the_queries_is_warned_of(models, split):
    X, y, *_ = split
    with pytest.warns(UserWarning, match="scored queries were also in the training set"):
        QueryScoreDisplay.from_estimator(models["LGBMRanker"], X[:100], y[:100])


def test_query_scores_are_a_cumulative_distribution():
    display = QueryScoreDisplay.from_predictions(Y, SCORES, qid=QID, metric="mrr", name="model")
    x, share = display.line_.get_data()
    for value, reached in ((1 / 3, 1 / 3), (1 / 2, 2 / 3), (1, 1)):
        assert share[np.isclose(x, value)].max() == pytest.approx(reached)
    assert legend(display) == [f"model (mean {(1 + 1 / 2 + 1 / 3) / 3:.4f})"]
    assert display.ax_.get_xlabel() == "mrr per query"
    assert display.ax_.get_ylabel() == "share of queries with at most this value"


def test_query_scores_heed_weights_and_leave_undefined_queries_out():
    report = evaluate(
        [[1, 0], [0, 1], [0, 0]], [[2, 1]] * 3, metrics="mrr", sample_weight=[3, 1, 5], replace_undefined_by=np.nan
    )
    x, share = QueryScoreDisplay.from_report(report).line_.get_data()
    assert share[np.isclose(x, 1 / 2)].max() == 1 / (1 + 3)
    empty = evaluate([[0, 0]], [[2, 1]], metrics="mrr", replace_undefined_by=np.nan)
    with pytest.raises(ValueError, match="for at least one query; mrr is NaN for all"):
        QueryScoreDisplay.from_report(empty)


def test_lower_is_better_is_said():
    one = QueryScoreDisplay.from_predictions(Y, SCORES, qid=QID, metric=kendall_tau_distance)
    assert one.ax_.get_xlabel() == "kendall_tau_distance per query (lower is better)"
    two = ComparisonDisplay.from_predictions(Y, SCORES, [1, 2, 3] * 3, qid=QID, metric=kendall_tau_distance)
    # The first has 0, 1 and 2 inversions, the second 2, 1 and 0.
    np.testing.assert_array_equal(two.differences, [0 - 2, 1 - 1, 2 - 0])
    assert two.ax_.get_ylabel().replace("\n", " ") == "kendall_tau_distance: first minus second (lower is better)"
    assert [area.get_label() for area in two.areas_] == ["first better: 1 query", "second better: 1 query"]
    assert two.areas_[0].get_paths()[0].vertices[:, 1].min() == -2


def test_comparison_draws_sorted_differences_and_their_mean():
    display = ComparisonDisplay.from_predictions(Y, SCORES, [2, 3, 1] * 3, qid=QID, metric="mrr", names=("new", "old"))
    np.testing.assert_allclose(display.differences, [1 - 1 / 2, 1 / 2 - 1, 1 / 3 - 1 / 3])
    new, old = (area.get_paths()[0].vertices for area in display.areas_)
    assert sorted(new[new[:, 1] > 0, 0]) == [0, 1]
    assert sorted(old[old[:, 1] < 0, 0]) == [2, 3]
    assert (new[:, 1].max(), old[:, 1].min()) == (1 / 2, -1 / 2)
    np.testing.assert_allclose(display.line_.get_ydata(), 0, atol=1e-15)
    # 1/2, -1/2, 0 and half a difference of sqrt(1/2) on either side: squares 1/2 + 1/2; 3.1824 standard errors.
    half = 3.182446305284263 * np.sqrt(1 / 3 / 4)
    np.testing.assert_allclose(display.interval, [-half, half])
    assert display.ax_.get_xlim() == (0, 3)
    assert display.ax_.get_ylabel() == "mrr: new minus old"
    assert legend(display) == [
        "new better: 1 query",
        "old better: 1 query",
        "equal: 1 query",
        f"mean {display.mean:+z.4f}, 95% interval [{-half:+z.4f}, {half:+z.4f}]",
    ]


def test_comparison_names_the_confidence_in_full():
    display = ComparisonDisplay([0.5, -0.5], 0.0, (-0.9, 0.9), metric="mrr", confidence=0.999).plot()
    assert legend(display)[-1] == "mean +0.0000, 99.9% interval [-0.9000, +0.9000]"


def test_comparison_of_long_names_stays_inside_the_figure():
    names = ("a rather long name of a model, version 2.13", "another long name of another model")
    display = ComparisonDisplay.from_predictions(Y, SCORES, [2, 3, 1] * 3, qid=QID, names=names)
    display.figure_.draw_without_rendering()
    figure = display.figure_.bbox
    for artist in (display.ax_.yaxis.label, display.ax_.get_legend()):
        box = artist.get_window_extent()
        assert figure.x0 <= box.x0 <= box.x1 <= figure.x1
        assert figure.y0 <= box.y0 <= box.y1 <= figure.y1
    assert display.ax_.get_legend().get_window_extent().x0 >= display.ax_.bbox.x1


def test_comparison_takes_any_pair_in_either_direction(rows):
    y, scores, qid = rows
    reports = {name: evaluate(y, s, qid=qid) for name, s in {"a": scores, "b": -scores, "c": 0 * scores}.items()}
    comparison = compare(reports, "map")
    there = ComparisonDisplay.from_comparison(comparison, "a", "c")
    back = ComparisonDisplay.from_comparison(comparison, "c", "a")
    np.testing.assert_array_equal(there.differences, reports["a"].per_query["map"] - reports["c"].per_query["map"])
    np.testing.assert_array_equal(there.differences, -back.differences)
    assert there.mean == -back.mean == pytest.approx(reports["a"].mean["map"] - reports["c"].mean["map"])
    assert there.interval == (-back.interval[1], -back.interval[0])
    assert ComparisonDisplay.from_comparison(comparison).names == ("a", "b")
    with pytest.raises(ValueError, match="first and second must be two of a, b, c; got 'a' and 'd'"):
        ComparisonDisplay.from_comparison(comparison, "a", "d")


def test_comparison_of_estimators(models, split):
    *_, X, y, qid = split
    display = ComparisonDisplay.from_estimator(*models.values(), X, y, qid=qid)
    assert display.names == ("LGBMRanker", "Ridge")
    values = [ndcg_score(y, model.predict(X), qid=qid, k=10) for model in models.values()]
    assert display.mean == pytest.approx(values[0] - values[1], abs=1e-12)
    same = ComparisonDisplay.from_estimator(models["Ridge"], models["Ridge"], X, y, qid=qid)
    assert same.names == ("first", "second")
    assert not same.differences.any()


@pytest.fixture(scope="module")
def search(split):
    X, y, *_ = split
    grid = {"estimator__max_leaf_nodes": [2, 8, 31]}
    model = QueryRanker(HistGradientBoostingRegressor(max_iter=5))
    scorers = ranking_scorers("ndcg@10", "map")
    return GridSearchCV(model, grid, scoring=scorers, refit="map", cv=QueryKFold(4)).fit(X, y)


@pytest.mark.slow
def test_cv_results_shows_candidates_from_the_best_down(search):
    display = CVResultsDisplay.from_estimator(search)
    found = search.cv_results_
    order = np.argsort(found["rank_test_map"], kind="stable")
    means = display.means_.lines[0]
    np.testing.assert_allclose(means.get_xdata(), found["mean_test_map"][order])
    folds = np.column_stack([found[f"split{fold}_test_map"] for fold in range(4)])[order]
    np.testing.assert_array_equal(display.folds_.get_xdata(), folds.ravel())
    np.testing.assert_array_equal(display.folds_.get_ydata(), np.repeat([0, 1, 2], 4))
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == [f"max_leaf_nodes={found['param_estimator__max_leaf_nodes'][i]}" for i in order]
    assert display.ax_.get_ylim() == (2.5, -0.5)
    assert display.ax_.get_xlabel() == "map"
    assert legend(display) == ["score in each of 4 folds", "best", "mean"]


def test_a_search_without_a_report_gets_no_verdict(search):
    display = CVResultsDisplay.from_estimator(search)
    assert display.kept_ is None
    means, _, bars = display.means_.lines
    assert len(bars) == 0
    assert means.get_color() == "#808080"
    assert not any("significant" in name for name in legend(display))


@pytest.mark.slow
def test_a_search_with_a_report_gets_its_verdicts(split, search):
    X, y, *_ = split
    report = search_report(search, X, y, metric="map")
    display = CVResultsDisplay.from_estimator(search, report=report)
    kept = [place for place, one in enumerate(report.candidates) if place and one.verdict != "worse"]
    assert display.kept_.get_ydata().tolist() == kept


def test_cv_results_of_another_metric_and_the_best_only(search):
    display = CVResultsDisplay.from_estimator(search, metric="ndcg@10", n_candidates=1)
    assert display.scores.shape == (1, 4)
    assert display.scores.mean() == pytest.approx(search.cv_results_["mean_test_ndcg@10"].max())
    assert display.ax_.get_xlabel() == "ndcg@10 (best 1 of 3 candidates)"


def test_cv_results_of_a_single_metric_leaves_failures_out_and_wraps_long_names(split):
    X, y, *_ = split
    grid = {"ridge__alpha": [-1.0, 1.0], "ridge__solver": ["cholesky"], "ridge__fit_intercept": [True]}
    model = QueryRanker(make_pipeline(Ridge()))
    grid = {f"estimator__{name}": values for name, values in grid.items()}
    search = GridSearchCV(model, grid, scoring=make_ranking_scorer("ndcg@5"), cv=QueryKFold(3))
    with pytest.warns(match="fits failed"), pytest.warns(match="non-finite"):
        search.fit(X, y)
    display = CVResultsDisplay.from_estimator(search)
    assert display.candidates == ["alpha=1.0, fit_intercept=True, solver=cholesky"]
    assert display.ax_.get_xlabel() == "ndcg@5 (best 1 of 2 candidates)"
    assert max(map(len, display.ax_.get_yticklabels()[0].get_text().split("\n"))) <= 44


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: CVResultsDisplay.from_estimator(GridSearchCV(Ridge(), {})), NotFittedError, "not fitted"),
        (
            lambda: MetricAtKDisplay.from_predictions(Y, SCORES, qid=QID, metric="kendall_tau"),
            ValueError,
            "metric must be one that takes a cutoff, such as ndcg; got kendall_tau",
        ),
        (
            lambda: MetricAtKDisplay.from_predictions(Y, SCORES, qid=QID, metric="ndcg@10"),
            ValueError,
            "metric must be passed without a cutoff, as ndcg; got ndcg@10",
        ),
        (lambda: MetricAtKDisplay.from_predictions(Y, SCORES, qid=QID, k=1), ValueError, "k must be an int >= 2"),
        (lambda: MetricAtKDisplay.from_predictions(Y, SCORES, qid=QID, k=[0, 1]), ValueError, "k must be an int >= 1"),
        (
            lambda: MetricAtKDisplay.from_predictions(Y, SCORES, qid=QID, k=[3]),
            ValueError,
            r"k must be an int >= 2 or hold at least two cutoffs; got \[3\]",
        ),
        (lambda: MetricAtKDisplay.from_predictions(Y, SCORES), TypeError, "needs the query id of each document"),
        (lambda: QueryScoreDisplay.from_predictions(Y, SCORES[:3], qid=QID), ValueError, "must have the same shape"),
        (
            lambda: MetricAtKDisplay.from_report(evaluate(Y, SCORES, qid=QID)),
            ValueError,
            "report must hold ndcg at two or more cutoffs, such as ndcg@1 and ndcg@10; got ndcg@10, map, mrr",
        ),
        (
            lambda: QueryScoreDisplay.from_report(evaluate(Y, SCORES, qid=QID), metric="ndcg@5"),
            ValueError,
            "metric must be one of .* got 'ndcg@5'",
        ),
        (
            lambda: ComparisonDisplay.from_predictions(Y, SCORES, SCORES, qid=QID, names=("a", "a")),
            ValueError,
            "names must be two different names",
        ),
        (
            lambda: ComparisonDisplay.from_predictions(Y, SCORES, SCORES, qid=QID, names=("a", "b", "a")),
            ValueError,
            "names must be two different names",
        ),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()
    assert plt.get_fignums() == []


def test_a_metric_that_the_search_lacks(search):
    with pytest.raises(ValueError, match=r"metric must be one of \['ndcg@10', 'map'\]; got 'mrr'"):
        CVResultsDisplay.from_estimator(search, metric="mrr")


def test_plot_again_elsewhere_and_with_other_styles():
    display = MetricAtKDisplay.from_predictions(Y, SCORES, qid=QID, metric="recall", k=3)
    _, ax = plt.subplots()
    assert display.plot(ax, name="again", line_kw={"color": "red"}) is display
    assert display.ax_ is ax
    assert display.line_.get_color() == "red"
    assert legend(display) == ["again"]


def test_drawing_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    display = MetricAtKDisplay([1, 2], [0, 1], [0, 1], [0, 1], metric="recall")
    with pytest.raises(ImportError, match=r"MetricAtKDisplay.plot needs matplotlib \(pip install matplotlib\)"):
        display.plot()


DISPLAYS = [getattr(skrank_metrics, name) for name in skrank_metrics.__all__ if name.endswith("Display")]


@pytest.mark.parametrize("cls", DISPLAYS)
def test_methods_document_every_parameter_with_its_default(cls):
    for name in (name for name in vars(cls) if name == "plot" or name.startswith("from_")):
        method = getattr(cls, name)
        errors = validate(f"skrank_metrics.{cls.__name__}.{name}")["errors"]
        # PR06 knows other names of types; RT02 asks for results without names.
        assert [error for error in errors if error[0][:2] in ("PR", "RT") and error[0] not in ("PR06", "RT02")] == []
        doc = NumpyDocString(inspect.getdoc(method))
        types = {parameter.name: parameter.type for parameter in doc["Parameters"]}
        for parameter in inspect.signature(method).parameters.values():
            if parameter.name != "self" and parameter.default is not inspect.Parameter.empty:
                assert types[parameter.name].endswith(f"default={parameter.default!r}".replace("'", '"'))
        assert [returned.type for returned in doc["Returns"]] == [cls.__name__]
        assert "ImportError" in [error.type for error in doc["Raises"]]
