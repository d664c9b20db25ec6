"""Comparisons by slice, by several metrics and of many rankings, and the queries behind them."""

import numpy as np
import pytest
from support.ranks import report_of_ranks
from support.shown import html_of

from skrank_metrics import Comparisons, compare, evaluate, kendall_tau_distance
from skrank_metrics.datasets import make_ranking

X, Y, QID = make_ranking(60, random_state=0)


def report(feature, rows=slice(None), metrics=("ndcg@10", "mrr"), **options):
    return evaluate(Y[rows], X[rows, feature], qid=QID[rows], metrics=metrics, **options)


@pytest.fixture(scope="module")
def reports():
    return {name: report(feature) for name, feature in (("first", 0), ("second", 1), ("noise", 9))}


@pytest.mark.option("compare.by")
@pytest.mark.parametrize("per", ["document", "query"])
def test_slices_are_corrected_together(reports, per):
    country = np.where(QID % 3 == 0, "de", "fr")
    of_queries = np.where(np.arange(60) % 3 == 0, "de", "fr")
    comparison = compare(reports, "mrr", test="t", by=country if per == "document" else of_queries)
    plain = compare(reports, "mrr", test="t")
    assert comparison.slices.keys() == {"de", "fr"}
    assert [pair.p_adjusted for pair in comparison.pairs] == [pair.p_adjusted for pair in plain.pairs]
    p_values = []
    for value, part in comparison.slices.items():
        rows = country == value
        alone = compare([report(0, rows), report(1, rows)], "mrr", test="t").pairs[0]
        pair = part.pair("first", "second")
        assert (pair.difference, pair.p_value) == pytest.approx((alone.difference, alone.p_value))
        assert pair.interval == pytest.approx(alone.interval)
        assert pair.qid.tolist() == [query for query in range(60) if (query % 3 == 0) == (value == "de")]
        p_values += [pair.p_value for pair in part.pairs]
    adjusted = [pair.p_adjusted for part in comparison.slices.values() for pair in part.pairs]
    expected = []
    for p in p_values:  # Holm: the k-th smallest of six times 7 - k, and no less than those before
        below = sorted(other for other in p_values if other <= p)
        expected.append(min(1, max(other * (6 - place) for place, other in enumerate(below))))
    assert adjusted == pytest.approx(expected)
    assert {part.n_tests for part in comparison.slices.values()} == {6}


def test_confidence_of_slices_is_in_their_heading(reports):
    shown = compare(reports, "mrr", test="t", confidence=0.9, by=np.arange(60) % 2)
    for table in html_of(shown)[0]:
        assert [head for head in table[0] if "interval" in head] == ["90% interval"]


def test_slices_without_values_are_no_tests():
    pair = [report_of_ranks(ranks, replace_undefined_by=np.nan) for ranks in ([1, 2, 1, 2, 0, 0], [2, 1, 1, 1, 0, 0])]
    slices = compare(pair, "mrr", by=["a", "a", "b", "b", "c", "c"]).slices
    assert {value: part.n_tests for value, part in slices.items()} == {"a": 2, "b": 2}


def test_slices_are_shown(reports):
    comparison = compare(reports, "mrr", test="t", by=np.where(np.arange(60) < 30, "low", "high"))
    text = " ".join(str(comparison).split())
    for value, part in comparison.slices.items():
        for pair in part.pairs:
            low, high = pair.interval
            p = f"{pair.p_adjusted:.4f}" if pair.p_adjusted >= 5e-5 else "<0.0001"
            row = f"{value} {pair.first} - {pair.second} 30 {pair.difference:+.4f} [{low:+.4f}, {high:+.4f}] {p}"
            assert row in text
    assert "Significantly different in slices, adjusted for 6 tests: " in text
    frame = comparison.to_frame()
    assert frame["slice"].tolist()[3:] == ["high"] * 3 + ["low"] * 3
    assert frame["slice"].tolist()[:3] == ["all"] * 3
    assert frame["difference"].tolist()[3:6] == [pair.difference for pair in comparison.slices["high"].pairs]
    many = compare(reports, "mrr", test="t", by=np.arange(60) // 6)
    lines = str(many).splitlines()
    n_different = sum(len(part.significant()) for part in many.slices.values())
    assert f"tests: {n_different} of 30; the table shows these." in " ".join(lines)
    assert "Significantly different in slices: " in str(compare(reports, "mrr", correction=None, by=np.arange(60) % 2))


def test_slices_without_values_are_named():
    labels = [1, 0] * 4 + [0, 0]
    two = [
        evaluate(labels, scores, qid=np.repeat(range(5), 2), metrics="mrr", replace_undefined_by=np.nan)
        for scores in ([2, 1] * 5, [1, 2] * 5)
    ]
    comparison = compare(two, "mrr", by=["a", "a", "b", "b", "c"])
    assert list(comparison.slices) == ["a", "b"]
    assert str(comparison).endswith("Slices in which no query has a value: c.")


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("country", r"by must hold one value per query, 60 in all, or per document, \d+ in all; got 'country'"),
        (np.zeros(7), r"got shape \(7,\)"),
        ({}, "got no columns"),
        ({"a": np.zeros(7), "b": np.zeros(3)}, r"got shape \(3,\) and shape \(7,\)"),
        (np.arange(len(Y)), "by must be constant within a query"),
    ],
)
def test_bad_slices(reports, by, message):
    with pytest.raises(ValueError, match=message):
        compare(reports, "mrr", by=by)


