import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import Ridge
from support.ranks import report_of_ranks

from skrank_metrics import QueryKFold, compare, cross_evaluate, evaluate, kendall_tau_distance, make_metric
from skrank_metrics.datasets import make_ranking

X, Y, QID = make_ranking(60, random_state=0)


def report(feature, rows=slice(None), metrics=("ndcg@10", "mrr"), **options):
    return evaluate(Y[rows], X[rows, feature], qid=QID[rows], metrics=metrics, **options)


@pytest.fixture(scope="module")
def reports():
    return {name: report(feature) for name, feature in (("first", 0), ("second", 1), ("noise", 9))}


def test_pairs_are_differences_query_by_query(reports):
    comparison = compare(reports, "mrr", random_state=0)
    assert comparison.names == ("first", "second", "noise")
    assert [(p.first, p.second) for p in comparison.pairs] == [
        ("first", "second"),
        ("first", "noise"),
        ("second", "noise"),
    ]
    for pair in comparison.pairs:
        one, other = reports[pair.first], reports[pair.second]
        differences = one.per_query["mrr"] - other.per_query["mrr"]
        np.testing.assert_allclose(pair.differences, differences, atol=1e-12)
        assert pair.difference == pytest.approx(one.mean["mrr"] - other.mean["mrr"])
        # Half an observation on either side, at the geometric mean of the bound, 1, and the largest difference.
        squares = (differences**2).sum() + 2 * abs(differences).max() / 2 - 61 * (differences.sum() / 61) ** 2
        half = stats.t.ppf(0.975, 60) * np.sqrt(squares / 60 / 61)
        assert pair.interval == pytest.approx((differences.sum() / 61 - half, differences.sum() / 61 + half))
        assert pair.effect_size == pytest.approx(differences.mean() / differences.std(ddof=1))
        expected = [(differences > 1e-9).sum(), (abs(differences) < 1e-9).sum(), (differences < -1e-9).sum()]
        assert [pair.wins, pair.ties, pair.losses] == expected
        assert pair.n_queries == 60
        assert pair.qid.tolist() == one.qid.tolist()


@pytest.mark.parametrize("test", ["permutation", "t", "wilcoxon"])
def test_p_values_are_near_those_of_scipy(reports, test):
    seed = {"random_state": 0} if test == "permutation" else {}
    pair = compare(reports, "ndcg@10", test=test, **seed).pairs[0]
    a, b = (reports[name].per_query["ndcg@10"] for name in ("first", "second"))
    if test == "permutation":
        expected = stats.permutation_test(
            (a - b,), np.mean, permutation_type="samples", vectorized=True, random_state=np.random.default_rng(1)
        ).pvalue
        assert pair.p_value == pytest.approx(expected, abs=4 * np.sqrt(2 * max(expected, 1e-4) / 9999))
    else:
        expected = (stats.ttest_rel if test == "t" else stats.wilcoxon)(a, b).pvalue
        assert pair.p_value == pytest.approx(expected, rel=1e-6)


def test_corrections_are_over_all_pairs(reports):
    raw = [pair.p_value for pair in compare(reports, test="t", correction=None).pairs]
    assert [pair.p_adjusted for pair in compare(reports, test="t", correction=None).pairs] == raw
    bh = [pair.p_adjusted for pair in compare(reports, test="t", correction="bh").pairs]
    assert bh == pytest.approx(stats.false_discovery_control(raw))
    smallest = int(np.argmin(raw))
    assert compare(reports, test="t").pairs[smallest].p_adjusted == pytest.approx(min(1, 3 * raw[smallest]))


def test_order_of_queries_does_not_matter(reports):
    rows = np.concatenate([np.flatnonzero(query == QID) for query in np.random.default_rng(0).permutation(60)])
    shuffled = report(1, rows)
    assert shuffled.qid.tolist() != reports["second"].qid.tolist()
    first, second = (compare([reports["first"], other], test="t").pairs[0] for other in (shuffled, reports["second"]))
    np.testing.assert_array_equal(first.differences, second.differences)


def test_swapped_reports_swap_all(reports):
    one = compare([reports["first"], reports["noise"]], test="t").pairs[0]
    two = compare([reports["noise"], reports["first"]], test="t").pairs[0]
    assert (two.difference, two.wins, two.ties, two.losses) == (-one.difference, one.losses, one.ties, one.wins)
    assert two.interval == pytest.approx((-one.interval[1], -one.interval[0]))
    assert two.effect_size == pytest.approx(-one.effect_size)
    assert two.p_value == one.p_value


