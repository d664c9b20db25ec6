"""compare: which reports can be compared, and what a Comparison says about them, against reports and by hand."""

import pickle
import uuid

import numpy as np
import pandas as pd
import pytest
from support.policies import with_policies
from support.ranks import N_DOCUMENTS, report_of_ranks
from support.shown import html_of, words

from skrank_metrics import compare, evaluate, evaluate_run, make_metric, mrr_score
from skrank_metrics.datasets import make_ranking
from skrank_metrics.decisions.comparison import Comparison
from skrank_metrics.decisions.plan import Plan
from skrank_metrics.reports import RankingReport
from skrank_metrics.reports.ranking_report import with_queries

X, Y, QID = make_ranking(60, random_state=0)


def report(feature, rows=slice(None), metrics=("ndcg@10", "mrr"), **options):
    given = with_policies(metrics, **options)
    return evaluate(Y[rows], X[rows, feature], qid=QID[rows], **given)


def of_ranks(ranks, of="mrr", **options):
    """Compare rankings given by the rank of the only relevant document of each query."""
    return compare(
        {name: report_of_ranks(own, metrics=of) for name, own in ranks.items()}, **options
    )


@pytest.fixture(scope="module")
def reports():
    return {"noise": report(9), "second": report(1), "first": report(0)}


# Pairs


def test_pairs_are_differences_query_by_query(reports):
    comparison = compare(reports)
    assert comparison.names == ("first", "second", "noise")
    assert comparison.metrics == ("ndcg@10", "mrr")
    assert compare(reports, [mrr_score, "ndcg@10", "mrr"]).metrics == ("mrr", "ndcg@10")
    for metric in comparison.metrics:
        view = comparison.by_metric(metric)
        assert view.means() == {name: reports[name].mean[metric] for name in view.names}
        for pair in view.pairs():
            one = reports[pair.first].per_query
            other = reports[pair.second].per_query
            expected = one[metric] - other[metric]
            np.testing.assert_allclose(pair.differences, expected, atol=1e-12)
            assert pair.qid.tolist() == comparison.qid.tolist()
            back = view.pair(pair.second, pair.first)
            assert back.p_value == pair.p_value
            assert back.difference == -pair.difference
            low, high = pair.interval
            assert back.interval == (-high, -low)


# Reciprocal ranks of the first minus the second: 1/2, -1/2, 0, 2/3, -1/6.
QUERIES = {
    "first": [1, 2, 1, 1, 3],
    "second": [2, 1, 1, 3, 2],
    "third": [6] * 5,
}


def test_reports_that_are_passed_apart_are_named():
    reports = of_ranks(QUERIES).reports
    with pytest.raises(TypeError, match=r"Pass several by name, compare\(\{"):
        compare(reports["first"], reports["second"])


def test_queries_that_the_first_loses_and_wins():
    comparison = of_ranks(QUERIES)
    worst = comparison.worst()
    best = comparison.best(1)
    assert [query.qid for query in worst] == [1, 4]
    values = [(query.first, query.second) for query in worst]
    assert values == [(1 / 2, 1), (1 / 3, 1 / 2)]
    differences = [query.difference for query in worst]
    assert differences == pytest.approx([-1 / 2, -1 / 6])
    assert best == [(3, 1, 1 / 3, pytest.approx(2 / 3))]
    assert comparison.best(3, first="second", second="first")[0] == (1, 1, 1 / 2, 1 / 2)
    assert comparison.worst(n=2, first="second", second="third") == []
    pair = comparison.pair()
    assert pair.first == "first"
    assert pair.second == "second"
    for own, name in zip(pair.values, ("first", "second"), strict=True):
        assert own.tolist() == [1 / rank for rank in QUERIES[name]]
    tied = of_ranks({"a": [1, 2] * 20, "b": [2, 1] * 20})
    best = [query.qid for query in tied.best(40)]
    assert best == list(range(0, 40, 2)), "equal ones in the order of the queries"
    shown = [query[0].qid for query in tied.inspect(40).queries]
    assert shown == list(range(40))
    for select in (comparison.worst, comparison.best):
        with pytest.raises(ValueError, match="n must be an int >= 1; got 0"):
            select(0)
        with pytest.raises(
            ValueError,
            match="first and second must be two of first, second, third; got 'first' and",
        ):
            select(1, "first", "x")
        with pytest.raises(ValueError, match=r"must be two of .*; got 'third' and None"):
            select(1, "third")
    for select in (comparison.pair, comparison.inspect):
        with pytest.raises(ValueError, match=r"must be two of .*; got None and 'third'"):
            select(second="third")


# Queries and documents that belong together