def test_several_metrics(reports):
    found = compare(reports, ["mrr", "ndcg@10"], test="t")
    assert isinstance(found, Comparisons)
    assert list(found) == ["mrr", "ndcg@10"]
    assert len(found) == 2
    for metric, comparison in found.items():
        assert comparison.to_frame().equals(compare(reports, metric, test="t").to_frame())
    text = str(found)
    assert text == str(found["mrr"]) + "\n" + str(found["ndcg@10"])
    frame = found.to_frame()
    assert frame["metric"].tolist() == ["mrr"] * 3 + ["ndcg@10"] * 3
    assert frame["p_adjusted"].tolist()[3:] == [pair.p_adjusted for pair in found["ndcg@10"].pairs]
    assert len(found._charts()) == 2
    with pytest.raises(ValueError, match="metric must name at least one metric; got none"):
        compare(reports, [])


@pytest.mark.option("Comparisons.to_frame.library")
def test_several_metrics_in_a_frame_and_on_a_page(reports, tmp_path):
    found = compare(reports, ("mrr", "ndcg@10"), test="t")
    assert found.to_frame(library="polars")["metric"].to_list() == ["mrr"] * 3 + ["ndcg@10"] * 3
    found.to_html(tmp_path / "both.html")
    assert (tmp_path / "both.html").read_text().count("<figure") == 2


# Reciprocal ranks of the first minus the second: 1/2, -1/2, 0, 2/3, -1/6.
QUERIES = {"first": [1, 2, 1, 1, 3], "second": [2, 1, 1, 3, 2]}


@pytest.mark.option("Comparison.worst.n", "Comparison.worst.first", "Comparison.worst.second")
@pytest.mark.option("Comparison.best.n", "Comparison.best.first", "Comparison.best.second")
@pytest.mark.option("Comparison.pair.first", "Comparison.pair.second")
def test_queries_that_the_first_loses_and_wins():
    comparison = compare(
        {name: report_of_ranks(ranks, ids=list("abcde")) for name, ranks in QUERIES.items()}
        | {"third": report_of_ranks([6] * 5, ids=list("abcde"))},
        "mrr",
    )
    worst, best = comparison.worst(), comparison.best(1)
    assert [query.qid for query in worst] == ["b", "e"]
    assert [(query.first, query.second) for query in worst] == [(1 / 2, 1), (1 / 3, 1 / 2)]
    assert [query.difference for query in worst] == pytest.approx([-1 / 2, -1 / 6])
    assert best == [("d", 1, 1 / 3, pytest.approx(2 / 3))]
    assert comparison.best(3, "second", "first")[0] == ("b", 1, 1 / 2, 1 / 2), "the other way round"
    assert comparison.worst(n=2, first="second", second="third") == []
    assert len(comparison.best(n=2, first="third", second="first")) == 0
    assert list(worst[0]._asdict()) == ["qid", "first", "second", "difference"]
    assert comparison.pair() is comparison.pairs[0]
    there, back = comparison.pair("first", "third"), comparison.pair(first="third", second="first")
    assert (back.difference, back.wins, back.losses) == (-there.difference, there.losses, there.wins)
    assert back.interval == (-there.interval[1], -there.interval[0])
    for one, other in zip(back.values, there.values[::-1], strict=True):
        assert one.tolist() == other.tolist()
    for select in (comparison.worst, comparison.best):
        with pytest.raises(ValueError, match="n must be an int >= 1; got 0"):
            select(0)
        with pytest.raises(ValueError, match="first and second must be two of first, second, third; got 'first' and"):
            select(1, "first", "x")


def test_of_a_distance_the_larger_value_loses():
    labels, qid = [1, 0, 0] * 2, [0, 0, 0, 1, 1, 1]
    reports = [evaluate(labels, s, qid=qid, metrics=kendall_tau_distance) for s in ([3, 2, 1] * 2, [1, 2, 3] * 2)]
    comparison = compare(reports, kendall_tau_distance)
    assert [query.difference for query in comparison.best()] == [0 - 2, 0 - 2]
    assert comparison.worst() == []
    assert comparison.ranking == ("0", "1")


