"""Comparisons of ten queries, against fractions, all patterns of signs, and textbook formulas."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from support.ranks import report_of_ranks
from support.shown import html_of

from skrank_metrics import compare, evaluate

# Ranks of the relevant document; queries 3 and 8 have none.
FIRST = [1, 2, 1, 0, 3, 1, 2, 4, 0, 1]
SECOND = [2, 1, 1, 0, 1, 3, 4, 1, 0, 2]
WEIGHTS = [3, 1, 2, 5, 1, 4, 1, 2, 7, 1]
DEFINED = [0, 1, 2, 4, 5, 6, 7, 9]
ORDER = np.array([7, 0, 9, 3, 5, 1, 8, 2, 6, 4])
# 1/2, -1/2, 0, -2/3, 2/3, 1/4, -3/4 and 1/2 on the queries with a value.
DIFFERENCES = [Fraction(1, FIRST[i]) - Fraction(1, SECOND[i]) for i in DEFINED]


def exact_p(differences):
    """Share of all patterns of signs whose sum is at least as far from 0."""
    sums = [sum(s * d for s, d in zip(signs, differences, strict=True)) for signs in signs_of(differences)]
    return np.mean([abs(total) >= abs(sum(differences)) for total in sums])


def signs_of(differences):
    return itertools.product((1, -1), repeat=len(differences))


def interval_of(differences, weights, bounds, confidence=0.95):
    """Student's t of a weighted mean; if there are bounds, with half an observation between each and the extremes."""
    d, w = np.array(differences, dtype=float), np.array(weights, dtype=float)
    mean, n = np.average(d, weights=w), w.sum() ** 2 / (w**2).sum()
    # The variance of a ratio of sums, as in textbooks of survey sampling.
    variance = (w**2 * (d - mean) ** 2).sum() / w.sum() ** 2 * n / (n - 1)
    if bounds is None:
        return mean + np.array([-1, 1]) * stats.t.ppf((1 + confidence) / 2, n - 1) * np.sqrt(variance)
    # Deviations from the mean of all, as if n observations had this spread around their own mean.
    largest = np.abs(d[w > 0]).max() or bounds[1]
    ends = np.sqrt(bounds[1] * largest) * np.array([-1, 1])
    shifted = n * mean / (n + 1)
    total = n * (n - 1) * variance + n * (mean - shifted) ** 2 + ((ends - shifted) ** 2).sum() / 2
    half = stats.t.ppf((1 + confidence) / 2, n) * np.sqrt(total / n / (n + 1))
    return np.clip([shifted - half, shifted + half], *bounds)


def pair_of(weighted, undefined, reordered, metric="mrr", **options):
    """Compare two reports over these queries, the second in another order if asked for."""
    order = ORDER if reordered else np.arange(10)
    shared = {"metrics": metric, "replace_undefined_by": undefined}
    weights = np.array(WEIGHTS) if weighted else None
    first = report_of_ranks(FIRST, weights=weights, **shared)
    second = report_of_ranks(np.array(SECOND)[order], order, weights=weights[order] if weighted else None, **shared)
    assert second.qid.tolist() == order.tolist()
    (pair,) = compare([first, second], metric, **options).pairs
    return pair