def test_different_queries_are_refused(reports):
    fewer = report(1, QID >= 10)
    other = evaluate(Y, X[:, 1], qid=QID.astype(str))
    got = r"got 60 in '0' and 50 in '1', 50 of them in both\."
    message = f"reports must be over the same queries; {got} Evaluate all on"
    with pytest.raises(ValueError, match=message):
        compare([reports["first"], fewer])
    with pytest.raises(ValueError, match="got 50 in '0' and 60 in '1', 50 of them"):
        compare([fewer, reports["first"]])
    with pytest.raises(
        ValueError, match=r"0 of them in both\. Evaluate all on the same queries, with"
    ):
        compare([reports["first"], other], "ndcg@10")


def test_refuses_reports_of_other_documents_or_labels():
    y = np.array([1, 0, 2, 0, 1])
    s = np.arange(5.0)
    qid = np.array([1, 1, 2, 2, 2])
    ours = evaluate(y, s, qid=qid)
    message = (
        r"same documents with the same labels; 'ours' and 'other' differ in query 2\. .* retrieved="
    )
    for other in (evaluate([1, 0, 1, 0, 0], s, qid=qid), evaluate(y[:-1], s[:-1], qid=qid[:-1])):
        with pytest.raises(ValueError, match=message):
            compare({"ours": ours, "other": other})
    order = [4, 1, 0, 3, 2]
    reordered = evaluate(y[order], s[order], qid=qid[order])
    assert compare([ours, reordered]).pair().difference == 0


def test_documents_that_were_not_returned_or_judged_do_not_matter():
    # The first system did not return one judged document; the second returned one that nobody judged.
    first = evaluate(
        [1, 0, 1], [3, 2, 1], qid=[0, 0, 0], metrics="mrr", retrieved=[True, True, False]
    )
    second = evaluate(
        [1, 0, 1, 0], [3, 2, 1, 9], qid=[0] * 4, metrics="mrr", judged=[True, True, True, False]
    )
    assert compare([first, second]).pair().difference == 1 - 1 / 2


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"reports": []}, ValueError, "reports must hold at least two reports; got 0"),
        ({"reports": {"a": report(0)}}, ValueError, "at least two reports; got 1"),
        (
            {"reports": report(0)},
            TypeError,
            "must be a dict or a sequence of reports; got RankingReport",
        ),
        (
            {"reports": [report(0), 0.7]},
            TypeError,
            r"reports must hold RankingReport objects, .* RankingReport.from_frame; got float for '1'",
        ),
        (
            {"reports": {1: report(0), "1": report(1)}},
            ValueError,
            "different names; got '1' more than once",
        ),
        (
            {"metrics": "map"},
            ValueError,
            "metric 'map' is missing from report '0', which has ndcg@10, mrr",
        ),
        ({"metrics": []}, ValueError, "metrics must name a metric that all reports have"),
        (
            {"reports": [report(0), report(0, metrics="map")]},
            ValueError,
            "metrics must name a metric that all reports have",
        ),
        ({"baseline": "x"}, ValueError, r"baseline must be one of \['0', '1'\]; got 'x'"),
        ({"margin": -1}, ValueError, r"margin must be a number in \[0, inf\) or None; got -1"),
        ({"margin": 0.1}, ValueError, "margin needs a baseline, .* Pass baseline=, the name of"),
        (
            {"confidence": 95},
            ValueError,
            r"confidence must be a number in \[0\.01, 0\.9999\]; got 95",
        ),
        ({"confidence": 1e-16}, ValueError, r"confidence must be a number in .*; got 1e-16"),
        ({"confidence": 1 - 1e-16}, ValueError, r"confidence must be a number in .*; got 0.99999"),
        ({"random_state": "seed"}, TypeError, "random_state must be an int >= 0"),
        (
            {"by": "country"},
            TypeError,
            r"by got the text 'country'\. Pass the column, df\['country'\]",
        ),
        ({"by": np.arange(len(Y))}, ValueError, "by must be constant within a query"),
        (
            {"groups": np.zeros(7)},
            ValueError,
            r"groups must hold one value per query, 60 in all, or per document, .* got shapes \[\(7,\)\]",
        ),
    ],
)
def test_bad_input(change, error, message):
    with pytest.raises(error, match=message):
        compare(**{"reports": [report(0), report(1)], **change})