def test_of_a_distance_the_smaller_wins():
    metrics = [kendall_tau_distance, "neg_kendall_tau_distance"]
    # A relevant document at rank r has r - 1 inversions: the differences are -1, -3, 2 and 0.
    reports = [report_of_ranks(ranks, metrics=metrics) for ranks in ([1, 1, 3, 2], [2, 4, 1, 2])]
    for name, sign in (("kendall_tau_distance", 1), ("neg_kendall_tau_distance", -1)):
        comparison = compare(reports, name)
        (pair,) = comparison.pairs
        assert (pair.differences * sign).tolist() == [-1, -3, 2, 0]
        assert pair.difference * sign == -1 / 2
        assert (pair.wins, pair.ties, pair.losses) == (2, 1, 1)
        assert comparison.greater_is_better == (sign < 0)


def test_queries_without_a_value_are_left_out():
    labels = np.where(QID < 7, 0, Y)
    reports = [evaluate(labels, X[:, f], qid=QID, metrics="mrr", replace_undefined_by=np.nan) for f in (0, 1)]
    (pair,) = compare(reports, "mrr").pairs
    assert pair.qid.tolist() == list(range(7, 60))
    assert pair.n_queries == len(pair.differences) == 53


def test_different_queries_are_refused_or_intersected(reports):
    fewer = report(1, QID >= 10)
    message = r"reports must be over the same queries; got 60 in '0' and 50 in '1', 50 of them in both\. Pass align="
    with pytest.raises(ValueError, match=message):
        compare([reports["first"], fewer])
    with pytest.raises(ValueError, match=r"got 60 in '1' and 50 in '0', 50 of them"):
        compare([fewer, reports["first"]])
    (pair,) = compare([reports["first"], fewer], align="intersection").pairs
    assert pair.qid.tolist() == list(range(10, 60))
    assert pair.difference == pytest.approx(report(0, QID >= 10).mean["ndcg@10"] - fewer.mean["ndcg@10"])


def test_queries_with_ids_of_other_types_have_none_in_common(reports):
    other = evaluate(Y, X[:, 1], qid=QID.astype(str))
    with pytest.raises(
        ValueError, match=r"reports must have a query in common; got none\. Check that their ids have the same"
    ):
        compare([reports["first"], other], align="intersection")
    with pytest.raises(ValueError, match=r"0 of them in both\. Check that their ids have the same type\.$"):
        compare([reports["first"], other])


def test_weights_have_to_be_the_same_and_those_of_a_permutation_test():
    weights = np.random.default_rng(0).uniform(1, 9, 60)[QID]
    one, other = (report(feature, sample_weight=weights) for feature in (0, 1))
    with pytest.raises(ValueError, match="test must be 'permutation' for weighted queries; got 't'"):
        compare([one, other], test="t")
    with pytest.raises(ValueError, match="reports must have the same weights; '0' and '1' differ"):
        compare([report(0), other])
    equal = [report(feature, sample_weight=np.ones(len(QID))) for feature in (0, 1)]
    p_values = [compare(two, random_state=3).pairs[0].p_value for two in (equal, [report(0), report(1)])]
    assert p_values[0] == p_values[1]


@pytest.mark.parametrize("size", [1e-300, 1e308])
def test_only_ratios_of_weights_count(size):
    weights = np.repeat([1.0, 0.5, 0, 0.25, 1, 1, 1, 1], 2)
    pairs = []
    for scale in (1, size):
        options = {"qid": np.repeat(range(8), 2), "metrics": "mrr", "sample_weight": scale * weights}
        first, second = (evaluate([1, 0] * 8, scores, **options) for scores in ([2, 1] * 8, [1, 2] * 6 + [2, 1] * 2))
        comparison = compare([first, second], "mrr")
        assert "Weighted by sample_weight, 1 query with weight 0." in str(comparison).splitlines()
        pairs += comparison.pairs
    # Five of seven queries differ, so 2 of 2^5 signs are as extreme.
    assert [pair.p_value for pair in pairs] == [2 / 2**5] * 2
    assert pairs[1].difference == pytest.approx((1 + 0.5 + 0.25 + 1 + 1) / 2 / 5.75)
    assert pairs[1].interval == pytest.approx(pairs[0].interval)