@pytest.mark.parametrize("reordered", [False, True])
@pytest.mark.parametrize("undefined", [np.nan, 0.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_undefined_queries_and_orders(weighted, undefined, reordered):
    pair = pair_of(weighted, undefined, reordered)
    # Where undefined queries count as 0, they have equal values.
    queries = DEFINED if np.isnan(undefined) else list(range(10))
    differences = dict.fromkeys(range(10), Fraction(0)) | dict(zip(DEFINED, DIFFERENCES, strict=True))
    differences = [differences[query] for query in queries]
    weights = [WEIGHTS[query] if weighted else 1 for query in queries]
    total = sum(w * d for w, d in zip(weights, differences, strict=True))
    assert pair.qid.tolist() == queries
    np.testing.assert_allclose(pair.differences, np.array(differences, dtype=float), atol=1e-15)
    assert pair.n_queries == len(queries)
    assert (pair.wins, pair.ties, pair.losses) == (4, len(queries) - 7, 3)
    assert pair.difference == pytest.approx(float(total / sum(weights)), abs=1e-15)
    assert pair.p_value == exact_p([w * d for w, d in zip(weights, differences, strict=True)])
    assert pair.interval == pytest.approx(tuple(interval_of(differences, weights, (-1, 1))))
    mean, n = total / sum(weights), Fraction(sum(weights) ** 2, sum(w**2 for w in weights))
    variance = sum(w * (d - mean) ** 2 for w, d in zip(weights, differences, strict=True)) / sum(weights) * n / (n - 1)
    assert pair.effect_size == pytest.approx(float(mean) / float(variance) ** 0.5)


def test_the_cases_differ():
    """Weights and undefined queries move every number above, so none of them can be left out unseen."""
    plain, weighted = (pair_of(given, np.nan, reordered=False) for given in (False, True))
    assert (plain.difference, plain.p_value) == (0, 1)
    # 3/2 - 1/2 - 2/3 + 8/3 + 1/4 - 3/2 + 1/2 = 9/4, of weights that sum to 15.
    assert weighted.difference == pytest.approx(9 / 4 / 15)
    assert weighted.p_value == exact_p([w * d for w, d in zip([3, 1, 2, 1, 4, 1, 2, 1], DIFFERENCES, strict=True)])
    assert 0.1 < weighted.p_value < 0.9
    assert pair_of(True, 0.0, reordered=False).difference == pytest.approx(9 / 4 / 27)


@pytest.mark.option("compare.confidence")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("confidence", [0.5, 0.8])
def test_confidence_of_intervals(confidence, weighted):
    weights = [WEIGHTS[query] if weighted else 1 for query in DEFINED]
    bounded = pair_of(weighted, np.nan, reordered=True, confidence=confidence).interval
    assert bounded == pytest.approx(tuple(interval_of(DIFFERENCES, weights, (-1, 1), confidence)))
    assert -1 < bounded[0] < bounded[1] < 1, "not cut"
    unbounded = pair_of(weighted, np.nan, reordered=True, metric="dcg", confidence=confidence).interval
    gains = [1 / np.log2(1 + FIRST[i]) - 1 / np.log2(1 + SECOND[i]) for i in DEFINED]
    assert unbounded == pytest.approx(tuple(interval_of(gains, weights, None, confidence)))


@pytest.mark.parametrize(("confidence", "spelled"), [(0.95, "95%"), (0.999, "99.9%"), (0.975, "97.5%"), (0.57, "57%")])
def test_confidence_is_spelled_in_full(confidence, spelled):
    comparison = compare([report_of_ranks(FIRST), report_of_ranks(SECOND)], "mrr", confidence=confidence)
    ((heads, _row),) = html_of(comparison)[0]
    assert heads[2] == f"{spelled} interval"
    assert f"{spelled} interval" in " ".join(str(comparison).split())
    assert "Adjusted: Holm, 1 pair. " in str(comparison)


def test_weighted_interval_of_two_queries():
    # Differences 1/2 and 0 with weights 3 and 1: the mean is 3/8, (3 + 1)^2 / (3^2 + 1^2) = 1.6 queries count, and the
    # variance of the mean is (9/16 (1/8)^2 + 1/16 (3/8)^2) 1.6 / 0.6 = 3/64. Half an observation at
    # sqrt(1/2) on either side makes the mean 0.6 / 2.6 = 3/13 and the sum of squares 1.6 * 0.6 * 3/64 +
    # 1.6 (3/8 - 3/13)^2 + 1/2 + (3/13)^2.
    reports = [report_of_ranks(ranks, weights=[3, 1]) for ranks in ([1, 2], [2, 2])]
    (pair,) = compare(reports, "mrr", confidence=0.5).pairs
    squares = 1.6 * 0.6 * 3 / 64 + 1.6 * (3 / 8 - 3 / 13) ** 2 + 1 / 2 + (3 / 13) ** 2
    half = stats.t.ppf(0.75, 1.6) * np.sqrt(squares / 1.6 / 2.6)
    assert pair.interval == pytest.approx((3 / 13 - half, 3 / 13 + half))
    assert pair.effect_size == pytest.approx(3 / 8 / np.sqrt((3 / 4 / 64 + 1 / 4 * 9 / 64) * 1.6 / 0.6))


def exact_wilcoxon_p(differences):
    changed = [d for d in differences if d]
    ranks = stats.rankdata([abs(d) for d in changed])
    return exact_p([rank if d > 0 else -rank for rank, d in zip(ranks, changed, strict=True)])


@pytest.mark.option("compare.test")
def test_tests_on_eight_queries():
    ranks, others = [1, 2, 1, 3, 1, 2, 1, 2], [2, 3, 5, 2, 3, 4, 2, 1]
    differences = [Fraction(1, one) - Fraction(1, other) for one, other in zip(ranks, others, strict=True)]
    reports = [report_of_ranks(ranks), report_of_ranks(others)]
    p = {test: compare(reports, "mrr", test=test).pairs[0].p_value for test in ("permutation", "wilcoxon", "t")}
    values = [report.per_query["mrr"] for report in reports]
    assert p["permutation"] == exact_p(differences)
    assert p["wilcoxon"] == pytest.approx(exact_wilcoxon_p(differences))
    assert p["t"] == pytest.approx(stats.ttest_rel(*values).pvalue)
    assert len(set(p.values())) == 3
    assert compare(reports, "mrr").test == "permutation"
    assert compare(reports, "mrr", test="t").test == "t"


@pytest.mark.option("compare.random_state")
def test_random_signs_repeat_with_their_seed():
    ranks = np.random.default_rng(0).integers(1, 6, (2, 40))
    reports = [report_of_ranks(row) for row in ranks]

    def p(random_state):
        return compare(reports, "mrr", n_resamples=999, random_state=random_state).pairs[0].p_value

    seeds = [p(seed) for seed in range(5)]
    assert len(set(seeds)) > 1
    assert seeds == [p(seed) for seed in range(5)]
    assert p(np.random.default_rng(3)) == seeds[3]
    old = np.random.RandomState(0)
    assert p(old) != p(old), "it is used up"
    assert p(np.random.RandomState(0)) == p(np.random.RandomState(0))
    # All equal only in one of 10^7 runs.
    assert len({p(None) for _ in range(6)}) > 1
    # Of the exact p-value, 4 standard errors.
    differences = reports[0].per_query["mrr"] - reports[1].per_query["mrr"]
    z = stats.norm.sf(abs(differences.sum()) / np.sqrt((differences**2).sum())) * 2
    np.testing.assert_allclose(seeds, z, atol=4 * np.sqrt(z * (1 - z) / 999) + 0.02)


@pytest.mark.option("compare.n_resamples")
def test_number_of_resamples():
    # In each of four queries the same difference: 2 of the 2^4 patterns of signs are as extreme.
    few = [report_of_ranks([rank] * 4) for rank in (1, 2)]
    assert compare(few, "mrr", n_resamples=16).pairs[0].p_value == 2 / 16, "as many as there are patterns"
    drawn = {compare(few, "mrr", n_resamples=15, random_state=seed).pairs[0].p_value for seed in range(10)}
    assert len(drawn) > 1
    assert {p * 16 % 1 for p in drawn} == {0}
    # None of random patterns is as extreme as 30 equal signs, except the observed one.
    many = [report_of_ranks([rank] * 30) for rank in (1, 2)]
    for n_resamples in (9, 99):
        assert compare(many, "mrr", n_resamples=n_resamples, random_state=0).pairs[0].p_value == 1 / (n_resamples + 1)
    assert compare(many, "mrr", random_state=0).pairs[0].p_value == 1 / 10_000


THREE = {"a": [1, 1, 1, 1, 1, 1], "b": [2, 2, 2, 2, 2, 1], "c": [2, 3, 1, 4, 2, 2]}


def fractions(first, second):
    return [Fraction(1, i) - Fraction(1, j) for i, j in zip(THREE[first], THREE[second], strict=True)]


@pytest.mark.option("compare.correction")
def test_corrections_by_hand():
    reports = {name: report_of_ranks(ranks) for name, ranks in THREE.items()}
    found = {how: compare(reports, "mrr", correction=how) for how in ("holm", "bh", None)}
    # All five differences of a and b are 1/2, and all five of a and c are positive: 2 of 2^5. b and c: both ways.
    raw = [2 / 32, 2 / 32, exact_p(fractions("b", "c"))]
    assert raw[2] > 0.2
    for comparison in found.values():
        assert [pair.p_value for pair in comparison.pairs] == raw
    assert [pair.p_adjusted for pair in found["holm"].pairs] == [3 * 2 / 32, 3 * 2 / 32, max(raw[2], 3 * 2 / 32)]
    assert [pair.p_adjusted for pair in found["bh"].pairs] == [3 / 2 * 2 / 32, 3 / 2 * 2 / 32, raw[2]]
    assert [pair.p_adjusted for pair in found[None].pairs] == raw
    assert [found[how].correction for how in found] == list(found)
    assert compare(reports, "mrr").correction == "holm"


def test_significance_is_of_the_adjusted_p_value_at_most_1_minus_confidence():
    reports = {name: report_of_ranks(ranks) for name, ranks in THREE.items()}

    def significant(correction, confidence):
        comparison = compare(reports, "mrr", correction=correction, confidence=confidence)
        pairs = comparison.significant()
        named = ", ".join(f"{pair.first} and {pair.second}" for pair in pairs) or "none"
        assert f"Significantly different at {1 - confidence:.2g}: {named}." in " ".join(str(comparison).split())
        return [(pair.first, pair.second) for pair in pairs]

    both = [("a", "b"), ("a", "c")]
    assert significant(None, 1 - 2 / 32) == both, "just at the level"
    assert significant(None, 1 - 1.99 / 32) == []
    assert significant("holm", 1 - 2 / 32) == [], "raw p-values would be significant"
    assert significant("holm", 1 - 6 / 32) == both
    assert significant("bh", 1 - 3 / 32) == both


@pytest.mark.option("compare.metric")
def test_metric_to_compare():
    reports = [report_of_ranks(ranks, metrics=["mrr", "recall@1", "ndcg@10"]) for ranks in ([1, 2, 3], [2, 2, 1])]
    assert compare(reports, metric="mrr").pairs[0].differences.tolist() == [1 / 2, 0, 1 / 3 - 1]
    assert compare(reports, metric="recall@1").pairs[0].differences.tolist() == [1, 0, -1]
    default = compare(reports)
    assert default.metric == "ndcg@10"
    np.testing.assert_allclose(default.pairs[0].differences, [1 - 1 / np.log2(3), 0, 1 / 2 - 1], atol=1e-15)


@pytest.mark.option("compare.align")
@pytest.mark.parametrize("weighted", [False, True])
def test_intersection_of_queries_in_different_orders(weighted):
    ids, others = ["a", "b", "c", "d", "e"], ["x", "e", "c", "a"]
    weights = {"a": 3, "b": 9, "c": 1, "d": 7, "e": 2, "x": 8}
    given = [np.array([weights[i] for i in names]) if weighted else None for names in (ids, others)]
    first = report_of_ranks([1, 1, 2, 4, 3], ids, given[0])
    second = report_of_ranks([5, 1, 4, 2], others, given[1])
    (pair,) = compare([first, second], "mrr", align="intersection").pairs
    assert pair.qid.tolist() == ["a", "c", "e"]
    differences, shares = [1 - 1 / 2, 1 / 2 - 1 / 4, 1 / 3 - 1], [3, 1, 2] if weighted else [1, 1, 1]
    np.testing.assert_allclose(pair.differences, differences)
    assert pair.difference == pytest.approx(np.dot(shares, differences) / sum(shares))
    (back,) = compare([second, first], "mrr", align="intersection").pairs
    assert back.qid.tolist() == ["e", "c", "a"], "in the order of the first report"
    np.testing.assert_allclose(back.differences, [1 - 1 / 3, 1 / 4 - 1 / 2, 1 / 2 - 1])
    with pytest.raises(ValueError, match="reports must be over the same queries; got 5 in '0' and 4 in '1', 3 of them"):
        compare([first, second], "mrr")


@pytest.mark.parametrize("first", [True, False])
def test_condensed_reports_are_compared_with_condensed_ones(first):
    rows = {"y_true": [1, 0, 1, 0], "y_score": [2, 1, 1, 2], "qid": [0, 0, 1, 1], "metrics": "mrr"}
    rows["judged"] = [True, True, True, False]
    with pytest.raises(ValueError, match=f"reports must have the same condense; got {first} in '0' and {not first}"):
        compare([evaluate(**rows, condense=condense) for condense in (first, not first)], "mrr")


def test_slices_of_queries_that_both_reports_have():
    first = report_of_ranks([1, 1, 2, 4, 3], ["a", "b", "c", "d", "e"])
    second = report_of_ranks([5, 1, 4, 2], ["x", "e", "c", "a"])
    found = compare([first, second], "mrr", align="intersection", by=["old", "old", "new", "new", "old"])
    of_slices = {value: part.pairs[0].qid.tolist() for value, part in found.slices.items()}
    assert of_slices == {"old": ["a", "e"], "new": ["c"]}


def test_queries_of_pairs_may_differ_in_number():
    reports = {name: report_of_ranks(ranks, replace_undefined_by=np.nan) for name, ranks in THREE.items()}
    reports["c"].per_query["mrr"][0] = np.nan  # as of a metric that is undefined for one of the rankings alone
    comparison = compare(reports, "mrr")
    assert [pair.n_queries for pair in comparison.pairs] == [6, 5, 5]
    assert str(comparison).startswith("mrr, 5 to 6 queries, paired sign-flip permutation test\n")
