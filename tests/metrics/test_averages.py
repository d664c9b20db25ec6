"""Medians and geometric means over queries."""

import math

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from skrank_metrics import compare, evaluate, get_metric, make_ranking_scorer, map_score, mrr_score

values = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4)), min_size=1, max_size=9).filter(
    lambda pairs: sum(weight for _, weight in pairs) > 0
)


def queries(ranks):
    """Queries of six documents whose only relevant one is at a rank, or that have none for rank 0."""
    labels = np.zeros((len(ranks), 6))
    for row, rank in enumerate(ranks):
        labels[row, rank - 1] = rank > 0
    return labels, np.tile(np.arange(6, 0, -1.0), (len(ranks), 1))


def test_median_of_values():
    assert mrr_score(*queries([1, 2, 5]), average="median") == 1 / 2
    assert mrr_score(*queries([1, 2, 5, 4]), average="median") == (1 / 2 + 1 / 4) / 2
    assert mrr_score(*queries([0, 0, 1]), average="median") == 0
    assert mrr_score(*queries([0, 0, 1]), average="median", replace_undefined_by=math.nan) == 1
    assert math.isnan(mrr_score(*queries([0]), average="median", replace_undefined_by=math.nan))


@given(pairs=values)
def test_whole_weights_count_like_repeated_queries(pairs):
    ranks, weights = np.array(pairs).T
    weighted = queries(ranks)
    repeated = queries(np.repeat(ranks, weights))
    for average in ("median", "geometric", "macro"):
        for undefined in (0.0, math.nan):
            options = {"average": average, "replace_undefined_by": undefined}
            expected = mrr_score(*repeated, **options)
            for scale in (1.0, 0.1, 1e300):
                mine = mrr_score(*weighted, sample_weight=weights * scale, **options)
                np.testing.assert_allclose(mine, expected, rtol=1e-12)


def test_geometric_mean_has_the_floor_of_trec_eval():
    assert mrr_score(*queries([1, 2, 4]), average="geometric") == pytest.approx((1 / 8) ** (1 / 3), rel=1e-15)
    assert mrr_score(*queries([1, 0]), average="geometric") == pytest.approx(math.sqrt(1e-5), rel=1e-12)


def test_gmap_is_that_of_trec_eval():
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 2, (40, 8)), rng.permuted(np.tile(np.arange(8.0), (40, 1)), axis=1)
    labels[:5] = 0
    labels[:5, 0], scores[:5, 0] = 1, -1.0
    qrel = {str(q): {f"d{d}": int(label) for d, label in enumerate(row)} for q, row in enumerate(labels)}
    # In five queries the only relevant document is not retrieved.
    run = {str(q): {f"d{d}": float(score) for d, score in enumerate(row) if score >= 0} for q, row in enumerate(scores)}
    per_topic = pytrec_eval.RelevanceEvaluator(qrel, {"gm_map"}).evaluate(run)
    expected = pytrec_eval.compute_aggregated_measure("gm_map", [found["gm_map"] for found in per_topic.values()])
    mine = map_score(labels, scores, average="geometric", retrieved=scores >= 0)
    assert mine == pytest.approx(expected, rel=1e-9)


def test_names_reports_and_scorers_take_them():
    rows = queries([1, 2, 5, 0])
    report = evaluate(*rows, metrics=["mrr(average=median)", "mrr(average=geometric)", "mrr"])
    assert report.mean["mrr(average=median)"] == (1 / 2 + 1 / 5) / 2
    assert all(np.isnan(report.intervals()[name]).all() for name in list(report.mean)[:2])
    assert "Intervals: Student's t over queries; none for medians and geometric means." in " ".join(str(report).split())
    assert np.isfinite(report.intervals()["mrr"]).all()
    assert report.to_dict(flat=True)["mrr_average_median"] == (1 / 2 + 1 / 5) / 2
    board = compare([report] * 2, "mrr(average=median)")
    assert "not a mean over queries and cannot be tested" in " ".join(str(board).split())
    assert make_ranking_scorer("mrr(average=median)@5")


def test_smaller_is_better():
    distance = get_metric("neg_kendall_tau_distance")
    rows = [[0, 1, 2], [2, 1, 0], [1, 2, 0]], [[3, 2, 1]] * 3
    assert distance(*rows, average="median") == -1
    assert distance(*rows, average="geometric") == pytest.approx(-((3 * 1e-5 * 1) ** (1 / 3)))


@pytest.mark.parametrize("name", ["kendall_tau", "spearman"])
def test_geometric_means_of_negative_values_are_refused(name):
    with pytest.raises(ValueError, match=r"average='geometric' is not defined for .*, which can be negative"):
        get_metric(name, average="geometric")