def test_metrics_of_the_same_name_have_to_be_the_same():
    plain = report(0)
    message = r"reports must compute 'ndcg@10' in the same way; got ndcg@10 in '0' and ndcg\("
    for options in (
        {"convention": "lightgbm"},
        {"ties": "worst"},
        {"replace_undefined_by": np.nan},
    ):
        with pytest.raises(ValueError, match=message):
            compare([plain, report(1, **options)])
    functions = [
        make_metric(lambda labels, rank=rank: labels[rank], name="label") for rank in (0, -1)
    ]
    one, other = (report(feature, metrics=function) for feature, function in enumerate(functions))
    with pytest.raises(
        ValueError, match=r"got label in '0' and label in '1'\. Evaluate with the same function"
    ):
        compare([one, other], "label")
    frame = report(0, metrics="mrr").to_frame()
    median = RankingReport.from_frame(frame, metrics={"mrr": "mrr(average=median)"})
    whole, condensed = (
        report(0, judged=np.arange(len(Y)) % 3 > 0, condense=condense) for condense in (False, True)
    )
    for pair in ([RankingReport.from_frame(frame), median], [whole, condensed]):
        with pytest.raises(ValueError, match="in the same way; got"):
            compare(pair)
    spelled = report(1, metrics="NDCG@10", ties="average", replace_undefined_by=0)
    one, other = (compare([plain, second]).pair() for second in (spelled, report(1)))
    assert one.difference == pytest.approx(other.difference, rel=1e-12)


def test_metrics_that_are_no_means_over_queries():
    name = "recall(average=micro)@3"
    reports = [report(feature, metrics=["mrr", name]) for feature in (0, 1)]
    comparison = compare(reports, by=np.arange(60) % 2)
    view = comparison.by_metric(name)
    assert comparison.tested
    assert not view.tested
    assert all(part.metrics == ("mrr",) for part in comparison.slices.values())
    assert view.means() == {n: r.mean[name] for n, r in comparison.reports.items()}
    assert {one.status for one in view.standings()} == {""}
    with pytest.raises(ValueError, match="metric must be a mean over queries; got 'recall"):
        view.pairs()
    assert f"{name} status" not in comparison.to_frame()
    pooled = compare(comparison.reports, name)
    both = compare(comparison.reports, [name, "mrr"])
    assert list(both.slices) == [0, 1]
    assert all(part.metrics == ("mrr",) for part in both.slices.values())
    sentence = f"highest by {name}. This is no mean over queries, so nothing is tested."
    assert pooled.verdict == f"{pooled.names[0]} scores {sentence}"
    equal = compare([reports[0], reports[0]], name)
    assert equal.verdict == f"0 and 1 score {sentence}"
    assert str(pooled).count("\n") > 3
    assert "mrr" in str(both), "only the second can be tested"


# Queries that do not count, or not in full


def test_weights_are_those_of_all_reports():
    ranks = [1, 2, 0, 3]
    weights = np.array([3, 1, 2, 0])
    first = report_of_ranks(ranks, weights=weights)
    message = r"the same weights; '0' and '1' differ\. Evaluate with the same sample_weight\."
    with pytest.raises(ValueError, match=message):
        compare([first, report_of_ranks(ranks, weights=weights + 1)])
    said = "Weighted by sample_weight, 1 query with weight 0."
    assert said in words(compare([first, first]).details())
    all_count = report_of_ranks(ranks, weights=weights + 1)
    assert "Weighted by sample_weight." in words(compare([all_count, all_count]).details())


def test_queries_without_a_value_in_one_ranking_are_left_out_for_all():
    values = {}
    for seed, name in enumerate("abc"):
        values[name] = np.random.default_rng(seed).random(20)
    values["b"][:2] = np.nan
    reports = {
        n: RankingReport.from_frame(pd.DataFrame({"qid": range(20), "judge": v}))
        for n, v in values.items()
    }
    comparison = compare(reports)
    assert {len(pair.qid) for pair in comparison.pairs()} == {18}
    for name, mean in comparison.means().items():
        assert mean == pytest.approx(values[name][2:].mean())
    assert list(comparison.names) == sorted(values, key=lambda name: -values[name][2:].mean())
    assert "2 queries have no value of judge in some ranking and are left out." in words(comparison)
    none = [
        evaluate([0, 0], s, qid=[0, 0], metrics="mrr(replace_undefined_by=nan)")
        for s in ([1, 2], [2, 1])
    ]
    with pytest.raises(
        ValueError,
        match=r"must have a query .* a value of 'mrr.*' in every ranking; got none among 1",
    ):
        compare(none)


def test_groups_flip_together():
    users = np.arange(24) // 4
    plain, grouped = (
        of_ranks({"a": [1] * 24, "b": [2] * 24}, groups=groups) for groups in (None, users)
    )
    # Six users, who all prefer the first: 2 of 2^6 signs.
    assert grouped.pair().p_value == 2 / 2**6
    assert plain.pair().p_value < 0.001
    assert " in 6 groups " in words(grouped)
    by_report = [
        report_of_ranks([rank] * 24, groups=np.repeat(users, N_DOCUMENTS)) for rank in (1, 2)
    ]
    assert compare(by_report).pair().p_value == 2 / 2**6
    alone = report_of_ranks([2] * 24)
    other = report_of_ranks([2] * 24, groups=np.repeat(users[::-1], N_DOCUMENTS))
    for second in (alone, other):
        with pytest.raises(
            ValueError, match=r"have the same groups; '0' and '1' differ.* pass groups to compare\."
        ):
            compare([by_report[0], second])
    assert compare([by_report[0], alone], groups=users).pair().p_value == 2 / 2**6


