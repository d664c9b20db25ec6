import math

import numpy as np
import pytest
from scipy import stats

from skrank_metrics import compare, evaluate, queries_needed
from skrank_metrics.reports.statistics import n_for_power

QID = np.repeat(np.arange(40), 2)
Y = np.tile([1, 0], 40)


def report(first_at_top, **options):
    """Queries of two documents, of which the relevant one is first or second."""
    scores = np.where(np.repeat(first_at_top, 2) == (Y == 1), 1.0, 0.0)
    return evaluate(Y, scores, qid=QID, metrics="mrr", **options)


BETTER, WORSE = (report(np.arange(40) % n != 0) for n in (8, 3))
DIFFERENCES = BETTER.per_query["mrr"] - WORSE.per_query["mrr"]


def smallest_n(effect_size, power, level):
    """By both tails of the noncentral t distribution; of one that is tiny, SciPy gives NaN."""
    n = 2
    while True:
        limit, shift = stats.t.ppf(1 - level / 2, n - 1), abs(effect_size) * n**0.5
        if stats.nct.sf(limit, n - 1, shift) + np.nan_to_num(stats.nct.cdf(-limit, n - 1, shift)) >= power:
            return n
        n += 1


@pytest.mark.slow
@pytest.mark.option("queries_needed.metric", "queries_needed.power", "queries_needed.confidence")
def test_the_number_is_that_of_a_t_test():
    effect_size = DIFFERENCES.mean() / DIFFERENCES.std(ddof=1)
    assert queries_needed(BETTER, WORSE, metric="mrr") == smallest_n(effect_size, 0.8, 0.05)
    assert queries_needed(WORSE, BETTER, metric="mrr", power=0.9) == smallest_n(effect_size, 0.9, 0.05)
    assert queries_needed(BETTER, WORSE, metric="mrr", confidence=0.99) == smallest_n(effect_size, 0.8, 0.01)
    assert n_for_power(-np.inf, 0.8, 0.95) == n_for_power(-1e6, 0.8, 0.95) == 2
    for confidence in (0.05, 0.4, 0.999999):
        assert n_for_power(0.3, 0.9, confidence) == smallest_n(0.3, 0.9, 1 - confidence)


@pytest.mark.slow
@pytest.mark.option("queries_needed.difference")
def test_a_difference_that_matters():
    needed = queries_needed(BETTER, WORSE, metric="mrr", difference=0.02)
    assert needed == smallest_n(0.02 / DIFFERENCES.std(ddof=1), 0.8, 0.05)
    assert queries_needed(BETTER, WORSE, metric="mrr", difference=1e-4) == pytest.approx(needed * 200**2, rel=0.01)


def test_two_queries_are_enough_to_ask():
    rows = {"y_true": [1, 0, 1, 0], "qid": [0, 0, 1, 1], "metrics": "mrr"}
    good, bad = evaluate(y_score=[2, 1, 2, 1], **rows), evaluate(y_score=[2, 1, 1, 2], **rows)
    # The differences are 0 and 1/2.
    assert queries_needed(good, bad, metric="mrr") == smallest_n((1 / 4) / (1 / 2 / 2**0.5), 0.8, 0.05)


@pytest.mark.parametrize(("effect_size", "confidence"), [(1e5, 1 - 1e-6), (1e7, 1 - 1e-9), (1e12, 1 - 1e-12)])
def test_two_or_three_queries_for_large_effects(effect_size, confidence):
    # Without an effect, t of two queries has a Cauchy distribution: its limit is 1 / tan(pi * level / 2). Relative to a
    # large effect, the mean is constant, so t exceeds the limit if the difference of the two values is small enough.
    power = math.erf(effect_size * math.tan(math.pi * (1 - confidence) / 2))
    assert n_for_power(effect_size, power - 1e-5, confidence) == 2
    assert n_for_power(effect_size, power + 1e-5, confidence) == 3


