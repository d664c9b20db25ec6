"""Displays with one row per metric, candidate, cause, fold or way: what they draw, against values by hand."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer, r2_score
from sklearn.model_selection import GridSearchCV, KFold
from support.ranks import report_of_ranks, rows_of_ranks

from skrank_metrics import (
    QueryKFold,
    QueryRanker,
    audit_splits,
    evaluate,
    explain_difference,
    match_convention,
    ranking_scorers,
)
from skrank_metrics.displays import (
    ConventionMatchDisplay,
    CVResultsDisplay,
    DifferenceDisplay,
    QueryScoreDisplay,
    SplitDisplay,
)

Y, SCORES, QID = rows_of_ranks([1, 2, 1, 3])
X = SCORES[:, None]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def axes():
    return Figure().subplots()


def row_names(display):
    return [label.get_text().replace("\n", " ") for label in display.ax_.get_yticklabels()]


def written(texts):
    return [text.get_text().replace("\N{MINUS SIGN}", "-") for text in texts]


def drawn_interval(bars):
    (segment,) = bars.lines[2][0].get_segments()
    return segment[:, 0].tolist()


def test_each_metric_has_its_histogram_mean_and_interval():
    report = evaluate(Y, SCORES, qid=QID, metrics=["mrr", "recall@1"])
    display = QueryScoreDisplay.from_result(report, ax=axes())
    assert row_names(display) == ["mrr", "recall@1"]
    assert [row.tolist() for row in display.values] == [[1, 1 / 2, 1, 1 / 3], [1, 0, 1, 0]]
    assert written(display.texts_) == [f"{mean:.4f}" for mean in report.mean.values()]
    for bars, (name, mean) in zip(display.means_, report.mean.items(), strict=True):
        assert bars.lines[0].get_xdata().tolist() == [mean]
        assert drawn_interval(bars) == pytest.approx(report.intervals()[name])
    heights, edges, base = display.areas_[0].get_data()
    shares = {round(float(edges[place]), 2): float(base - heights[place]) for place in np.flatnonzero(heights < base)}
    assert shares == pytest.approx({0.32: 0.3, 0.48: 0.3, 0.96: 0.6}), "two queries at 1, one each at 1/2 and 1/3"
    assert row_names(QueryScoreDisplay.from_result(report, metric="recall@1")) == ["recall@1"]
    with pytest.raises(ValueError, match="metric must be one of .* got 'ndcg@5'"):
        QueryScoreDisplay.from_result(report, metric="ndcg@5")


def test_slices_stand_below_the_first_metric():
    by = np.repeat(["b", "a", "b", "a"], len(Y) // 4)
    display = evaluate(Y, SCORES, qid=QID, metrics=["mrr", "recall@1"], by=by).plot()
    assert row_names(display) == ["mrr", "a", "b", "recall@1"]
    assert display.values[1].tolist() == [1 / 2, 1 / 3]
    assert display.further == {1, 2}


def test_weights_and_undefined_queries_of_a_distribution():
    report = report_of_ranks([1, 2, 0, 4], weights=[3, 1, 5, 1], replace_undefined_by=np.nan)
    display = report.plot()
    assert written(display.texts_) == ["0.7500"], "(3 + 1/2 + 1/4) / 5"
    heights, _, base = display.areas_[0].get_data()
    assert sorted(base - heights[heights < base]) == pytest.approx([0.2, 0.2, 0.6]), "weights 1, 1 and 3"
    empty = evaluate([[0, 0]], [[2, 1]], metrics="mrr", replace_undefined_by=np.nan)
    with pytest.raises(ValueError, match="for at least one query; all are NaN"):
        empty.plot()


@pytest.mark.parametrize(("metrics", "ends"), [(["mrr", "cg"], (0, 1)), (["neg_kendall_tau_distance", "mrr"], (-2, 0))])
def test_metrics_of_another_range_are_left_out(metrics, ends):
    display = evaluate(Y, SCORES, qid=QID, metrics=metrics).plot()
    assert row_names(display) == metrics[: 2 if ends == (0, 1) else 1]
    assert tuple(display.areas_[0].get_data().edges[[0, -1]]) == ends
    signed = QueryScoreDisplay([[-0.5, 0.5]], [0], [(-1, 1)], ["tau"], label="value").plot()
    assert tuple(signed.areas_[0].get_data().edges[[0, -1]]) == (-1, 1)


def test_steps_lead_from_one_value_to_the_other():
    causes = ["gain: a -> b", "ties: c -> d", "cutoff: e -> f"]
    options = {"metric": "ndcg", "conventions": ("sklearn", "xgboost")}
    display = DifferenceDisplay(0.5, [0.25, -0.5, 0.125], causes, **options).plot(axes())
    assert [(bar.get_x(), bar.get_width()) for bar in display.bars_] == [(0.5, 0.25), (0.75, -0.5), (0.25, 0.125)]
    up, down, again = (bar.get_facecolor() for bar in display.bars_)
    assert up == again != down
    assert display.ends_.get_xydata().tolist() == [[0.5, 0], [0.375, 4]]
    assert written(display.texts_) == ["0.5000", "+0.2500", "-0.5000", "+0.1250", "0.3750"]
    assert row_names(display) == ["sklearn", *causes, "xgboost"]
    tiny = DifferenceDisplay(0.5, [0.00002], causes[:1], **options).plot(axes())
    assert written(tiny.texts_) == ["0.50000", "+0.00002", "0.50002"], "as many digits as show the sign"
    assert written(DifferenceDisplay(0.5, [], [], **options).plot(axes()).texts_) == ["0.5000", "0.5000"]


def test_a_difference_is_drawn_as_it_is_explained():
    expected = explain_difference(Y, SCORES, qid=QID // 2, metric="ndcg", conventions=("trec_eval", "xgboost"))
    display = expected.plot(ax=axes())
    assert display.effects.tolist() == [cause.effect for cause in expected.causes]
    assert display.ends_.get_xdata().tolist() == pytest.approx([expected.start, expected.end], abs=1e-15)
    assert display.ax_.get_xlabel() == "ndcg"


def test_folds_and_leaks():
    display = SplitDisplay([300, 1000], [5, 1], [0.5, 0.25], [0, 2], splitter="KFold(2)").plot(axes_in_grid())
    widths = [[bar.get_width() for bar in bars] for bars in display.bars_]
    assert widths == [[5, 1], [300, 1000], [0.5, 0.25]], "queries, documents, share"
    assert [panel.get_xlabel() for panel in display.axes_] == ["queries", "documents", "share of relevant documents"]
    assert [written(panel.texts) for panel in display.axes_] == [["5", "1"], ["300", "1,000"], ["50.0%", "25.0%"]]
    assert row_names(display) == ["fold 0", "fold 1: 2 leaks"]
    sound, leaking = (label.get_color() for label in display.ax_.get_yticklabels())
    assert sound != leaking
    assert display.ax_.get_title(loc="left") == "KFold(2)"


def axes_in_grid():
    return Figure().subplots(1, 2)[0]


def test_each_kind_of_leak_counts():
    # Query c is cut, group u leaks, and of group v a row is left out.
    splits, qid, groups = [([0, 1, 6, 7], [2, 3, 4])], list("aabbccdd"), list("uuuuvvww")
    report = audit_splits(splits, [[0]] * 8, [1, 0] * 4, qid=qid, groups=groups)
    assert SplitDisplay.from_result(report).leaks.tolist() == [3]
    assert not audit_splits(QueryKFold(2), X, Y, qid=QID).plot().leaks.any()
    cut = audit_splits(KFold(3), X, Y, qid=QID)
    display = cut.plot()
    assert display.queries.tolist() == cut.table["queries"].tolist()
    assert display.splitter == cut.splitter


def test_ways_stand_beside_the_target_value():
    found = match_convention(Y, SCORES, qid=QID // 2, value=0.5, metric="mrr", tolerance=0.001)
    display = found.plot(ax=axes())
    assert display.values.tolist() == [way.value for way in found.ways[:10]]
    assert display.matches.sum() == len(found.matches[:10])
    display = ConventionMatchDisplay([0.5, 0.75], ["a", "b"], [False, True], target=0.75, metric="ndcg").plot(axes())
    assert row_names(display) == ["target value", "a", "b"]
    assert [float(point.get_xdata()[0]) for point in display.points_] == [0.75, 0.5, 0.75]
    target, other, match = (point.get_color() for point in display.points_)
    assert len({target, other, match}) == 3


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
MAP = ranking_scorers("map")["map"]


def test_candidates_from_the_best_down():
    display = CVResultsDisplay.from_estimator(SEARCH, ax=axes())
    assert display.scores.tolist() == [[0.8, 0.8], [0.7, 0.5], [0.3, 0.5]]
    assert row_names(display) == ["alpha=100", "alpha=10", "alpha=1"]
    assert display.folds_.get_xydata().tolist() == [[0.8, 0], [0.8, 0], [0.7, 1], [0.5, 1], [0.3, 2], [0.5, 2]]
    assert [float(line.get_xdata()[0]) for line in display.means_] == pytest.approx([0.8, 0.6, 0.4])
    assert written(display.texts_) == ["0.8000", "0.6000", "0.4000"]
    assert display.ax_.get_xlabel() == "ndcg@10, mean and each of 2 folds"


def test_metric_and_number_of_candidates():
    few = CVResultsDisplay.from_estimator(SEARCH, n_candidates=2)
    assert few.ax_.get_xlabel() == "ndcg@10, mean and each of 2 folds, best 2 of 3 candidates"
    other = CVResultsDisplay.from_estimator(SEARCH, metric="map")
    assert other.candidates == ["alpha=1", "alpha=10"], "the third failed in a fold"
    later = fitted_search({"score": [[1, np.nan], [0.5, 0.5], [0.6, 0.6]]}, scoring=MAP)
    assert CVResultsDisplay.from_estimator(later).candidates == ["alpha=100", "alpha=10"]
    many = fitted_search({"score": np.linspace(0, 1, 24).reshape(12, 2)}, scoring=MAP)
    assert len(CVResultsDisplay.from_estimator(many).candidates) == 10, "the default"
    with pytest.raises(ValueError, match=r"metric must be one of \['ndcg@10', 'map'\]; got 'mrr'"):
        CVResultsDisplay.from_estimator(SEARCH, metric="mrr")
    with pytest.raises(NotFittedError, match="not fitted"):
        CVResultsDisplay.from_estimator(GridSearchCV(Ridge(), {}))


def test_scores_of_other_packages_and_candidates_without_parameters():
    search = fitted_search({"score": [[0.5, 0.6], [0.1, 0.2]]}, [{}, {"estimator__alpha": 3}], make_scorer(r2_score))
    display = CVResultsDisplay.from_estimator(search)
    assert display.ax_.get_xlabel().startswith("r2_score, ")
    assert row_names(display) == ["defaults", "alpha=3"]


def test_candidates_that_a_race_dropped_are_hollow():
    display = CVResultsDisplay([[0.75, 0.5], [0.5, np.nan]], ["a", "b\ndropped after fold 1"]).plot(axes())
    assert row_names(display) == ["a", "b dropped after fold 1"]
    whole, dropped = (line.get_markerfacecolor() for line in display.means_)
    assert dropped == "none" != whole
    assert written(display.texts_) == ["0.6250", "0.5000"]