@pytest.mark.parametrize("metric", ["ndcg@10", kendall_tau_distance])
def test_many_rankings_are_a_matrix(metric):
    scores = np.random.default_rng(0).normal(size=(10, len(Y))) * np.arange(10)[:, None] ** 2 + Y
    many = {f"m{i}": evaluate(Y, one, qid=QID, metrics=[metric]) for i, one in enumerate(scores)}
    comparison = compare(many, metric, test="t")
    (standings, matrix), lines = html_of(comparison)
    assert [row[1] for row in standings[1:]] == list(comparison.ranking)
    assert [row[2] for row in standings[1:]] == list(comparison.letters.values())
    best = comparison.ranking[0]
    for name, row in zip(comparison.ranking[1:], standings[2:], strict=True):
        pair = comparison.pair(name, best)
        assert row[3] == f"{pair.difference:+.4f}"
        assert pair.difference <= 0 if comparison.greater_is_better else pair.difference >= 0
    different = {(pair.first, pair.second) for pair in comparison.significant()}
    for one, row in zip(comparison.ranking, matrix[1:], strict=True):
        for other, mark in zip(comparison.ranking, row[1:], strict=True):
            pair = {(one, other), (other, one)} & different
            ahead = comparison.ranking.index(one) < comparison.ranking.index(other)
            assert mark == ("" if one == other else "." if not pair else "+" if ahead else "-")
            assert bool(set(comparison.letters[one]) & set(comparison.letters[other])) == (not pair)
    n = len(different)
    assert n > 10
    assert f"Significantly different at 0.05: {n} of 45 pairs." in lines
    assert len(comparison.to_frame()) == 45
    (chart,) = comparison._charts()
    assert [mark.name for mark in chart.marks] == [f"{name} - {best}" for name in comparison.ranking[1:]]


def test_pairs_of_many_rankings_share_their_signs():
    rng = np.random.default_rng(0)
    many = {f"m{i}": report_of_ranks(rng.integers(1, 6, 40)) for i in range(5)}
    found, expected = compare(many, "mrr", random_state=0), compare(many, "mrr", test="t")
    for pair, other in zip(found.pairs, expected.pairs, strict=True):
        assert pair.p_value == pytest.approx(other.p_value, abs=0.03)
        alone = compare([many[pair.first], many[pair.second]], "mrr", random_state=1).pairs[0].p_value
        assert pair.p_value == pytest.approx(alone, abs=0.02)
        assert pair.difference == other.difference
    again = compare(many, "mrr", random_state=0)
    assert [pair.p_value for pair in again.pairs] == [pair.p_value for pair in found.pairs]


def test_pairs_with_few_changes_or_other_queries_draw_no_shared_signs():
    ranks = {f"m{i}": [2] * 20 + [1] * i + [2] * (9 - i) for i in range(5)}
    found = compare({name: report_of_ranks(own) for name, own in ranks.items()}, "mrr", random_state=0)
    # i queries differ, all in one direction.
    assert found.pair("m4", "m0").p_value == 2 / 2**4
    assert found.pair("m3", "m1").p_value == 2 / 2**2
    labels = np.tile([1, 1, 0], 30)
    tied = {f"m{i}": np.where(np.arange(90) < 3 * i, 0, np.random.default_rng(i).normal(size=90)) for i in range(5)}
    options = {"qid": np.repeat(range(30), 3), "metrics": "kendall_tau(replace_undefined_by=nan)"}
    reports = {name: evaluate(labels, own, **options) for name, own in tied.items()}
    for pair in compare(reports, "kendall_tau(replace_undefined_by=nan)", random_state=0).pairs:
        alone = compare([reports[pair.first], reports[pair.second]], options["metrics"], random_state=1).pairs[0]
        assert pair.n_queries == alone.n_queries
        assert pair.p_value == pytest.approx(alone.p_value, abs=0.02)


def test_shared_signs_of_weighted_queries():
    rng, weights = np.random.default_rng(0), np.tile([1.0, 2, 0, 5], 10)
    many = {f"m{i}": report_of_ranks(rng.integers(1, 4, 40), weights=1e300 * weights) for i in range(5)}
    found = compare(many, "mrr", random_state=0)
    for pair in found.pairs:
        alone = compare([many[pair.first], many[pair.second]], "mrr", random_state=1).pairs[0]
        assert pair.n_queries == alone.n_queries == 30
        assert pair.difference == alone.difference
        assert pair.p_value == pytest.approx(alone.p_value, abs=0.02)


def test_many_pairs_draw_more_signs_so_that_each_can_be_significant():
    many = {f"m{i}": report_of_ranks([1 + (i > 0)] * 20) for i in range(12)}
    found = compare(many, "mrr", random_state=0)
    assert found.n_resamples == 10 * 66 / 0.05
    assert all(found.pair("m0", f"m{i}").p_adjusted < 0.05 for i in range(1, 12))
    assert compare(many, "mrr", correction="bh").n_resamples == 9999


def test_many_rankings_are_numbered_from_the_best_on():
    names = "abcdefg"
    found = compare({name: report(feature) for feature, name in enumerate(names)}, "ndcg@10", test="t")
    ((heads, *rows),) = [table for table in html_of(found)[0] if "letters" in table[0]]
    assert heads[2:] == ["letters", "minus best", "95% interval", "adjusted p"]
    assert [row[:3] for row in rows] == [
        [str(rank), name, found.letters[name]] for rank, name in enumerate(found.ranking, start=1)
    ]
    assert [row[3] for row in rows[1:]] == [
        f"{found.pair(n, found.ranking[0]).difference:+.4f}" for n in found.ranking[1:]
    ]