def test_reports_with_slices_of_their_own():
    one, other = (report(0, by=QID % n) for n in (2, 3))
    with pytest.raises(
        ValueError,
        match=r"have the same by; '0' and '1' differ\. .* same by, or pass by to compare\.",
    ):
        compare([one, other])
    for reports in ([one, report(1)], [report(1), one]):
        assert compare(reports).slices == {}, "not all have slices"
    assert list(compare([one, other], by=QID % 4).slices) == [0, 1, 2, 3]


# What is said about them

ALWAYS = [1] * 40
OFTEN = [1, 1, 1, 2] * 10
RARELY = [3] * 40
# In folds 0 to 3 of 10 queries, "a" has 1, 1/2, 1, 1/2 and "b" has 1/2, 1, 1, 1.
IN_FOLDS = {
    "a": [1, 2] * 20,
    "b": [2, 1, 1, 1] * 10,
    "c": [3] * 40,
}


def test_the_best_set_the_verdict_and_regret():
    comparison = of_ranks({"rarely": RARELY, "always": ALWAYS, "often": OFTEN})
    assert comparison.best_set == ("always",)
    assert comparison.verdict.startswith("always is better than often and rarely (95% confidence).")
    assert comparison.regret["always"] == 0
    assert [one.status for one in comparison.standings()] == ["best", "worse", "worse"]
    assert comparison.letters == {"always": "a", "often": "b", "rarely": "c"}
    lead, second, third = comparison.standings()
    assert lead.reference == ""
    assert np.isnan([lead.difference, *lead.interval]).all(), "a ranking minus itself"
    assert second.interval[1] < 0
    assert third.interval[1] < 0
    assert second.difference == pytest.approx(-1 / 8)
    assert comparison.regret["rarely"] > 2 / 3 - 1e-9, "at least what was seen"


def test_verdicts_of_several_that_may_be_the_best():
    almost = [1] * 39 + [2]
    same = of_ranks({"a": ALWAYS, "b": almost, "c": RARELY, "d": RARELY})
    assert same.verdict.startswith("a scores highest; b may be as good; c and d are worse.")
    assert 1 / 80 < same.regret["a"] < 0.2, "b differs in one query, and could be better in others"
    five = of_ranks({"a": [1] * 5, "b": [3] * 5})
    assert five.verdict.startswith("No verdict: the rankings differ on 5 queries, and at least 6")
    three = of_ranks({"a": [1] * 4, "b": [3] * 4, "c": [4] * 4})
    assert three.verdict.startswith("No verdict: the rankings differ on at most 4 queries")
    twins = of_ranks({"a": OFTEN, "b": OFTEN, "c": RARELY})
    assert twins.verdict.startswith("a and b score highest, the same on every query; c is worse.")
    ranks = {f"m{i}": ALWAYS for i in range(6)}
    many = of_ranks(ranks | {"bad": RARELY})
    assert many.verdict.startswith("m0 and 5 others score highest, the same on every query; bad is")


def test_at_exactly_the_level_rankings_differ():
    found = of_ranks({"a": [1] * 6, "b": [2] * 6}, confidence=1 - 2 / 2**6)
    assert found.letters == {"a": "a", "b": "b"}
    assert compare(list(found.reports.values()), baseline=1).plan.baseline == "1"


def test_levels_are_decimals():
    # 1 - 0.9 is less than 0.1, and p-values of random signs can be exactly 0.1.
    confidences = [0.7, 0.8, 0.9, 0.95, 0.99, 0.999]
    levels = [Plan(confidence=confidence).level for confidence in confidences]
    assert levels == [0.3, 0.2, 0.1, 0.05, 0.01, 0.001]


def test_a_baseline_makes_a_family_of_its_own():
    like = [2] * 115 + [1, 3, 1, 3, 1]
    ranks = {
        "old": [2] * 120,
        "better": [1] * 120,
        "worse": [3] * 120,
        "like": like,
    }
    comparison = of_ranks(ranks, baseline="old")
    known = "better is better than old; like is undecided; worse is worse (95% confidence)."
    assert comparison.verdict.startswith(known)
    outside = comparison.pair("better", "worse")
    assert np.isnan([outside.p_adjusted, *outside.interval]).all(), "not in the family"
    gate = of_ranks(ranks, baseline="old", margin=0.1)
    assert gate.decisions == {"better": "ship", "like": "ship", "worse": "do not ship"}
    assert gate.pair("like", "old").verdict == "equivalent"


