"""Displays with one row per metric, candidate, cause, fold or way: what they draw, against values by hand."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer, r2_score
from sklearn.model_selection import GridSearchCV, KFold
from support.pictures import edges, intervals, marks, row_names, widths, written
from support.policies import with_policies
from support.ranks import report_of_ranks, rows_of_ranks

from skrank_metrics import (
    QueryKFold,
    QueryRanker,
    compare,
    evaluate,
    kendall_tau_distance,
    ranking_scorers,
)
from skrank_metrics.conventions import explain_difference
from skrank_metrics.conventions._explain_difference import Cause, Difference
from skrank_metrics.displays import CVResultsDisplay, QueryScoreDisplay
from skrank_metrics.reports import RankingReport
from skrank_metrics.splitters import audit_splits
from skrank_metrics.splitters.audit import SplitReport

Y, SCORES, QID = rows_of_ranks([1, 2, 1, 3])
X = SCORES[:, None]


def test_each_metric_has_its_histogram_mean_and_interval():
    report = evaluate(Y, SCORES, qid=QID, metrics=["mrr", "recall@1"])
    display = QueryScoreDisplay.from_result(report)
    assert row_names(display.ax_) == ["mrr", "recall@1"]
    means = list(report.mean.values())
    assert marks(display.ax_) == means
    assert written(display.ax_) == [f"{mean:.4f}" for mean in means]
    expected = list(report.intervals().values())
    np.testing.assert_allclose(intervals(display.ax_), expected)
    heights, ends, base = display.ax_.patches[0].get_data()
    bars = np.flatnonzero(heights < base)
    # Two queries are at 1, one is at 1/2 and one at 1/3.
    np.testing.assert_allclose(ends[bars], [0.32, 0.48, 0.96])
    sizes = base - heights[bars]
    np.testing.assert_allclose(sizes, [0.3, 0.3, 0.6])
    one = QueryScoreDisplay.from_result(report, metric="recall@1")
    assert row_names(one.ax_) == ["recall@1"]
    with pytest.raises(ValueError, match=r"metric must be one of .* got 'ndcg@5'"):
        QueryScoreDisplay.from_result(report, metric="ndcg@5")


def test_slices_stand_below_the_first_metric():
    by = np.repeat(["b", "a", "b", "a"], len(Y) // 4)
    display = evaluate(Y, SCORES, qid=QID, metrics=["mrr", "recall@1"], by=by).plot()
    assert row_names(display.ax_) == ["mrr", "└ a", "└ b", "recall@1"]
    assert written(display.ax_) == ["0.7083", "0.4167", "1.0000", "0.5000"], (
        "of slice a (1/2 + 1/3) / 2"
    )


def test_weights_and_undefined_queries_of_a_distribution():
    options = with_policies(["mrr", "recall@1"], replace_undefined_by=np.nan)
    weights = [3, 1, 5, 1]
    display = report_of_ranks([1, 2, 0, 4], weights=weights, **options).plot()
    assert written(display.ax_) == ["0.7500", "0.6000"], "(3 + 1/2 + 1/4) / 5 and 3 / 5"
    heights, _, base = display.ax_.patches[0].get_data()
    bars = heights[heights < base]
    # The weights are 1, 1 and 3.
    np.testing.assert_allclose(sorted(base - bars), [0.2, 0.2, 0.6])
    empty = evaluate([[0, 0]], [[2, 1]], metrics="mrr(replace_undefined_by=nan)")
    with pytest.raises(ValueError, match=r"There is nothing to draw: mrr.* is NaN for all queries"):
        empty.plot()


@pytest.mark.parametrize(
    ("metrics", "shown", "ends"),
    [
        (["mrr", "cg"], ["mrr", "cg"], (0, 1)),
        (["neg_kendall_tau_distance", "mrr"], ["neg_kendall_tau_distance"], (-2, 0)),
    ],
)
def test_metrics_of_another_range_are_left_out(metrics, shown, ends):
    display = evaluate(Y, SCORES, qid=QID, metrics=[*metrics, kendall_tau_distance]).plot()
    assert row_names(display.ax_) == shown
    assert edges(display.ax_)[0] == ends


def test_the_axis_of_metrics_that_may_be_negative():
    columns = {"kendall_tau": [-0.5, 0.5], "qid": [1, 2]}
    report = RankingReport.from_frame(columns)
    display = report.plot()
    assert edges(display.ax_) == [(-1, 1)]


def test_models_of_a_comparison_share_an_axis():
    values = {"a": [4.0, 9.0, 8.0], "b": [2.0, 3.0, 7.0]}
    reports = {
        name: RankingReport.from_frame({"judge": own, "qid": [1, 2, 3]})
        for name, own in values.items()
    }
    display = QueryScoreDisplay.from_result(compare(reports))
    assert row_names(display.ax_) == ["a", "b"]
    assert written(display.ax_) == ["7.0000", "4.0000"]
    assert edges(display.ax_) == [(2, 9), (2, 9)]
    expected = [report.intervals()["judge"] for report in reports.values()]
    np.testing.assert_allclose(intervals(display.ax_), expected)


def marked(display):
    """Places of the marks of the two conventions."""
    diamonds = [line for line in display.ax_.lines if line.get_marker() == "D"]
    return [line.get_xydata()[0].tolist() for line in diamonds]


def difference(effects, changes):
    causes = []
    for change, effect in zip(changes, effects, strict=True):
        causes.append(Cause("gain", change, effect, f"gain: {change}"))
    end = 0.5 + sum(effects)
    conventions = ("sklearn", "xgboost")
    return Difference("ndcg", conventions, 0.5, end, causes, [])


def test_steps_lead_from_one_value_to_the_other():
    display = difference([0.25, -0.5, 0.125], ["a -> b", "c -> d", "e -> f"]).plot()
    bars = [(bar.get_x(), bar.get_width()) for bar in display.ax_.patches]
    assert bars == [
        (0.5, 0.25),
        (0.75, -0.5),
        (0.25, 0.125),
    ]
    up, down, again = (bar.get_facecolor() for bar in display.ax_.patches)
    assert up == again != down
    level = difference([0.0, 0.25], ["a -> b", "c -> d"]).plot()
    unchanged, up = (bar.get_facecolor() for bar in level.ax_.patches)
    assert unchanged == up, "a step of 0 is no loss"
    assert marked(display) == [[0.5, 0], [0.375, 4]]
    texts = dict(zip(written(display.ax_), display.ax_.texts, strict=True))
    assert {name: text.xy for name, text in texts.items()} == {
        "0.5000": (0.5, 0),
        "+0.2500": (0.75, 1),
        "-0.5000": (0.75, 2),
        "+0.1250": (0.375, 3),
        "0.3750": (0.375, 4),
    }
    assert row_names(display.ax_) == [
        "sklearn",
        *(f"gain: {step}" for step in ("a → b", "c → d", "e → f")),
        "xgboost",
    ]
    tiny = difference([-0.00002], ["a"]).plot()
    assert set(written(tiny.ax_)) == {"0.5000", "+0.0000"}, "with the digits of tables"
    assert written(difference([], []).plot().ax_) == ["0.5000", "0.5000"]


def test_a_difference_is_drawn_as_it_is_explained():
    expected = explain_difference(
        Y, SCORES, qid=QID // 2, metric="ndcg", conventions=("trec_eval", "xgboost")
    )
    display = expected.plot()
    effects = [cause.effect for cause in expected.causes]
    np.testing.assert_allclose(widths(display.ax_), effects)
    assert [x for x, _ in marked(display)] == pytest.approx(
        [expected.start, expected.end], abs=1e-15
    )
    assert display.ax_.get_xlabel() == "ndcg"


def test_folds_and_leaks():
    table = {
        "documents": np.array([300, 1000]),
        "queries": np.array([5, 1]),
        "share_relevant": np.array([0.5, 0.25]),
        "leaking": np.array([0, 2]),
        "cut": np.array([0, 1]),
    }
    ids = {"leaking": [[], [1, 2]], "cut": [[], [3]]}
    display = SplitReport("KFold(2)", table, ids).plot()
    queries, documents, shares = display.axes_
    assert widths(queries) == [5, 1, 0, 2], "queries, and those of them that are in train, too"
    assert widths(documents) == [300, 1000]
    assert widths(shares) == [0.5, 0.25]
    assert queries.get_xlabel() == "queries in test"
    assert documents.get_xlabel() == "documents in test"
    assert shares.get_xlabel() == "share of relevant documents"
    assert written(queries) == ["5", "1"]
    assert written(documents) == ["300", "1,000"]
    assert written(shares) == ["50.0%", "25.0%"]
    assert row_names(display.ax_) == ["fold 0", "fold 1: 3 leaks"], "of both kinds"
    sound, leaking = (label.get_color() for label in display.ax_.get_yticklabels())
    assert sound != leaking
    assert display.figure_.get_suptitle() == "KFold(2): leaks in 1 of 2 folds"


def test_folds_of_splitters():
    cut = audit_splits(KFold(3), X, Y, qid=QID)
    display = cut.plot()
    bars = widths(display.ax_)
    assert bars[:3] == cut.table["queries"].tolist()
    assert bars[3:] == cut.table["leaking"].tolist()
    names = row_names(display.ax_)
    assert all("leak" in name for name in names)
    sound = audit_splits(QueryKFold(2), X, Y, qid=QID)
    assert row_names(sound.plot().ax_) == ["fold 0", "fold 1"]


def fitted_search(folds, params=None, scoring="map", refit=True):
    """A search with these scores of candidates in folds, by name of the metric, and nothing fitted."""
    folds = {name: np.array(values, dtype=float) for name, values in folds.items()}
    search = GridSearchCV(
        QueryRanker(Ridge()), {"estimator__alpha": [1]}, scoring=scoring, refit=refit
    )
    n_candidates = len(next(iter(folds.values())))
    search.cv_results_ = {
        "params": params or [{"estimator__alpha": 10**i} for i in range(n_candidates)]
    }
    for name, values in folds.items():
        search.cv_results_ |= {
            f"split{fold}_test_{name}": column for fold, column in enumerate(values.T)
        }
        search.cv_results_ |= {
            f"mean_test_{name}": values.mean(axis=1),
            f"std_test_{name}": values.std(axis=1),
        }
    search.scorer_ = scoring
    return search


SEARCH = fitted_search(
    {
        "ndcg@10": [[0.3, 0.5], [0.7, 0.5], [0.8, 0.8]],
        "map": [[0.5, 0.7], [0.4, 0.4], [0.9, np.nan]],
    },
    scoring=ranking_scorers("ndcg@10", "map"),
    refit="ndcg@10",
)
MAP = ranking_scorers("map")["map"]


def test_candidates_from_the_best_down():
    display = CVResultsDisplay.from_result(SEARCH)
    assert row_names(display.ax_) == ["#3 alpha=100", "#2 alpha=10", "#1 alpha=1"]
    expected = {0: [0.8, 0.8], 1: [0.7, 0.5], 2: [0.3, 0.5]}
    lines = iter(display.ax_.lines)
    for row, scores in expected.items():
        folds = next(lines).get_xydata()
        assert folds[:, 0].tolist() == scores
        assert set(folds[:, 1]) == {row + 0.14}
        mean = sum(scores) / 2
        mark = next(lines).get_xydata()
        np.testing.assert_allclose(mark, [[mean, row + 0.14]])
        above = display.ax_.texts[row]
        assert above.xy == (pytest.approx(mean), row - 0.24)
        assert above.get_text() == f"{mean:.4f}"
    assert display.ax_.get_xlabel() == "ndcg@10, mean and each of 2 folds"


def test_metric_and_number_of_candidates():
    other = CVResultsDisplay.from_result(SEARCH, metric="map")
    assert row_names(other.ax_) == ["#1 alpha=1", "#2 alpha=10"], "the third failed in a fold"
    scores = [[1, np.nan], [0.5, 0.5], [0.6, 0.6]]
    later = fitted_search({"score": scores}, scoring=MAP)
    display = CVResultsDisplay.from_result(later)
    assert row_names(display.ax_) == ["#3 alpha=100", "#2 alpha=10"]
    label = display.ax_.get_xlabel()
    assert label.endswith(",\nbest 2 of 3 candidates"), "one failed"
    scores = np.linspace(0, 1, 24).reshape(12, 2)
    many = fitted_search({"score": scores}, scoring=MAP)
    display = CVResultsDisplay.from_result(many)
    assert len(row_names(display.ax_)) == 10
    label = display.ax_.get_xlabel()
    assert label == "map, mean and each of 2 folds,\nbest 10 of 12 candidates"
    with pytest.raises(ValueError, match=r"metric must be one of \['ndcg@10', 'map'\]; got 'mrr'"):
        CVResultsDisplay.from_result(SEARCH, metric="mrr")
    with pytest.raises(NotFittedError, match="not fitted"):
        CVResultsDisplay.from_result(GridSearchCV(Ridge(), {}))


def test_scores_of_other_packages_and_candidates_without_parameters():
    search = fitted_search(
        {"score": [[0.5, 0.6], [0.1, 0.2]]}, [{}, {"estimator__alpha": 3}], make_scorer(r2_score)
    )
    display = CVResultsDisplay.from_result(search)
    assert display.ax_.get_xlabel().startswith("score, ")
    assert row_names(display.ax_) == ["#1 defaults", "#2 alpha=3"]


def test_candidates_that_a_race_dropped_are_left_out():
    scores = [
        [0.875, np.nan, np.nan],
        [0.625, 0.5, 1],
        [0.5, 1, np.nan],
    ]
    search = fitted_search({"score": scores}, scoring=MAP)
    display = CVResultsDisplay.from_result(search)
    assert row_names(display.ax_) == ["#2 alpha=10"]
    assert written(display.ax_) == ["0.7083"], "2.125 / 3"
    assert display.ax_.get_xlabel().endswith("best 1 of 3 candidates")