def test_a_p_value_at_the_level_is_significant_whatever_1_minus_the_confidence_rounds_to():
    labels, qid = [1, 0] * 20, np.repeat(range(20), 2)
    first, second = (evaluate(labels, scores, qid=qid, metrics="mrr") for scores in ([2, 1] * 20, [1, 2] * 20))
    comparison = compare([first, second], "mrr", confidence=0.9, n_resamples=9, random_state=0)
    assert comparison.pairs[0].p_value == 1 / 10 > 1 - 0.9
    assert len(comparison.significant()) == 1


def test_says_if_no_difference_could_be_significant(reports):
    labels, qid = [1, 0] * 5, np.repeat(range(5), 2)
    few = [evaluate(labels, scores, qid=qid, metrics="mrr") for scores in ([2, 1] * 5, [1, 2] * 5)]
    sentence = "No difference could be significant: p is at least {}. {}."
    for test in ("permutation", "wilcoxon"):  # 2 of the 2^5 signs
        text = " ".join(str(compare(few, "mrr", test=test)).split())
        assert sentence.format("0.0625", "Evaluate more queries") in text
    text = " ".join(str(compare(reports, "mrr", n_resamples=49)).split())
    assert sentence.format("0.0600 for 3 pairs", "Pass a larger n_resamples") in text  # 3 times 1/50
    for options in ({"n_resamples": 59}, {"n_resamples": 19, "correction": "bh"}, {"test": "t"}):
        assert "could be" not in str(compare(reports, "mrr", **options))


def test_one_query_has_no_interval_and_no_verdict():
    reports = [evaluate([1, 0], scores, qid=[0, 0], metrics="mrr") for scores in ([2, 1], [1, 2])]
    comparison = compare(reports, "mrr")
    assert np.isnan(comparison.pairs[0].interval).all()
    assert comparison.pairs[0].p_value == 1.0
    assert "none for fewer than two queries" in " ".join(str(comparison).split())
    assert np.isnan(comparison.pairs[0].effect_size)
    # Difference, interval, wins, ties, losses, effect size and p-values.
    assert "+0.5000 none 1 0 0 none 1.0000 1.0000" in " ".join(str(comparison).split())


def test_without_a_correction_nothing_is_called_adjusted(reports):
    comparison = compare(reports, "mrr", correction=None, random_state=0)
    text = str(comparison)
    assert "adjusted p" not in " ".join(text.split())
    assert "Adjusted" not in text
    assert comparison.to_frame()["p_adjusted"].tolist() == [pair.p_value for pair in comparison.pairs]
    assert "Adjusted: Benjamini-Hochberg, 3 pairs." in str(compare(reports, "mrr", correction="bh"))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"reports": []}, ValueError, "reports must hold at least two reports; got 0"),
        ({"reports": {"a": report(0)}}, ValueError, "at least two reports; got 1"),
        ({"reports": report(0)}, TypeError, "reports must be a dict or a sequence of reports; got RankingReport"),
        ({"reports": [report(0), 0.7]}, TypeError, "reports must hold RankingReport objects; got float for '1'"),
        (
            {"metric": "map"},
            ValueError,
            "metric 'map' is missing from report '0', which has 'ndcg@10', 'mrr'",
        ),
        ({"test": "z"}, ValueError, r"test must be one of \['permutation', 't', 'wilcoxon'\]; got 'z'"),
        ({"correction": "bonferroni"}, ValueError, "correction must be one of"),
        ({"align": "union"}, ValueError, "align must be one of"),
        ({"confidence": 95}, ValueError, r"confidence must be a number in \(0, 1\); got 95"),
        ({"n_resamples": 0}, ValueError, "n_resamples must be an int >= 1 or None; got 0"),
        ({"random_state": "seed"}, TypeError, "random_state must be an int from 0"),
        *(
            ({"test": test, **option}, ValueError, f"{next(iter(option))} must be left out unless test='permutation'")
            for test in ("t", "wilcoxon")
            for option in ({"n_resamples": 9999}, {"random_state": 0})
        ),
    ],
)
def test_bad_input(change, error, message):
    with pytest.raises(error, match=message):
        compare(**{"reports": [report(0), report(1)], **change})


def test_pooled_metrics_are_refused():
    pooled = [report(feature, metrics="recall(average=micro)@3") for feature in (0, 1)]
    with pytest.raises(ValueError, match="metric must be a mean over queries; got 'recall"):
        compare(pooled, "recall(average=micro)@3")