def test_random_states(reports):
    def p_values(**options):
        return [(p.p_value, p.p_adjusted, p.interval) for p in compare(reports, **options).pairs()]

    plain = p_values()
    assert p_values() == plain, "the default is reproducible"
    other, again = (p_values(random_state=np.random.default_rng(3)) for _ in range(2))
    assert other == again != plain


def test_p_values_do_not_depend_on_orders_or_on_what_was_printed():
    weights = np.where(QID % 3, 1.0, 2.5)
    groups = QID // 2

    def compared(features, rows):
        options = {"sample_weight": weights[rows], "groups": groups[rows]}
        return compare(
            {name: report(feature, rows, **options) for name, feature in features.items()}
        )

    features = {"noise": 9, "second": 1, "first": 0}
    rows = np.arange(len(QID))
    shuffled = np.concatenate(
        [np.flatnonzero(query == QID) for query in np.random.default_rng(0).permutation(60)]
    )
    backwards = dict(reversed(features.items()))
    one = compared(features, rows)
    other = compared(backwards, shuffled)
    str(other)
    other.by_metric("mrr").pairs()
    for pair in one.pairs():
        same = other.pair(pair.first, pair.second)
        assert same.p_value == pair.p_value
        assert same.p_adjusted == pair.p_adjusted
        assert same.interval == pytest.approx(pair.interval)
    assert one.regret == pytest.approx(other.regret)


# Slices


COUNTRY = np.where(np.arange(60) % 3 == 0, "de", "fr")


@pytest.mark.parametrize("per", ["document", "query", "report"])
def test_slices_are_tested_together(reports, per):
    country = COUNTRY[QID]
    options = {}
    if per == "report":
        features = {"noise": 9, "second": 1, "first": 0}
        reports = {name: report(feature, by=country) for name, feature in features.items()}
    else:
        options["by"] = country if per == "document" else COUNTRY
    comparison = compare(reports, "mrr", **options)
    assert list(comparison.slices) == ["de", "fr"]
    for value, part in comparison.slices.items():
        assert part.qid.tolist() == np.flatnonzero(value == COUNTRY).tolist()
        alone = compare(part.reports, "mrr")
        for one in part.pairs():
            other = alone.pair(one.first, one.second)
            assert one.difference == other.difference
            assert one.p_adjusted >= other.p_adjusted
    heads, *rows = html_of(comparison)[0][-1]
    assert heads == ["slice", "queries", *comparison.names, "may be best"]
    for row, (value, part) in zip(rows, comparison.slices.items(), strict=True):
        means = [f"{part.means()[name]:.4f}" for name in comparison.names]
        assert row[:-1] == [value, str(part.n_queries), *means]
        is_any = len(part.best_set) == len(part.names)
        assert row[-1].startswith("any" if is_any else part.best_set[0])


def test_many_rankings_show_the_mean_of_the_leader_in_each_slice():
    is_rare = np.arange(60) < 12
    ranks = {f"m{i}": np.full(60, 2) for i in range(5)}
    ranks["specialist"] = np.where(is_rare, 1, 4)
    comparison = of_ranks(ranks, by=np.where(is_rare, "rare", "usual"))
    assert comparison.names[-1] == "specialist"
    heads, rare, usual = html_of(comparison)[0][-1]
    assert heads == ["slice", "queries", comparison.names[0], "may be best"]
    assert rare == ["rare", "12", "0.5000", "specialist"]
    assert usual[:3] == ["usual", "48", "0.5000"]


def test_documents_of_a_slice_of_a_report_whose_queries_are_in_another_order():
    reports = {"one": report(0), "other": report(1, rows=np.argsort(-QID, kind="stable"))}
    part = compare(reports, by=np.arange(60) % 2).slices[1]
    for query in part.qid[[0, 7]].tolist():
        ((shown,),) = part.reports["other"].inspect(query).queries
        assert shown.columns["score"][0] == X[query == QID, 1].max()


def test_slices_keep_one_order_of_rankings_by_every_metric():
    slices = ["x", "y"] * 20
    lead = np.tile([0.1, -0.1], 20)
    values = np.random.default_rng(0).uniform(0.2, 0.5, 40)
    columns = {"qid": np.arange(40), "by": slices}
    reports = {
        "one": RankingReport.from_frame({**columns, "map": values + 0.2, "mrr": values + lead}),
        "other": RankingReport.from_frame({**columns, "map": values, "mrr": values}),
    }
    parts = compare(reports).slices
    assert [part.by_metric("mrr").outcome().ranked[0] for part in parts.values()] == [
        "one",
        "other",
    ]
    for part in parts.values():
        assert part.names == part.by_metric("mrr").names == ("one", "other")