@pytest.mark.parametrize("effect_size", [1.1e17, 1e200, np.float64(1e200), np.inf])
def test_two_queries_for_huge_effects(effect_size):
    assert n_for_power(effect_size, 1 - 1e-16, 1 - 1e-16) == 2
    assert math.erf(1e17 * math.tan(math.pi * 2**-53 / 2)) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("effect_size", "power"), [(0.1, 0.8), (0.3, 0.5), (0.5, 0.95), (1.5, 0.8)])
def test_simulated_power(effect_size, power):
    rng, slack = np.random.default_rng(0), 4 * (power * (1 - power) / 4000) ** 0.5  # four standard errors
    n = n_for_power(effect_size, power, 0.95)
    enough, fewer = (
        np.mean(stats.ttest_1samp(rng.normal(effect_size, 1, (4000, n_queries)), 0, axis=1).pvalue <= 0.05)
        for n_queries in (n, max(2, int(0.8 * n)))
    )
    assert power - slack <= enough
    assert fewer <= power + slack


def test_simulated_power_for_values_as_seen():
    n, rng = queries_needed(BETTER, WORSE, metric="mrr"), np.random.default_rng(0)
    resampled = rng.choice(DIFFERENCES, (4000, n))
    p_values = stats.ttest_1samp(resampled, 0, axis=1).pvalue
    assert (p_values <= 0.05).mean() == pytest.approx(0.8, abs=0.05)


def test_unequal_weights_need_more_queries():
    weights = np.repeat(np.where(np.arange(40) % 2, 1.0, 3.0), 2)
    equal, unequal = (
        queries_needed(*(report(np.arange(40) % n != 0, sample_weight=w) for n in (8, 3)), metric="mrr", difference=0.1)
        for w in (np.ones(80), weights)
    )
    # Kish: (40 * 2)^2 / (20 * 1 + 20 * 9) = 32 effective queries.
    std = np.sqrt(np.average((DIFFERENCES - np.average(DIFFERENCES, weights=weights[::2])) ** 2, weights=weights[::2]))
    assert unequal == np.ceil(smallest_n(0.1 / (std * np.sqrt(32 / 31)), 0.8, 0.05) * 40 / 32)
    assert equal == queries_needed(BETTER, WORSE, metric="mrr", difference=0.1)


def test_compare_prints_it_for_weighted_queries():
    weights = np.repeat(np.where(np.arange(40) % 2, 1.0, 3.0), 2)
    reports = {name: report(np.arange(40) % n != 0, sample_weight=weights) for name, n in (("a", 8), ("b", 7))}
    text = " ".join(str(compare(reports, "mrr", random_state=0)).split())
    n = queries_needed(*reports.values(), metric="mrr")
    assert f"Queries needed to detect the observed difference with a power of 0.8: {n:,} for a and b." in text


@pytest.mark.parametrize("weight", [1, 50, 1000])
def test_weights_of_queries_without_a_value_do_not_count(weight):
    qid = np.repeat(np.arange(45), 2)
    labels = np.where(qid < 5, 0, np.tile([1, 0], 45))
    rows = {"qid": qid, "sample_weight": np.where(qid < 5, weight, 1), "metrics": "mrr", "replace_undefined_by": np.nan}
    a, b = (evaluate(labels, np.where(qid % n == 0, -1, 1) * np.tile([1, -1], 45), **rows) for n in (8, 7))
    assert a.n_undefined == {"mrr": 5}
    text = " ".join(str(compare({"a": a, "b": b}, "mrr", random_state=0)).split())
    n = queries_needed(a, b, metric="mrr")
    assert f"with a power of 0.8: {n:,} for a and b." in text
    assert n == queries_needed(*(evaluate(labels, s, **rows | {"sample_weight": None}) for s in (
        np.where(qid % n == 0, -1, 1) * np.tile([1, -1], 45) for n in (8, 7))), metric="mrr")  # fmt: skip