def test_metrics_of_the_same_name_have_to_be_the_same():
    plain = report(0)
    for options in ({"convention": "lightgbm"}, {"ties": "worst"}, {"replace_undefined_by": np.nan}):
        with pytest.raises(
            ValueError, match=r"reports must compute 'ndcg@10' in the same way; got ndcg@10 in '0' and ndcg\("
        ):
            compare([plain, report(1, **options)])
    functions = [make_metric(lambda labels, rank=rank: labels[rank], name="label") for rank in (0, -1)]
    one, other = (report(feature, metrics=function) for feature, function in enumerate(functions))
    with pytest.raises(ValueError, match=r"got label in '0' and label in '1', which are not the same function\."):
        compare([one, other], "label")
    spelled = report(1, ties="average", replace_undefined_by=0)
    assert compare([plain, spelled], test="t").pairs[0].difference == compare([plain, report(1)]).pairs[0].difference


def test_a_cross_evaluation_is_no_report():
    result = cross_evaluate(Ridge(), X, Y, qid=QID, cv=QueryKFold(2))
    with pytest.raises(TypeError, match=r"sequence of reports; got CrossEvaluation\. Pass its reports"):
        compare(result)


def test_no_query_with_a_value():
    reports = [evaluate([0, 0], s, qid=[0, 0], metrics="mrr", replace_undefined_by=np.nan) for s in ([1, 2], [2, 1])]
    with pytest.raises(ValueError, match="reports must have a query with a value in both; got none for '0' and '1'"):
        compare(reports, "mrr")


def test_reads_well_and_converts(reports):
    comparison = compare(reports, test="t")
    text = str(comparison)
    assert text.startswith("ndcg@10, 60 queries, paired t-test\nfirst - second\n")
    assert "\nSignificantly different at 0.05: first and noise, second and noise.\nQueries needed" in text
    assert [pair.second for pair in comparison.significant()] == ["noise", "noise"]
    assert "first - noise" in comparison._repr_html_()
    frame = comparison.to_frame()
    assert frame["p_adjusted"].tolist() == [pair.p_adjusted for pair in comparison.pairs]
    assert comparison.to_frame("polars")["low"].to_list() == [pair.interval[0] for pair in comparison.pairs]


def test_text_and_frame_show_the_attributes(reports):
    comparison = compare(reports, "mrr", test="t", confidence=0.9)
    _title, _head, *lines = str(comparison).splitlines()
    for pair in comparison.pairs:
        shown = lines[lines.index(f"{pair.first} - {pair.second}") + 1].split()
        low, high = pair.interval
        assert shown[:3] == [f"{pair.difference:+.4f}", f"[{low:+.4f},", f"{high:+.4f}]"]
        assert shown[3:7] == [str(pair.wins), str(pair.ties), str(pair.losses), f"{pair.effect_size:+.2f}"]
        assert shown[7:] == [f"{p:.4f}" if p >= 5e-5 else "<0.0001" for p in (pair.p_value, pair.p_adjusted)]
    assert "90% interval" in str(comparison)
    assert [chart.title for chart in comparison._charts()] == ["mrr: difference and its 90% interval"]
    frame = comparison.to_frame()
    names = ["first", "second", "difference", "low", "high", "wins", "ties", "losses", "effect_size"]
    assert list(frame) == [*names, "p_value", "p_adjusted", "n_queries"]
    for name in set(frame) - {"low", "high"}:
        assert frame[name].tolist() == [getattr(pair, name) for pair in comparison.pairs]
    assert list(zip(frame["low"], frame["high"], strict=True)) == [pair.interval for pair in comparison.pairs]


def test_refuses_reports_of_other_documents_or_labels():
    y, s, qid = np.array([1, 0, 2, 0, 1]), np.arange(5.0), np.array([1, 1, 2, 2, 2])
    ours = evaluate(y, s, qid=qid)
    with pytest.raises(
        ValueError,
        match=r"same documents .*; got 3 documents with labels 2, 1, 0 in 'ours' and 3 .* 1, 0, 0 in .* query 2\. Eval",
    ):
        compare({"ours": ours, "other": evaluate(np.array([1, 0, 1, 0, 0]), s, qid=qid)})
    with pytest.raises(ValueError, match=r"got 3 documents with .* and 2 documents with .* retrieved="):
        compare({"ours": ours, "other": evaluate(y[:-1], s[:-1], qid=qid[:-1])})
    other_order = [4, 1, 0, 3, 2]
    assert compare([ours, evaluate(y[other_order], s[other_order], qid=qid[other_order])]).pairs[0].difference == 0