@pytest.mark.parametrize("names", [("first", "second"), ("second", "first")])
def test_each_slice_has_its_own_order_beside_a_baseline(names):
    split, alike = names
    random = np.random.default_rng(0)
    noise = random.normal(0, 0.05, (3, 60))
    # In one slice, the baseline is between the others; in the other, both are better.
    leads = {"base": [0.0, 0.0], "up": [0.2, 0.2], "down": [-0.2, 0.2]}
    columns = {"qid": np.arange(60), "by": np.repeat([split, alike], 30)}
    reports = {}
    for number, (name, lead) in enumerate(leads.items()):
        values = 0.5 + np.repeat(lead, 30) + noise[number]
        reports[name] = RankingReport.from_frame({**columns, "mrr": values})
    slices = compare(reports, baseline="base").slices
    statuses = [{row.name: row.status for row in slices[value].standings()} for value in names]
    assert statuses[names.index(split)] == {"up": "better", "base": "baseline", "down": "worse"}
    assert statuses[names.index(alike)] == {"up": "better", "down": "better", "base": "baseline"}


def test_many_slices_many_rankings_and_slices_without_values():
    ranks = {}
    for i in range(6):
        ranks[f"m{i}"] = np.random.default_rng(i).integers(1, 5, 50)
    text = words(of_ranks(ranks, by=np.arange(50) // 2))
    assert "25 more slices, any may be the best; .slices has all." in text
    ranks = {
        "a": [1, 2, 1, 2, 0, 0],
        "b": [2, 1, 1, 1, 0, 0],
    }
    two = {name: report_of_ranks(own, replace_undefined_by=np.nan) for name, own in ranks.items()}
    comparison = compare(two, by=["a", "a", "b", "b", "c", "c"])
    assert list(comparison.slices) == ["a", "b"]
    assert [one.status for one in comparison.slices["a"].standings()] == ["highest", "highest"]
    columns = {
        "qid": range(4),
        "mrr": [1, 0.5, 1, 0.5],
        "judge": [1, 2, np.nan, np.nan],
    }
    reports = [RankingReport.from_frame(columns)] * 2
    part = compare(reports, by=["a", "a", "b", "b"])
    assert list(part.slices) == ["a", "b"]
    assert part.slices["b"].metrics == ("mrr",), "judge has no value in b"
    assert list(part.by_metric("judge").slices) == ["a"]


# Planning


def test_queries_needed():
    random = np.random.default_rng(0)
    comparison = of_ranks({name: random.integers(1, 4, 200) for name in "abc"})
    needed = comparison.queries_needed(0.05)
    assert comparison.queries_needed(0.05, power=0.95) > needed
    first, second, third = comparison.names
    assert comparison.queries_needed(0.05, first=second, second=third) != needed
    spread = comparison.pair().differences.std(ddof=1)
    best_two = [comparison.reports[first], comparison.reports[second]]
    plain = compare(best_two).queries_needed(0.05)
    expected = (1.96 + 0.8416) ** 2 * spread**2 / 0.05**2
    assert plain == pytest.approx(expected, rel=0.02)
    assert needed > plain, "three comparisons instead of one"
    expected = 0.05 * np.sqrt(needed / 200)
    assert comparison.detectable == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(("n_changed", "is_known"), [(5, False), (6, True)])
def test_what_a_test_cannot_reject_is_not_promised(n_changed, is_known):
    # At 0.05, two of 2^5 vectors of signs are too many, and two of 2^6 are not.
    first = [5] + [1] * 19
    second = [1, 2, 3, 4, 2, 3][:n_changed] + [1] * (20 - n_changed)
    comparison = of_ranks({"first": first, "second": second})
    assert np.isnan(comparison.detectable) != is_known
    assert ("usually detect" in str(comparison)) == is_known


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"difference": 5}, "difference must be at most 1, the range of mrr; got 5"),
        ({"difference": 0}, r"difference must be a number in \(0, inf\); got 0"),
        ({"difference": 0.1, "power": 1}, r"power must be a number in \(0, 1\); got 1"),
        ({"difference": 0.1}, "all 5 differences are equal"),
    ],
)
def test_what_cannot_be_planned(options, message):
    with pytest.raises(ValueError, match=message):
        of_ranks({"a": [1] * 5, "b": [2] * 5}).queries_needed(**options)


