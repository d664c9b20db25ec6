"""Each option of each way to a picture changes what is drawn, against values by hand."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer, r2_score
from sklearn.model_selection import GridSearchCV, KFold
from support.ranks import report_of_ranks, rows_of_ranks

import skrank_metrics
from skrank_metrics import (
    ComparisonDisplay,
    CVResultsDisplay,
    DifferenceDisplay,
    Leaderboard,
    LeaderboardDisplay,
    MetricAtKDisplay,
    QueryKFold,
    QueryRanker,
    QueryScoreDisplay,
    RaceDisplay,
    SplitDisplay,
    audit_splits,
    compare,
    explain_difference,
    get_ranking_scorer,
    ranking_scorers,
    with_qid,
)
from skrank_metrics.model_selection.search_report import Candidate, SearchReport

RANKS = {"new": [1, 2, 1, 3], "old": [2, 2, 4, 1]}
METRICS = ["mrr", "recall@1", "recall@2", "recall@3", "precision@1", "precision@2"]

Y, NEW, QID = rows_of_ranks(RANKS["new"])
OLD = rows_of_ranks(RANKS["old"])[1]
X = np.column_stack([NEW, OLD])
REPORTS = {name: report_of_ranks(ranks, metrics=METRICS) for name, ranks in RANKS.items()}


class First:
    """A model that ranks by a feature."""

    feature = 0

    def predict(self, X):
        return X[:, self.feature]


class Second(First):
    feature = 1


def fitted_search(folds, params=None, scoring="map", refit=True):
    """A search with these scores of candidates in folds, by name of the metric, and nothing fitted."""
    folds = {name: np.array(values, dtype=float) for name, values in folds.items()}
    search = GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1]}, scoring=scoring, refit=refit)
    n_candidates = len(next(iter(folds.values())))
    search.cv_results_ = {"params": params or [{"estimator__alpha": 10**i} for i in range(n_candidates)]}
    for name, values in folds.items():
        search.cv_results_ |= {f"split{fold}_test_{name}": column for fold, column in enumerate(values.T)}
        search.cv_results_ |= {f"mean_test_{name}": values.mean(axis=1), f"std_test_{name}": values.std(axis=1)}
    search.scorer_ = scoring
    return search


SEARCH = fitted_search(
    {"ndcg@10": [[0.3, 0.5], [0.7, 0.5], [0.8, 0.8]], "map": [[0.5, 0.7], [0.4, 0.4], [0.9, np.nan]]},
    scoring=ranking_scorers("ndcg@10", "map"),
    refit="ndcg@10",
)
RACE = fitted_search(
    {"ndcg@10": [[0.25, np.nan, np.nan], [0.75, 0.5, 1], [0.5, 1, np.nan]], "map": [[0.5] * 3] * 3},
    scoring=ranking_scorers("ndcg@10", "map"),
    refit="ndcg@10",
)
RACE.cv_results_ |= {"dropped_after": np.array([1, np.nan, 2]), "dropped_because": np.array(["behind", "", "failed"])}
RACE.best_index_, RACE.best_params_, RACE.n_splits_ = 1, {"estimator__alpha": 10}, 3
COMPARED = ComparisonDisplay([0.5, -0.25], 0.125, (-0.75, 0.875), metric="mrr")
COMPARISON = compare({**REPORTS, "same": REPORTS["old"]}, "mrr", confidence=0.9)
BOARD = Leaderboard.from_reports({"old": REPORTS["old"], "new": REPORTS["new"]})
# Every public way to a picture, by its name.
WAYS = {
    "ComparisonDisplay.plot": COMPARED.plot,
    "ComparisonDisplay.from_comparison": lambda **kw: ComparisonDisplay.from_comparison(COMPARISON, **kw),
    "ComparisonDisplay.from_predictions": lambda **kw: ComparisonDisplay.from_predictions(
        kw.pop("y", Y), NEW, OLD, **{"qid": QID, "metric": "mrr", **kw}
    ),
    "ComparisonDisplay.from_estimator": lambda **kw: ComparisonDisplay.from_estimator(
        First(), Second(), X, kw.pop("y", Y), **{"qid": QID, "metric": "mrr", **kw}
    ),
    "LeaderboardDisplay.plot": LeaderboardDisplay(
        ["a", "b", "c"], [-0.25, -0.5], [(-0.5, 0), (-0.75, -0.25)], [False, True], metric="mrr"
    ).plot,
    "LeaderboardDisplay.from_comparison": lambda **kw: LeaderboardDisplay.from_comparison(COMPARISON, **kw),
    "LeaderboardDisplay.from_leaderboard": lambda **kw: LeaderboardDisplay.from_leaderboard(BOARD, **kw),
    "MetricAtKDisplay.plot": MetricAtKDisplay([1, 2], [0.5, 1], [0.25, 0.75], [0.75, 1], metric="recall").plot,
    "MetricAtKDisplay.from_report": lambda **kw: MetricAtKDisplay.from_report(
        REPORTS["new"], **{"metric": "recall", **kw}
    ),
    "MetricAtKDisplay.from_predictions": lambda **kw: MetricAtKDisplay.from_predictions(
        kw.pop("y", Y), NEW, **{"qid": QID, "metric": "recall", "k": 3, **kw}
    ),
    "MetricAtKDisplay.from_estimator": lambda **kw: MetricAtKDisplay.from_estimator(
        First(), X, kw.pop("y", Y), **{"qid": QID, "metric": "recall", "k": 3, **kw}
    ),
    "QueryScoreDisplay.plot": QueryScoreDisplay([1, 0.5], 0.75, metric="mrr").plot,
    "QueryScoreDisplay.from_report": lambda **kw: QueryScoreDisplay.from_report(REPORTS["new"], **kw),
    "QueryScoreDisplay.from_predictions": lambda **kw: QueryScoreDisplay.from_predictions(
        kw.pop("y", Y), NEW, **{"qid": QID, "metric": "mrr", **kw}
    ),
    "QueryScoreDisplay.from_estimator": lambda **kw: QueryScoreDisplay.from_estimator(
        First(), X, kw.pop("y", Y), **{"qid": QID, "metric": "mrr", **kw}
    ),
    "CVResultsDisplay.plot": CVResultsDisplay([[0.75, 0.5], [0.5, 0.5]], ["a", "b"]).plot,
    "CVResultsDisplay.from_estimator": lambda **kw: CVResultsDisplay.from_estimator(SEARCH, **kw),
    "DifferenceDisplay.plot": DifferenceDisplay(
        0.5, [0.25, -0.5], ["gain: a -> b", "ties: c -> d"], metric="ndcg", conventions=("sklearn", "xgboost")
    ).plot,
    "DifferenceDisplay.from_difference": lambda **kw: DifferenceDisplay.from_difference(
        explain_difference(Y, NEW, qid=QID, conventions=("trec_eval", "xgboost")), **kw
    ),
    "DifferenceDisplay.from_predictions": lambda **kw: DifferenceDisplay.from_predictions(
        kw.pop("y", Y), NEW, **{"qid": QID, **kw}
    ),
    "SplitDisplay.plot": SplitDisplay([3, 1], [2, 1], [0.5, 0.25], [0, 2]).plot,
    "SplitDisplay.from_report": lambda **kw: SplitDisplay.from_report(audit_splits(QueryKFold(2), X, Y, qid=QID), **kw),
    "SplitDisplay.from_splitter": lambda **kw: SplitDisplay.from_splitter(
        kw.pop("cv", QueryKFold(2)), X, kw.pop("y", Y), **{"qid": QID, **kw}
    ),
    "RaceDisplay.plot": RaceDisplay([[0.75, 0.5], [0.25, np.nan]], 0).plot,
    "RaceDisplay.from_estimator": lambda **kw: RaceDisplay.from_estimator(RACE, **kw),
}
WITH_LINES = [way for way in WAYS if not way.startswith(("CVResults", "Leaderboard", "Race", "Difference", "Split"))]


def ways(display, method="from_"):
    return [way for way in WAYS if way.startswith(f"{display}.{method}")]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def legend(display):
    """Names in the legend, on one line each."""
    return [text.get_text().replace("\n", " ") for text in display.ax_.get_legend().get_texts()]


def axes():
    return Figure().subplots()


def test_the_ways_are_all():
    classes = [getattr(skrank_metrics, name) for name in skrank_metrics.__all__ if name.endswith("Display")]
    public = {f"{cls.__name__}.{name}" for cls in classes for name in vars(cls) if name[0] != "_"}
    assert set(WAYS) == public


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.option("*Display.*.ax")
def test_axes_are_those_given_or_new_ones(way):
    first, second = Figure().subplots(1, 2)
    display = WAYS[way](ax=second)
    assert (display.ax_, display.figure_) == (second, second.figure)
    assert second.get_xlabel()
    assert not first.get_xlabel()
    assert not first.lines
    assert plt.get_fignums() == []
    new = WAYS[way]()
    assert new.ax_ is not second
    assert [plt.figure(number) for number in plt.get_fignums()] == [new.figure_]


@pytest.mark.parametrize("way", WITH_LINES)
@pytest.mark.option("ComparisonDisplay.*.line_kw", "MetricAtKDisplay.*.line_kw", "QueryScoreDisplay.*.line_kw")
@pytest.mark.slow
def test_properties_of_the_line(way):
    display = WAYS[way](ax=axes(), line_kw={"color": "#123456", "linewidth": 3.5, "linestyle": ":"})
    line = display.line_
    assert (line.get_color(), line.get_linewidth(), line.get_linestyle()) == ("#123456", 3.5, ":")
    if hasattr(display, "band_"):
        (colour,) = np.reshape(display.band_.get_facecolor(), (-1, 4))
        assert tuple(colour[:3]) == to_rgb("#123456"), "the band has the colour of its line"
    plain = WAYS[way](ax=axes()).line_
    assert plain.get_color() != line.get_color()
    assert plain.get_linewidth() < 3.5


@pytest.mark.parametrize("way", ways("CVResultsDisplay", ""))
@pytest.mark.option("CVResultsDisplay.*.errorbar_kw")
def test_properties_of_the_means(way):
    display = WAYS[way](ax=axes(), errorbar_kw={"color": "#123456", "fmt": "D", "label": "means"})
    marks = display.means_.lines[0]
    assert (marks.get_color(), marks.get_marker()) == ("#123456", "D")
    assert legend(display)[-1] == "means"
    assert WAYS[way](ax=axes()).means_.lines[0].get_marker() == "o"


def test_twelve_curves_are_distinct_and_their_bands_hide_nothing():
    ax = axes()
    reports = [skrank_metrics.evaluate([[1, 0, 1]] * 2, [[3, 2, 1]] * 2, metrics=["recall@1,2,3"]) for _ in range(12)]
    drawn = [MetricAtKDisplay.from_report(report, metric="recall", ax=ax) for report in reports]
    looks = [(one.line_.get_color(), one.line_.get_marker(), one.line_.get_linestyle()) for one in drawn]
    for first, again in zip(looks[:6], looks[6:], strict=True):
        assert first[0] == again[0]
        assert first[1] != again[1]
        assert first[2] != again[2]
        assert {first[1], again[1]} not in ({"o", "X"}, {"o", "D"}, {"P", "X"}), "alike if they are small"
    assert sum(one.band_.get_alpha() for one in drawn) <= 0.45 + 1e-9
    alone = MetricAtKDisplay.from_report(reports[0], metric="recall", ax=axes())
    assert alone.band_.get_alpha() == 0.15


def test_names_that_begin_with_an_underscore_are_in_the_legend():
    report = skrank_metrics.evaluate([[1, 0, 1]] * 2, [[3, 2, 1]] * 2, metrics=["recall@1,2,3"])
    curve = MetricAtKDisplay.from_report(report, metric="recall", name="_model", ax=axes())
    assert [name.strip() for name in legend(curve)] == ["_model"]
    steps = QueryScoreDisplay.from_report(report, name="_model", ax=axes())
    assert legend(steps)[0].strip().startswith("_model (mean")


def drawn_values(display):
    """What a display shows of each query, largest first, or of each cutoff."""
    if isinstance(display, QueryScoreDisplay):
        return sorted(set(display.line_.get_xdata()[1:]))
    return list(display.differences if isinstance(display, ComparisonDisplay) else display.line_.get_ydata())


# The differences, the values, and the means at cutoffs.
BY_QUERY = {
    "ComparisonDisplay": [1 - 1 / 2, 1 / 2 - 1 / 2, 1 - 1 / 4, 1 / 3 - 1],
    "QueryScoreDisplay": [1 / 3, 1 / 2, 1],
    "MetricAtKDisplay": [2 / 4, 3 / 4, 4 / 4],
}
# As one query, a pair has its relevant documents at ranks 1 and 4 ("new") and 3 or 4 ("old"), or at 1 and 6 and at 1.
BY_PAIR = {
    "ComparisonDisplay": [1 - 1 / 3, 1 - 1],
    "QueryScoreDisplay": [1],
    # In each pair of queries, one of two relevant documents is at rank 1, and the other at rank 4 or 6.
    "MetricAtKDisplay": [1 / 2, 1 / 2, 1 / 2],
}


@pytest.mark.parametrize("way", [way for way in WITH_LINES if way.endswith(("_predictions", "_estimator"))])
@pytest.mark.option("ComparisonDisplay.*.qid", "MetricAtKDisplay.*.qid", "QueryScoreDisplay.*.qid")
def test_query_ids(way):
    cls = way.partition(".")[0]
    for options in ({"qid": QID}, {"qid": None, "y": with_qid(Y, QID)}):
        np.testing.assert_allclose(drawn_values(WAYS[way](ax=axes(), **options)), BY_QUERY[cls], atol=1e-15)
    np.testing.assert_allclose(drawn_values(WAYS[way](ax=axes(), qid=QID // 2)), BY_PAIR[cls], atol=1e-15)


@pytest.mark.parametrize("way", ["ComparisonDisplay.from_predictions", "ComparisonDisplay.from_estimator"])
@pytest.mark.option("ComparisonDisplay.*.metric")
def test_metric_of_a_comparison(way):
    display = WAYS[way](ax=axes(), metric="recall@1")
    assert display.differences.tolist() == [1 - 0, 0 - 0, 1 - 0, 0 - 1]
    assert display.metric == "recall@1"
    assert display.ax_.get_ylabel().startswith("recall@1: ")
    default = ComparisonDisplay.from_predictions(Y, NEW, OLD, qid=QID, ax=axes())
    discounts = [1 / np.log2(1 + np.array(ranks)) for ranks in RANKS.values()]
    np.testing.assert_allclose(default.differences, discounts[0] - discounts[1], atol=1e-15)
    assert default.metric == "ndcg@10"


@pytest.mark.parametrize("way", ways("MetricAtKDisplay"))
@pytest.mark.option("MetricAtKDisplay.*.metric")
def test_metric_at_cutoffs(way):
    display = WAYS[way](ax=axes(), metric="precision")
    # Two of four queries have their relevant document at rank 1, three up to rank 2.
    expected = [2 / 4, 3 / 4 / 2, 4 / 4 / 3][: 2 if way.endswith("report") else 3]
    np.testing.assert_allclose(drawn_values(display), expected)
    assert display.metric == "precision"
    assert display.ax_.get_ylabel() == "precision@k, mean over queries with 95% interval"


@pytest.mark.parametrize("way", ways("QueryScoreDisplay"))
@pytest.mark.option("QueryScoreDisplay.*.metric")
def test_metric_of_queries(way):
    display = WAYS[way](ax=axes(), metric="recall@2")
    assert display.values.tolist() == [1, 1, 1, 0]
    assert display.metric == "recall@2"
    assert display.ax_.get_xlabel() == "recall@2 per query"
    assert legend(display)[0].endswith("mean 0.7500)" if way.endswith("estimator") else "mean 0.7500")
    assert QueryScoreDisplay.from_report(REPORTS["old"], ax=axes()).metric == "mrr", "the first of the report"
    default = QueryScoreDisplay.from_predictions(Y, NEW, qid=QID, ax=axes())
    np.testing.assert_allclose(default.values, 1 / np.log2(1 + np.array(RANKS["new"])))


@pytest.mark.parametrize("way", ["MetricAtKDisplay.from_predictions", "MetricAtKDisplay.from_estimator"])
@pytest.mark.option("MetricAtKDisplay.*.k")
def test_cutoffs(way):
    assert WAYS[way](ax=axes(), k=4).line_.get_xdata().tolist() == [1, 2, 3, 4]
    assert WAYS[way](ax=axes(), k=2).line_.get_xdata().tolist() == [1, 2]
    display = WAYS[way](ax=axes(), k=[5, 2])
    assert display.line_.get_xdata().tolist() == display.k.tolist() == [2, 5]
    assert display.line_.get_ydata().tolist() == display.mean.tolist() == [3 / 4, 1]
    default = MetricAtKDisplay.from_predictions(Y, NEW, qid=QID, ax=axes())
    assert default.k.tolist() == list(range(1, 21))


@pytest.mark.parametrize("way", [way for way in WAYS if way[:2] in ("Me", "Qu")])
@pytest.mark.option("MetricAtKDisplay.*.name", "QueryScoreDisplay.*.name")
def test_name_of_a_model(way):
    display = WAYS[way](ax=axes(), name="mine")
    (label,) = legend(display)
    assert label.partition(" (mean")[0] == "mine"
    if not way.endswith("plot"):
        assert display.name == "mine"
    plain = WAYS[way](ax=axes())
    own = "First" if way.endswith("estimator") else None
    assert plain.name == own
    shown = legend(plain)[0].partition(" (mean")[0] if plain.ax_.get_legend() else None
    assert shown == (own or (None if way[0] == "M" else f"mean {plain.mean:.4f}"))


@pytest.mark.option("MetricAtKDisplay.name", "QueryScoreDisplay.name", "MetricAtKDisplay.plot.name")
def test_a_name_in_plot_goes_before_that_of_the_display():
    curve = MetricAtKDisplay([1, 2], [0.5, 1], [0.25, 0.75], [0.75, 1], metric="recall", name="own")
    values = QueryScoreDisplay([1, 0.5], 0.75, metric="mrr", name="own")
    assert legend(curve.plot(axes())) == ["own"]
    assert legend(values.plot(axes())) == ["own (mean 0.7500)"]
    assert legend(curve.plot(axes(), name="other")) == ["other"]
    assert legend(values.plot(axes(), name="other")) == ["other (mean 0.7500)"]


@pytest.mark.parametrize("way", ["ComparisonDisplay.from_predictions", "ComparisonDisplay.from_estimator"])
@pytest.mark.option("ComparisonDisplay.*.names")
def test_names_of_two_models(way):
    display = WAYS[way](ax=axes(), names=("a", "b"))
    assert display.names == ("a", "b")
    assert display.ax_.get_ylabel() == "mrr: a minus b"
    assert legend(display)[:2] == ["a better: 2 queries", "b better: 1 query"]
    plain = WAYS[way](ax=axes())
    assert plain.names == (("First", "Second") if way.endswith("estimator") else ("first", "second"))
    with pytest.raises(ValueError, match="names must be two different names; got 'ab'"):
        WAYS[way](ax=axes(), names="ab")


def span_of(band):
    """Lower and upper end of a horizontal band, a Rectangle or, in older versions, a Polygon."""
    heights = band.get_path().transformed(band.get_patch_transform()).vertices[:, 1]
    return heights.min(), heights.max()


@pytest.mark.option("ComparisonDisplay.from_comparison.first", "ComparisonDisplay.from_comparison.second")
def test_first_and_second_of_a_comparison():
    new_old, new_same, old_same = COMPARISON.pairs
    for names, pair, sign in [
        ((None, None), new_old, 1),
        (("new", "same"), new_same, 1),
        (("same", "new"), new_same, -1),
        (("same", "old"), old_same, -1),
    ]:
        display = ComparisonDisplay.from_comparison(COMPARISON, first=names[0], second=names[1], ax=axes())
        low, high = pair.interval if sign > 0 else (-pair.interval[1], -pair.interval[0])
        assert display.differences.tolist() == (sign * pair.differences).tolist()
        assert (display.mean, display.interval) == (sign * pair.difference, (low, high))
        np.testing.assert_array_equal(display.line_.get_ydata(), 2 * [sign * pair.difference])
        assert span_of(display.band_) == pytest.approx((low, high))
        assert legend(display)[-1] == f"mean {display.mean:+z.4f}, 90% interval [{low:+z.4f}, {high:+z.4f}]"
    with pytest.raises(ValueError, match="first and second must be two of new, old, same; got 'new' and None"):
        ComparisonDisplay.from_comparison(COMPARISON, first="new", ax=axes())


@pytest.mark.option("ComparisonDisplay.confidence", "ComparisonDisplay.metric", "ComparisonDisplay.names")
def test_attributes_of_a_comparison_are_shown():
    options = {"metric": "map", "names": ("a", "b"), "confidence": 0.8}
    display = ComparisonDisplay([0.25, 0.5, -0.5], 1 / 12, (-0.25, 0.625), **options).plot(axes())
    assert display.ax_.get_ylabel() == "map: a minus b"
    assert legend(display) == [
        "a better: 2 queries",
        "b better: 1 query",
        "mean +0.0833, 80% interval [-0.2500, +0.6250]",
    ]
    assert span_of(display.band_) == (-0.25, 0.625)
    assert span_of(COMPARED.plot(axes()).band_) == (-0.75, 0.875)
    assert legend(COMPARED)[-1] == "mean +0.1250, 95% interval [-0.7500, +0.8750]"
    assert COMPARED.ax_.get_ylabel() == "mrr: first minus second"
    above, below = (tuple(area.get_facecolor()[0]) for area in display.areas_)
    assert above != below


@pytest.mark.option("ComparisonDisplay.greater_is_better", "QueryScoreDisplay.greater_is_better")
def test_direction_of_a_metric():
    smaller = ComparisonDisplay([3, 1, -2], 2 / 3, (-1, 2), metric="distance", greater_is_better=False).plot(axes())
    assert legend(smaller)[:2] == ["first better: 1 query", "second better: 2 queries"]
    assert smaller.areas_[0].get_paths()[0].vertices[:, 1].min() == -2
    assert smaller.areas_[1].get_paths()[0].vertices[:, 1].max() == 3
    assert smaller.ax_.get_ylabel() == "distance: first minus second (lower is better)"
    values = QueryScoreDisplay([3, 1], 2, metric="distance", greater_is_better=False).plot(axes())
    assert values.ax_.get_xlabel() == "distance per query (lower is better)"
    for display in (ComparisonDisplay([3], 3, (-1, 4), metric="dcg"), QueryScoreDisplay([3, 1], 2, metric="dcg")):
        assert "lower" not in display.plot(axes()).ax_.get_ylabel() + display.ax_.get_xlabel()


@pytest.mark.option("QueryScoreDisplay.metric", "QueryScoreDisplay.weights")
def test_weights_of_queries():
    display = QueryScoreDisplay([1, 0.25, np.nan, 0.5], 0.7, metric="map", weights=[4, 3, 5, 1]).plot(axes())
    assert display.ax_.get_xlabel() == "map per query"
    # The query without a value has no part in the whole.
    x, share = display.line_.get_data()
    assert dict(zip(x[1:].tolist(), share[1:].tolist(), strict=True)) == {0.25: 3 / 8, 0.5: 4 / 8, 1: 8 / 8}
    x, share = QueryScoreDisplay([1, 0.25, np.nan, 0.5], 0.7, metric="map").plot(axes()).line_.get_data()
    np.testing.assert_allclose(share[1:], [1 / 3, 2 / 3, 1])


def test_weights_and_mean_of_a_report_are_drawn():
    report = report_of_ranks([1, 2, 0, 4], weights=[3, 1, 5, 1], replace_undefined_by=np.nan)
    display = QueryScoreDisplay.from_report(report, ax=axes())
    assert display.mean == (3 * 1 + 1 / 2 + 1 / 4) / 5
    assert legend(display) == ["mean 0.7500"]
    assert legend(QueryScoreDisplay.from_report(report, name="own", ax=axes())) == ["own (mean 0.7500)"]
    _, share = display.line_.get_data()
    np.testing.assert_allclose(share[1:], [1 / 5, 2 / 5, 1])
    assert display.weights.tolist() == [3, 1, 5, 1]


@pytest.mark.option("MetricAtKDisplay.metric")
def test_curve_and_band_are_those_of_the_attributes():
    k, mean, lower, upper = [1, 3, 9], [0.5, 0.7, 0.6], [0.25, 0.5, 0.125], [0.625, 1, 0.75]
    display = MetricAtKDisplay(k, mean, lower, upper, metric="err").plot(axes())
    np.testing.assert_array_equal(display.line_.get_xydata(), np.column_stack([k, mean]))
    vertices = display.band_.get_paths()[0].vertices
    for at, low, high in zip(k, lower, upper, strict=True):
        assert set(vertices[vertices[:, 0] == at, 1]) == {low, high}
    assert display.ax_.get_ylabel() == "err@k, mean over queries with 95% interval"


def test_means_and_ends_of_a_report():
    report, display = REPORTS["new"], MetricAtKDisplay.from_report(REPORTS["new"], metric="recall", ax=axes())
    names = ["recall@1", "recall@2", "recall@3"]
    assert display.mean.tolist() == [report.mean[name] for name in names]
    ends = list(zip(display.lower.tolist(), display.upper.tolist(), strict=True))
    assert ends == [report.intervals()[name] for name in names]


@pytest.mark.option("CVResultsDisplay.from_estimator.metric", "CVResultsDisplay.from_estimator.n_candidates")
def test_metric_and_number_of_candidates():
    both = CVResultsDisplay.from_estimator(SEARCH, n_candidates=2, ax=axes())
    assert both.scores.tolist() == [[0.8, 0.8], [0.7, 0.5]]
    assert both.candidates == ["alpha=100", "alpha=10"]
    assert both.ax_.get_xlabel() == "ndcg@10 (best 2 of 3 candidates)"
    other = CVResultsDisplay.from_estimator(SEARCH, metric="map", ax=axes())
    assert other.scores.tolist() == [[0.5, 0.7], [0.4, 0.4]], "the third failed in a fold"
    assert other.candidates == ["alpha=1", "alpha=10"]
    assert other.ax_.get_xlabel() == "map (best 2 of 3 candidates)"
    failing_first = fitted_search({"score": [[np.nan, 1], [0.5, 0.5], [0.6, 0.6]]}, scoring=get_ranking_scorer("map"))
    assert CVResultsDisplay.from_estimator(failing_first, ax=axes()).candidates == ["alpha=100", "alpha=10"]
    many = fitted_search({"score": np.linspace(0, 1, 24).reshape(12, 2)}, scoring=get_ranking_scorer("map"))
    assert len(CVResultsDisplay.from_estimator(many, ax=axes()).candidates) == 10, "the default"


def test_scores_of_other_packages_and_candidates_without_parameters():
    search = fitted_search({"score": [[0.5, 0.6], [0.1, 0.2]]}, [{}, {"estimator__alpha": 3}], make_scorer(r2_score))
    display = CVResultsDisplay.from_estimator(search, ax=axes())
    assert display.ax_.get_xlabel() == "r2_score"
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["defaults", "alpha=3"]


@pytest.mark.option("CVResultsDisplay.metric", "CVResultsDisplay.n_searched")
def test_attributes_of_candidates_are_shown():
    scores = [[0.75, 0.5], [0.5, 0.5]]
    display = CVResultsDisplay(scores, ["a", "b"], metric="map", n_searched=7).plot(axes())
    assert display.ax_.get_xlabel() == "map (best 2 of 7 candidates)"
    assert CVResultsDisplay(scores, ["a", "b"], n_searched=2).plot(axes()).ax_.get_xlabel() == "score"
    assert display.folds_.get_xydata().tolist() == [[0.75, 0], [0.5, 0], [0.5, 1], [0.5, 1]]
    means, _, bars = display.means_.lines
    assert means.get_xydata().tolist() == [[0.625, 0], [0.5, 1]]
    assert len(bars) == 0
    assert display.best_.get_xydata().tolist() == [[0.625, 0]]
    assert display.line_.get_xdata() == [0.625, 0.625]
    assert display.kept_ is None, "nothing was tested"
    assert display.ax_.get_yticks().tolist() == [0, 1]
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["a", "b"]
    assert display.ax_.get_ylim() == (1.5, -0.5), "the first is on top"


@pytest.mark.option("CVResultsDisplay.worse")
def test_another_test_can_decide_which_candidates_are_worse():
    scores = [[0.75, 0.5], [0.5, 0.5], [0.625, 0.5], [0.5, np.nan]]
    display = CVResultsDisplay(scores, list("abcd"), worse=[False, True, False, False]).plot(axes())
    assert display.kept_.get_xydata().tolist() == [[0.5625, 2]], "the last did not run all folds"
    assert legend(display) == ["score in each of 2 folds", "best", "1 other not significantly worse", "mean"]


@pytest.mark.option("CVResultsDisplay.from_estimator.report")
def test_a_report_of_the_search_decides_which_candidates_are_worse():
    def report(p_values, metric="ndcg@10", order=(2, 1, 0)):
        pairs = [None, *(replace(COMPARISON.pairs[0], difference=0.1, p_adjusted=p) for p in p_values)]
        found = [
            Candidate(rank, {}, {}, {}, row, pair)
            for rank, (row, pair) in enumerate(zip(order, pairs, strict=False), 1)
        ]
        return SearchReport(metric, found, None, 0.0)

    def draw(report, **options):
        return CVResultsDisplay.from_estimator(SEARCH, report=report, ax=axes(), **options)

    assert draw(report([0.01, 0.2])).kept_.get_ydata().tolist() == [2]
    assert draw(report([0.2, 0.01])).kept_.get_ydata().tolist() == [1]
    assert draw(None).kept_ is None
    with pytest.raises(ValueError, match="report must be the result of search_report for this search and metric"):
        draw(report([0.2, 0.01], "map"))
    with pytest.raises(ValueError, match="report must be the result of search_report for this search and metric"):
        draw(report([0.2, 0.01], order=(2, 0, 1)))
    untested = report([0.2, 0.01])
    untested.candidates[2] = replace(untested.candidates[2], pair=None)
    with pytest.raises(
        ValueError, match=r"n_candidates must be at most .* got 3, of which 1 were not tested. Pass n_candidates=2"
    ):
        draw(untested)
    assert draw(untested, n_candidates=2).kept_.get_ydata().tolist() == [1]


@pytest.mark.slow
def test_more_candidates_make_a_higher_figure():
    heights = [CVResultsDisplay([[0.5, 0.5]] * n, ["name"] * n).plot().figure_.get_size_inches()[1] for n in (1, 2, 8)]
    assert heights[2] - heights[0] == pytest.approx(7 * (heights[1] - heights[0]))
    assert heights[1] > heights[0]


@pytest.mark.parametrize("way", ways("RaceDisplay", ""))
@pytest.mark.option("RaceDisplay.*.line_kw")
def test_properties_of_the_lines_of_a_race(way):
    display = WAYS[way](ax=axes(), line_kw={"linewidth": 3.5})
    assert {line.get_linewidth() for line in display.lines_} == {3.5}
    assert len({line.get_linewidth() for line in WAYS[way](ax=axes()).lines_}) == 2, "the winner stands out"


@pytest.mark.slow
@pytest.mark.option("RaceDisplay.from_estimator.metric")
def test_lines_of_a_race_are_means_so_far_and_end_where_candidates_left():
    display = RaceDisplay.from_estimator(RACE, ax=axes())
    drawn = [(line.get_xdata().tolist(), line.get_ydata().tolist()) for line in display.lines_]
    assert drawn == [([1], [0.25]), ([1, 2, 3], [0.75, (0.75 + 0.5) / 2, 0.75]), ([1, 2], [0.5, 0.75])]
    np.testing.assert_array_equal(display.ends_.get_xydata(), [[1, 0.25], [2, 0.75]])
    assert legend(display) == ["2 candidates that left", "winner: alpha=10"]
    assert display.ax_.get_xlabel() == "folds (6 of 9 fits)"
    assert display.ax_.get_ylabel() == "ndcg@10, mean over folds so far"
    other = RaceDisplay.from_estimator(RACE, metric="map", ax=axes())
    assert other.lines_[1].get_ydata().tolist() == [0.5] * 3
    assert other.ax_.get_ylabel() == "map, mean over folds so far"
    with pytest.raises(TypeError, match="search must be a fitted RacingSearchCV; got GridSearchCV"):
        RaceDisplay.from_estimator(SEARCH, ax=axes())


@pytest.mark.option("RaceDisplay.metric", "RaceDisplay.name")
def test_names_in_the_picture_of_a_race():
    display = RaceDisplay([[0.75, 0.5], [0.5, 0.5]], 0, metric="map", name="stumps").plot(axes())
    assert legend(display) == ["stumps", "1 other candidate that ran all folds"]
    assert display.ax_.get_ylabel() == "map, mean over folds so far"
    assert legend(RaceDisplay([[0.75, 0.5]], 0).plot(axes())) == ["winner"]


def test_candidates_that_left_a_race_come_last_with_the_folds_that_they_ran():
    display = CVResultsDisplay.from_estimator(RACE, ax=axes())
    names = ["alpha=10", "alpha=100\nleft after fold 2", "alpha=1\nleft after fold 1"]
    assert display.candidates == names
    assert display.means_.lines[0].get_xdata().tolist() == [0.75, 0.75, 0.25]
    worse = CVResultsDisplay(display.scores, names, worse=[False] * 3).plot(axes())
    assert len(worse.kept_.get_xdata()) == 0, "means over other folds do not compare"
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == names


def values_beside(display):
    return [text.get_text() for text in display.texts_]


def row_names(display):
    return [label.get_text().replace("\n", " ") for label in display.ax_.get_yticklabels()]


@pytest.mark.option("DifferenceDisplay.metric", "DifferenceDisplay.conventions")
def test_steps_lead_from_one_value_to_the_other():
    causes = ["gain: a -> b", "ties: c -> d", "cutoff: e -> f"]
    options = {"metric": "ndcg", "conventions": ("sklearn", "xgboost")}
    display = DifferenceDisplay(0.5, [0.25, -0.5, 0.125], causes, **options).plot(axes())
    assert [(bar.get_x(), bar.get_width()) for bar in display.bars_] == [(0.5, 0.25), (0.75, -0.5), (0.25, 0.125)]
    up, down, again = (bar.get_facecolor() for bar in display.bars_)
    assert up == again != down
    assert up[2] > up[0], "blue for more"
    assert down[0] > down[2], "orange for less"
    assert display.ends_.get_xydata().tolist() == [[0.5, 0], [0.375, 4]]
    assert values_beside(display) == ["0.5000", "+0.2500", "-0.5000", "+0.1250", "0.3750"]
    assert row_names(display) == ["sklearn", *causes, "xgboost"]
    assert display.ax_.get_xlabel() == "ndcg"
    assert display.ax_.get_ylim() == (4.5, -0.5)
    tiny = DifferenceDisplay(0.5, [0.00002], causes[:1], **options).plot(axes())
    assert values_beside(tiny) == ["0.50000", "+0.00002", "0.50002"]
    none = DifferenceDisplay(0.5, [], [], **options).plot(axes())
    assert values_beside(none) == ["0.5000", "0.5000"]


@pytest.mark.slow
@pytest.mark.option(
    "DifferenceDisplay.from_predictions.metric",
    "DifferenceDisplay.from_predictions.conventions",
    "DifferenceDisplay.from_predictions.qid",
)
def test_a_difference_is_drawn_as_it_is_explained():
    conventions = ("trec_eval", "xgboost")
    for metric, qid in (("ndcg", QID), ("map", QID), ("ndcg", QID // 2)):
        expected = explain_difference(Y, NEW, qid=qid, metric=metric, conventions=conventions)
        options = {"metric": metric, "conventions": conventions, "ax": axes()}
        for display in (
            DifferenceDisplay.from_predictions(Y, NEW, qid=qid, **options),
            DifferenceDisplay.from_predictions(with_qid(Y, qid), NEW, **options),
            DifferenceDisplay.from_difference(expected, ax=axes()),
        ):
            assert display.effects.tolist() == [cause.effect for cause in expected.causes]
            assert (display.start, display.metric, display.conventions) == (expected.start, metric, conventions)
            assert display.causes == [f"{cause.cause}: {cause.change}" for cause in expected.causes]
            assert display.ends_.get_xdata()[1] == pytest.approx(expected.end, abs=1e-15)
    default = DifferenceDisplay.from_predictions(Y, NEW, qid=QID, ax=axes())
    assert (default.metric, default.conventions) == ("ndcg@10", ("sklearn", "lightgbm"))


@pytest.mark.option("SplitDisplay.splitter")
def test_folds_relative_to_their_mean_and_leaks():
    display = SplitDisplay([3, 1], [5, 1], [0.5, 0.25], [0, 2], splitter="KFold(2)").plot(axes())
    documents, queries, shares = (line.get_xdata().tolist() for line in display.lines_)
    assert documents == [3 / 2, 1 / 2]
    assert queries == [5 / 3, 1 / 3]
    assert shares == [0.5 / 0.375, 0.25 / 0.375]
    for line in display.lines_:
        np.testing.assert_allclose(line.get_ydata(), [0, 1], atol=0.3)
    assert legend(display) == ["documents", "queries", "share of relevant documents"]
    assert row_names(display) == ["fold 0: 5 queries, 3 documents", "fold 1: 1 query, 1 document LEAK: 2 cut"]
    sound, leaking = (label.get_color() for label in display.ax_.get_yticklabels())
    assert sound != leaking
    (band,) = display.leaks_
    assert span_of(band) == pytest.approx((0.6, 1.4))
    assert display.ax_.get_xlabel() == "relative to the mean over folds\nKFold(2)"
    three = SplitDisplay([1, 1, 4], [1, 1, 1], [0.5, 0.5, 0.5], [0, 0, 0]).plot(axes())
    assert three.lines_[0].get_xdata().tolist() == [1 / 2, 1 / 2, 2], "relative to the mean, not to the median"
    plain = SplitDisplay([2, 2], [1, 1], [0, 0], [0, 0]).plot(axes())
    assert plain.ax_.get_xlabel() == "relative to the mean over folds"
    assert plain.leaks_ == []
    assert np.isnan(plain.lines_[2].get_xdata()).all(), "no document is relevant"
    low, high = plain.ax_.get_xlim()
    assert low <= 0.9 < 1.1 <= high


def test_each_kind_of_leak_counts():
    # Query c is cut, group u leaks, and of group v a row is left out.
    splits, qid, groups = [([0, 1, 6, 7], [2, 3, 4])], list("aabbccdd"), list("uuuuvvww")
    report = audit_splits(splits, [[0]] * 8, [1, 0] * 4, qid=qid, groups=groups)
    kinds = {name: report.table[name].tolist() for name in ("leaking", "cut", "leaking_groups", "cut_groups")}
    assert kinds == {"leaking": [0], "cut": [1], "leaking_groups": [1], "cut_groups": [1]}
    assert SplitDisplay.from_report(report, ax=axes()).leaks.tolist() == [3]


@pytest.mark.option("SplitDisplay.from_splitter.qid", "SplitDisplay.from_splitter.groups")
@pytest.mark.slow
def test_folds_of_a_splitter_are_those_of_its_audit():
    for cv, qid, groups in ((KFold(3), QID, None), (KFold(3), QID, QID // 2), (KFold(3), QID // 2, None)):
        report = audit_splits(cv, X, Y, qid=qid, groups=groups)
        for display in (
            SplitDisplay.from_splitter(cv, X, Y, qid=qid, groups=groups, ax=axes()),
            SplitDisplay.from_splitter(cv, X, with_qid(Y, qid), groups=groups, ax=axes()),
            SplitDisplay.from_report(report, ax=axes()),
        ):
            assert display.documents.tolist() == report.table["documents"].tolist()
            assert display.queries.tolist() == report.table["queries"].tolist()
            assert display.share_relevant.tolist() == report.table["share_relevant"].tolist()
            assert display.leaks.sum() == report.leaks > 0
            assert display.splitter == report.splitter
    assert not SplitDisplay.from_splitter(QueryKFold(2), X, Y, qid=QID, ax=axes()).leaks.any()