def test_compare_prints_it_for_pairs_that_do_not_differ_significantly():
    near = report(np.arange(40) % 7 != 0)
    text = " ".join(str(compare({"a": BETTER, "b": near}, "mrr", random_state=0)).split())
    n = queries_needed(BETTER, near, metric="mrr")
    assert f"Queries needed to detect the observed difference with a power of 0.8: {n:,} for a and b." in text
    assert "Queries needed" not in str(compare({"a": BETTER, "b": BETTER}, "mrr"))
    assert "Queries needed" not in str(
        compare({"a": report(np.ones(40, bool)), "b": report(np.zeros(40, bool))}, "mrr")
    )
    # One tenth and two tenths more, three tenths less: equal means, but for rounding.
    y, qid = np.tile(np.repeat([1, 0], [3, 17]), 3), np.repeat([0, 1, 2], 20)
    one, other = (
        evaluate(
            y, np.where(y == 1, np.tile(np.arange(20), 3) < np.repeat(hits, 20), 0.5), qid=qid, metrics="precision@10"
        )
        for hits in ([1, 2, 0], [0, 0, 3])
    )
    compared = compare({"a": one, "b": other}, "precision@10")
    assert compared.pairs[0].difference == pytest.approx(0, abs=1e-15)
    assert "Queries needed" not in str(compared)
    three = {"a": BETTER, "near": near, "none": report(np.zeros(40, bool))}
    text = " ".join(str(compare(three, "mrr", random_state=0)).split())
    assert "Significantly different at 0.05: a and none, near and none." in text
    assert text.partition("power of 0.8: ")[2].endswith(" for a and near."), "not for the others"
    many = {str(n): report(np.arange(40) % n != 0) for n in (2, 3, 8, 9, 11, 14, 40)}
    text = " ".join(str(compare(many, "mrr", random_state=0)).split())
    assert text.partition("power of 0.8: ")[2].count(" and ") == 4
    assert text.endswith("more for the others.")


@pytest.mark.parametrize(
    ("error", "message", "options"),
    [
        (ValueError, r"difference must be a number in \(0, inf\)", {"difference": 0}),
        (ValueError, r"power must be a number in \(0, 1\)", {"power": 1}),
        (ValueError, r"confidence must be a number in \(0, 1\)", {"confidence": 95}),
        (ValueError, "metric 'map' is missing", {"metric": "map"}),
    ],
)
def test_bad_input(error, message, options):
    with pytest.raises(error, match=message):
        queries_needed(BETTER, WORSE, **{"metric": "mrr", **options})


def test_reports_that_say_nothing():
    with pytest.raises(ValueError, match="difference must be given if the reports have the same mean mrr"):
        queries_needed(BETTER, BETTER, metric="mrr")
    with pytest.raises(ValueError, match=r"reports must differ by different amounts .* differences of 0 on all 40"):
        queries_needed(BETTER, BETTER, metric="mrr", difference=0.1)
    with pytest.raises(ValueError, match=r"differences of 0\.5 on all 40"):
        queries_needed(report(np.ones(40, bool)), report(np.zeros(40, bool)), metric="mrr")
    with pytest.raises(ValueError, match="difference must be at least 1e-09 standard deviations"):
        queries_needed(BETTER, WORSE, metric="mrr", difference=1e-200)
    # Kish: (2 + 9)^2 / (1 + 1 + 81) = 1.46
    weights = np.repeat([1, 1, 9, *[0] * 37], 2)
    weighted = [report(np.arange(40) % n != 0, sample_weight=weights) for n in (8, 2)]
    with pytest.raises(ValueError, match=r"got 3 of unequal weights, which count as 1\.46"):
        queries_needed(*weighted, metric="mrr", difference=0.1)
    # (1 + 9)^2 / (1 + 81) = 1.22
    weights = np.repeat([1, 9, *[0] * 38], 2)
    weighted = [report(np.arange(40) % n != 0, sample_weight=weights) for n in (8, 2)]
    with pytest.raises(ValueError, match=r"got 2 of unequal weights, which count as 1\.22"):
        queries_needed(*weighted, metric="mrr", difference=0.1)
    one = evaluate([1, 0], [1, 2], qid=[0, 0], metrics="mrr")
    with pytest.raises(ValueError, match=r"reports must have at least two queries with a value in both; got 1\.$"):
        queries_needed(one, one, metric="mrr", difference=0.1)