def test_a_plan_from_few_differences_is_uncertain():
    ranks = {"a": [1] * 50, "b": [1] * 48 + [2] * 2}
    few = of_ranks(ranks)
    message = "Only 2 queries of a and b differ, so .* queries needed is uncertain"
    with pytest.warns(UserWarning, match=message):
        few.queries_needed(0.1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "sparse", "skewed"])
def test_power_of_queries_needed(kind):
    random = np.random.default_rng(0)
    detected = []
    draw = {
        "normal": lambda n: random.normal(0, 0.1, n),
        "sparse": lambda n: (random.random(n) < 0.3) * random.choice([-0.2, 0.2], n),
        "skewed": lambda n: random.exponential(0.1, n) - 0.1,
    }[kind]

    def of_differences(d):
        reports = []
        for values in (d / 2, -d / 2):
            columns = {"qid": np.arange(len(d)), "judge": values}
            reports.append(RankingReport.from_frame(columns))
        return compare(reports)

    for _ in range(80):
        n = of_differences(draw(200)).queries_needed(0.02)
        detected.append(of_differences(draw(n) + 0.02).pair().p_value <= 0.05)
    assert 0.7 <= np.mean(detected) <= 0.88


# Out of fold


def in_folds(reports, folds):
    return {name: with_queries(report, folds=folds) for name, report in reports.items()}


def test_folds_stay_with_reports():
    numbers = np.arange(40)
    of_fold = numbers % 4
    plain = of_ranks(IN_FOLDS).reports
    fitted = in_folds(plain, of_fold)
    first = compare(fitted, by=numbers % 3)
    in_reverse = dict(reversed(first.reports.items()))
    again = compare(in_reverse, random_state=0)
    assert again.folds.tolist() == of_fold.tolist()
    assert str(again) == str(first)
    assert first.slices[1].folds.tolist() == of_fold[1::3].tolist()
    # A ranking that was not fitted has no folds of its own.
    some = compare({**fitted, "b": plain["b"]})
    assert some.pair("b", "a").interval == first.pair("b", "a").interval
    in_others = with_queries(plain["b"], folds=of_fold[::-1])
    other = {**first.reports, "b": in_others}
    with pytest.raises(ValueError, match="tested in the same folds; 'a' and 'b' differ"):
        compare(dict(sorted(other.items())))