def test_labels_are_compared_document_by_document():
    ours = evaluate([2, 0, 0, 1], [3, 2, 1, 0], qid=[7, 7, 7, 8], metrics="ndcg@10")
    other = evaluate([1, 1, 0, 1], [3, 2, 1, 0], qid=[7, 7, 7, 8], metrics="ndcg@10")
    with pytest.raises(
        ValueError, match=r"labels 2, 0, 0 in '0' and 3 documents with labels 1, 1, 0 in '1' for query 7"
    ):
        compare([ours, other])
    many = [evaluate([last] * 12, range(12), qid=[0] * 12, metrics="ndcg@10") for last in (1, 2)]
    with pytest.raises(ValueError, match=r"got 12 documents with labels 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, \.\.\. in '0'"):
        compare(many)


def test_queries_without_weight_do_not_count():
    labels, qid, weights = [1, 0] * 4, [0, 0, 1, 1, 2, 2, 3, 3], [1, 1, 0, 0, 2, 2, 1, 1]
    first = evaluate(labels, [2, 1] * 4, qid=qid, metrics="mrr", sample_weight=weights)
    second = evaluate(labels, [1, 2] * 3 + [2, 1], qid=qid, metrics="mrr", sample_weight=weights)
    (pair,) = compare([first, second], "mrr").pairs
    assert (pair.wins, pair.ties, pair.losses, pair.n_queries) == (2, 1, 0, 3)
    assert pair.qid.tolist() == [0, 2, 3]
    assert pair.difference == pytest.approx((1 * 0.5 + 2 * 0.5 + 1 * 0) / 4)


def test_equal_differences_are_not_t_tested():
    qid, labels = [0, 0, 1, 1, 2, 2], [1, 0] * 3
    one, other = (evaluate(labels, scores * 3, qid=qid, metrics=["mrr", "dcg"]) for scores in ([2, 1], [1, 2]))
    reports = {"one": one, "same": one, "other": other}
    comparison = compare(reports, "mrr", test="t")
    same, different, _ = comparison.pairs
    assert (same.p_value, same.p_adjusted) == (1, 1)
    assert np.isnan([different.p_value, different.p_adjusted]).all()
    # Three differences of 1/2, and half of one of sqrt(1/2) on either side: squares 3/4 + 1/2 - 4 (3/8)^2 = 11/16.
    assert different.interval == pytest.approx((3 / 8 - stats.t.ppf(0.975, 3) * np.sqrt(11 / 16 / 3 / 4), 1))
    assert comparison.significant() == []
    text = " ".join(str(comparison).split())
    # Difference, interval, wins, ties, losses, effect size and p-values.
    assert f"one - other +0.5000 [{different.interval[0]:+.4f}, +1.0000] 3 0 0 +inf none none" in text
    assert text.endswith("at 0.05: none. Not tested, since all differences are equal: one and other, same and other.")
    unbounded = compare(reports, "dcg", test="t")
    assert all(np.isnan(pair.interval).all() for pair in unbounded.pairs)
    assert "none for fewer than two queries with a value, or for an unbounded metric with equal values" in " ".join(
        str(unbounded).split()
    )


def test_interval_of_a_difference_respects_the_bounds():
    labels, qid = [1, *[0] * 9] * 12, np.repeat(range(12), 10)
    first, last = (evaluate(labels, sign * np.tile(range(10), 12), qid=qid, metrics="mrr") for sign in (-1, 1))
    (pair,) = compare([first, last], "mrr").pairs
    assert pair.difference == pytest.approx(1 - 1 / 10)
    # Twelve differences of 9/10, and half of one of sqrt(9/10) on either side; cut at 1.
    mean = 12 * 9 / 10 / 13
    half = stats.t.ppf(0.975, 12) * np.sqrt((12 * 81 / 100 + 9 / 10 - 13 * mean**2) / 12 / 13)
    assert mean + half > 1
    assert pair.interval == pytest.approx((mean - half, 1))


def test_undefined_queries_do_not_widen_the_interval_of_a_difference():
    labels, first, second = [[0, 0], [1, 0]] * 6, [[2, 1]] * 12, [[1, 2]] * 12
    intervals = [
        compare(
            [evaluate(labels, scores, metrics="mrr", replace_undefined_by=value) for scores in (first, second)], "mrr"
        )
        .pairs[0]
        .interval
        for value in (0, 1e6)
    ]
    assert intervals[0] == intervals[1]