def test_a_comparison_is_decided_again(reports):
    first = compare(reports, by=np.arange(60) % 2)
    gate = compare(first, "mrr", baseline="noise", margin=0.3, confidence=0.8, random_state=2)
    direct = compare(
        reports,
        "mrr",
        baseline="noise",
        margin=0.3,
        confidence=0.8,
        random_state=2,
        by=np.arange(60) % 2,
    )
    assert str(gate) == str(direct)
    assert gate.metrics == ("mrr",)
    assert gate.plan == Plan("noise", 0.3, 0.8, 2)
    assert compare(first).metrics == first.metrics
    assert str(first) == str(compare(reports, by=np.arange(60) % 2)), "the first is unchanged"
    sliced = compare(first, by=np.arange(60) % 3, groups=np.arange(60) // 2)
    assert list(sliced.slices) == [0, 1, 2]
    assert len(set(sliced.reports["noise"].groups.tolist())) == 30
    with pytest.raises(ValueError, match="baseline must be one of"):
        compare(first, baseline="x")
    with pytest.raises(ValueError, match="metrics must name a metric that all reports have"):
        compare(first, [])


def test_folds_are_won_by_weighted_means():
    columns = {"qid": np.arange(4), "weight": [9.0, 1.0, 1.0, 1.0]}
    reports = {
        "one": RankingReport.from_frame({**columns, "mrr": [0.5, 0.1, 0.5, 0.5]}),
        "other": RankingReport.from_frame({**columns, "mrr": [0.4, 0.9, 0.4, 0.4]}),
    }
    # In the first fold, (9 * 0.5 + 0.1) / 10 is more than (9 * 0.4 + 0.9) / 10.
    comparison = compare(in_folds(reports, np.array([0, 0, 1, 1])))
    assert comparison.folds_won == {"one": 2, "other": 0}


def test_folds_are_won_and_widen_intervals():
    plain = of_ranks(IN_FOLDS)
    comparison = compare(in_folds(plain.reports, np.arange(40) % 4))
    assert comparison.folds_won == {"b": 2, "a": 1, "c": 0}, "nobody wins a tie"
    assert plain.folds_won == {}
    assert comparison.pair("b", "a").p_value > plain.pair("b", "a").p_value
    assert (
        "b is best in 2 of 4 folds. The intervals allow for training on other data. Results vary"
        in words(comparison)
    )
    assert comparison.detectable > plain.detectable
    # A further query, which has no value.
    ids = np.arange(-1, 40)
    reports = {}
    for name, ranks in IN_FOLDS.items():
        reports[name] = report_of_ranks([0, *ranks], ids, replace_undefined_by=np.nan)
    undefined = compare(in_folds(reports, ids % 4))
    assert undefined.folds_won == comparison.folds_won
    expected = comparison.pair("b", "a").interval
    assert undefined.pair("b", "a").interval == pytest.approx(expected)
    assert undefined.queries_needed(0.1) == comparison.queries_needed(0.1)


# Text, frames, pages, files


def test_frames_of_pairs_and_slices(reports):
    comparison = compare(reports, by=np.arange(60) % 2)
    frame = comparison.to_frame("polars", pairs=True)
    expected = []
    for metric in comparison.metrics:
        view = comparison.by_metric(metric)
        expected += [view.pair(pair.first, pair.second) for pair in comparison.pairs()]
    same = ("metric", "first", "second", "difference", "p_value", "p_adjusted", "wins", "verdict")
    for name in same:
        assert frame[name].to_list() == [getattr(pair, name) for pair in expected]
    assert frame["high"].to_list() == [pair.interval[1] for pair in expected]
    of_slice = comparison.slices[0]
    means = of_slice.by_metric("mrr").means()
    assert of_slice.to_frame()["mrr"].tolist() == [means[name] for name in comparison.names]


def test_slices_of_reports_with_queries_in_different_orders():
    of_query = np.array(list("xyyz"))
    one = report_of_ranks([1, 2, 1, 3], by=np.repeat(of_query, N_DOCUMENTS))
    other = report_of_ranks(
        [2, 3, 1, 1], ids=[3, 1, 2, 0], by=np.repeat(of_query[[3, 1, 2, 0]], N_DOCUMENTS)
    )
    slices = compare([one, other]).slices
    assert {name: part.qid.tolist() for name, part in slices.items()} == {
        "x": [0],
        "y": [1, 2],
        "z": [3],
    }


def test_findings_of_reports_with_queries_in_other_orders(tmp_path):
    qrels = {0: {"a": 1}, 1: {"a": 1}, 2: {"b": 1}}
    here, there = ({query: qrels[query] for query in order} for order in ((0, 1, 2), (2, 0, 1)))
    run = {0: {"a": 1.0, "b": 1.0}, 2: {"b": 1.0}}
    whole, turned = (evaluate_run(own, run, "mrr") for own in (here, there))
    turned.save(tmp_path / "report.json")
    loaded = RankingReport.load(tmp_path / "report.json")
    for other in (turned, loaded):
        found = compare({"whole": whole, "other": other}).reports["other"]
        assert found.qid.tolist() == [0, 1, 2]
        assert found.health.findings == turned.health.findings
        assert any("1 query (1) is not in the run" in finding for finding in found.health.findings)


def test_repr_and_construction_compute_nothing(reports):
    comparison = compare(reports, by=np.arange(60) % 2)
    assert repr(comparison) == "<Comparison: 3 rankings by ndcg@10, mrr, 60 queries>"
    assert not comparison._outcomes
    assert "slices" not in vars(comparison)


def test_saved_and_pickled(reports, tmp_path):
    options = {
        "baseline": "noise",
        "confidence": 0.8,
        "random_state": 7,
    }
    comparison = compare(
        reports, margin=np.float32(0.01), by=np.arange(60) % 2, groups=np.arange(60) // 3, **options
    )
    comparison.save(path=tmp_path / "comparison.json")
    for other in (
        Comparison.load(path=tmp_path / "comparison.json"),
        pickle.loads(pickle.dumps(comparison)),
    ):
        assert str(other) == str(comparison)
        assert other.slices[0].to_frame().equals(comparison.slices[0].to_frame())
        assert other.plan == Plan(margin=float(np.float32(0.01)), **options)
    part = comparison.slices[1]
    assert str(pickle.loads(pickle.dumps(part))) == str(part)
    reports["first"].save(tmp_path / "report.json")
    with pytest.raises(ValueError, match="is not a saved comparison"):
        Comparison.load(tmp_path / "report.json")


def test_p_values_do_not_depend_on_the_order_of_queries_of_any_type():
    rng = np.random.default_rng(0)
    values = rng.random((2, 40))
    order = rng.permutation(40)
    for ids in (
        [uuid.UUID(int=n) for n in range(40)],
        [10**30 + n for n in range(40)],
        [(10**30 + n, "a") for n in range(40)],
    ):
        qid = np.fromiter(ids, dtype=object, count=40)
        p = {
            compare(
                [RankingReport.from_frame({"qid": qid[rows], "mrr": own[rows]}) for own in values]
            )
            .pair()
            .p_value
            for rows in (np.arange(40), np.arange(40)[::-1], order)
        }
        assert len(p) == 1
