import copy
import datetime
import itertools
import pickle
import tracemalloc
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.policies import with_policies
from support.tables import check, without_top

from skrank_metrics import compare, evaluate, make_metric
from skrank_metrics.decisions import Comparison
from skrank_metrics.metrics import get_metric_names
from skrank_metrics.reports.report_data import data_of
from skrank_metrics.sources import RankingAccumulator, evaluate_batches

METRICS = ["ndcg@10", "mrr", "recall@3", "precision(average=micro)@2", "map(average=geometric)"]
# Their values per query do not depend on the lists that are computed with them, not even in the last bit.
SELECTED = ["mrr", "hit_rate@3", "mrr(ties=best)@5"]


@pytest.fixture(scope="module")
def every_column():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(120) * 7 - 50, rng.integers(1, 30, 120))
    numbers = np.unique(qid, return_inverse=True)[1]
    return {
        "y_true": np.where(numbers % 11 == 3, 0, rng.integers(0, 4, len(qid))),
        "y_score": rng.normal(size=len(qid)),
        "qid": qid,
        "sample_weight": (numbers % 5) / 3,
        "by": np.array(["short", "long", "new"])[numbers % 3],
        "groups": numbers // 4,
        "retrieved": rng.random(len(qid)) < 0.8,
        "judged": rng.random(len(qid)) < 0.8,
        "documents": pd.DataFrame({"price": np.arange(len(qid)) % 7}),
    }


@pytest.fixture(scope="module")
def data(every_column):
    return without(every_column, "groups", "retrieved", "judged", "documents")


def without(data, *names):
    return {name: column for name, column in data.items() if name not in names}


def parts(data, cuts):
    numbers = np.unique(data["qid"], return_inverse=True)[1]
    for low, high in zip([0, *cuts], [*cuts, 120], strict=True):
        inside = (numbers >= low) & (numbers < high)
        if inside.any():
            yield {name: column[inside] for name, column in data.items()}


def accumulated(data, cuts, metrics=METRICS, **options):
    accumulator = RankingAccumulator(**with_policies(metrics, **options))
    for part in parts(data, cuts):
        accumulator.update(**part)
    return accumulator


FIRST_PRICE = make_metric(lambda labels, price: price[0], name="first_price", documents=["price"])


@pytest.mark.option("RankingAccumulator.update.sample_weight", "RankingAccumulator.update.qid")
@pytest.mark.option("RankingAccumulator.update.by", "RankingAccumulator.update.groups")
@pytest.mark.option("RankingAccumulator.update.retrieved", "RankingAccumulator.update.judged")
@pytest.mark.option("RankingAccumulator.update.documents")
@pytest.mark.parametrize(
    "columns", ["", "sample_weight", "sample_weight by", "groups", "retrieved judged", "documents"]
)
def test_equals_evaluate_on_all_documents(every_column, columns):
    data = {name: every_column[name] for name in ["y_true", "y_score", "qid", *columns.split()]}
    metrics = [*METRICS, FIRST_PRICE] if columns == "documents" else METRICS
    whole, report = (
        evaluate(**data, metrics=metrics),
        accumulated(data, [3, 50, 51], metrics).result(),
    )
    check(report, whole, 1e-14)
    assert report.std == pytest.approx(whole.std, abs=1e-14)
    np.testing.assert_array_equal(report.qid, whole.qid)
    np.testing.assert_array_equal(report.groups, whole.groups)
    for name in METRICS:
        np.testing.assert_allclose(report.intervals()[name], whole.intervals()[name], rtol=1e-12)
    assert list(report.worst(5, "mrr")) == list(whole.worst(5, "mrr"))
    assert (
        list(report.slices)
        == list(whole.slices)
        == (["long", "new", "short"] if "by" in columns else [])
    )
    for name, part in report.slices.items():
        check(part, whole.slices[name], 1e-14)
    unjudged = [without_top(finding) for finding in whole.health.findings if "Nobody" in finding]
    assert len(unjudged) == ("judged" in columns)
    assert set(unjudged) <= set(report.health.findings)


@pytest.mark.parametrize("metric", get_metric_names())
def test_every_metric_equals_evaluate(data, metric):
    data = without(data, "by") | {"y_true": data["y_true"] > 1}
    whole = evaluate(**data, metrics=metric)
    report = accumulated(data, [40, 90], metric).result()
    assert report.mean == pytest.approx(whole.mean, rel=1e-13)
    assert report.std == pytest.approx(whole.std, rel=1e-12)
    np.testing.assert_allclose(report.intervals()[metric], whole.intervals()[metric], rtol=1e-11)


@given(st.lists(st.integers(1, 119), max_size=6, unique=True), st.randoms(use_true_random=False))
@pytest.mark.slow
def test_cuts_and_the_order_of_merges_change_no_bit(data, cuts, random):
    data = without(data, "by")
    cuts = sorted(cuts)
    names = [*METRICS, *SELECTED]
    some = [RankingAccumulator(names).update(**part) for part in parts(data, cuts)]
    random.shuffle(some)
    while len(some) > 1:
        place = random.randrange(len(some) - 1)
        merged = some.pop().merge(some.pop())
        some.insert(place, merged)
    mean = some[0].result().mean
    expected = accumulated(data, cuts, names).result()
    assert mean == expected.mean
    exact = evaluate(**data, metrics=SELECTED)
    assert {name: mean[name] for name in SELECTED} == exact.mean


def test_slices_and_groups_are_shown(every_column):
    report = accumulated(without(every_column, "documents"), [17, 80]).result()
    assert "long" in str(report)
    assert " in 30 groups, " in str(report)
    assert report.to_frame().columns.tolist() == ["by", "group", "weight", *METRICS]


@pytest.mark.option(
    "RankingAccumulator.condense", "RankingAccumulator.convention", "RankingAccumulator.metrics"
)
@pytest.mark.parametrize(
    "options",
    [
        {"condense": True},
        {"ties": "worst"},
        {"replace_undefined_by": np.nan},
        {"convention": "lightgbm"},
    ],
)
def test_options_are_those_of_evaluate(every_column, options):
    data = {name: every_column[name] for name in ("y_true", "y_score", "qid", "judged")}
    data["y_score"] = data["y_score"].round()
    report = accumulated(data, [17, 80], "ndcg", **options).result()
    assert report.mean == pytest.approx(
        evaluate(**data, **with_policies("ndcg", **options)).mean, abs=1e-14
    )
    assert report.mean != evaluate(**data, metrics="ndcg").mean
    assert report.condensed == options.get("condense", False)


def test_health_adds_up(data):
    data = without(data, "by", "sample_weight") | {
        "y_score": np.where(data["qid"] % 3, data["y_score"], 1.0)
    }
    whole, health = (
        evaluate(**data, metrics=METRICS).health,
        accumulated(data, [17, 80]).result().health,
    )
    assert any("the same score" in finding for finding in health.findings)
    shared = [finding for finding in whole.findings if "tied scores" not in finding]
    assert health.findings == (
        *shared,
        "Not checked for tied scores, because the rows were not kept.",
    )


def test_what_needs_rows_says_so(data):
    report = accumulated(without(data, "by"), []).result()
    assert not data_of(report).has_documents
    assert data_of(report).grouping is None
    with pytest.raises(
        ValueError, match=r"Labels and scores are needed, .* Read the rows of these queries"
    ):
        report.inspect(6)


def test_reports_of_batches_and_of_rows_can_be_compared(data):
    data = without(data, "by")
    other = data | {"y_score": -data["y_score"]}
    both = {"a": accumulated(data, [30]).result(), "b": evaluate(**other, metrics=METRICS)}
    rows = {"a": evaluate(**data, metrics=METRICS), "b": both["b"]}
    pair = compare(both, "mrr").pairs()[0]
    expected = compare(rows, "mrr").pairs()[0]
    assert pair.interval == expected.interval
    both["b"] = evaluate(
        **other | {"y_true": np.where(data["qid"] == 6, 3, data["y_true"])}, metrics=METRICS
    )
    with pytest.raises(
        ValueError, match=r"same documents with the same labels; 'a' and 'b' differ in query 6"
    ):
        compare(both, "mrr")


def test_a_query_may_not_come_back(data):
    data = without(data, "by")
    accumulator = accumulated(data, [30])
    before = accumulator.result().mean
    of_query = data["qid"] == 6
    again = {name: column[of_query][:1] for name, column in data.items()}
    with pytest.raises(
        ValueError, match="query 6 came back: all its documents must be in one update"
    ):
        accumulator.update(**again)
    other = RankingAccumulator(METRICS).update(**again)
    with pytest.raises(ValueError, match="query 6 came back"):
        accumulator.merge(other)
    assert accumulator.result().mean == before
    merged = RankingAccumulator(METRICS).merge(other)
    with pytest.raises(ValueError, match="query 6 came back"):
        merged.update(**again)


def test_pickles(data):
    accumulator = accumulated(without(data, "by"), [30])
    assert pickle.loads(pickle.dumps(accumulator)).result().mean == accumulator.result().mean


def test_a_report_stays_as_it_is_when_more_comes(data):
    first, second, third = parts(without(data, "by"), [60, 100])
    accumulator = RankingAccumulator(METRICS).update(**first)
    report = accumulator.result()
    before = str(report), report.mean, report.intervals()
    accumulator.merge(RankingAccumulator(METRICS).update(**second)).update(**third)
    assert accumulator.result().n_queries == 120
    other = RankingAccumulator(METRICS).update(**first)
    RankingAccumulator(METRICS).merge(other).update(**second)
    assert other.n_queries == report.n_queries, "it was not changed"
    assert (str(report), report.mean, report.intervals()) == before


def test_the_state_is_small_and_a_report_shares_it():
    n = 30_000
    names = ["ndcg@10", "map", "mrr"]
    labels = np.tile([1, 0], n)
    scores = np.tile([1.0, 2.0], n)
    qid = np.repeat(np.arange(n), 2)
    tracemalloc.start()
    accumulator = RankingAccumulator(names)
    before, _ = tracemalloc.get_traced_memory()
    for first in range(0, 2 * n, 10_000):
        part = slice(first, first + 10_000)
        accumulator.update(labels[part], scores[part], qid=qid[part])
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    accumulator.result()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    state = after - before
    assert state < (8 + 8 + 16 * len(names)) * n  # hashes, ids and metrics
    assert peak - before < 2.1 * state


def test_a_part_may_have_weights_of_zero():
    def part(number, **options):
        return RankingAccumulator("mrr").update([0, 1], [2, 1], qid=[number] * 2, **options)

    accumulator = part(1, sample_weight=[0, 0])
    with pytest.raises(ValueError, match="sample_weight must not be zero everywhere"):
        accumulator.result()
    merged = accumulator.merge(part(2, sample_weight=[3, 3]))
    assert merged.result().mean == {"mrr": 1 / 2}
    with pytest.raises(ValueError, match="Pass sample_weight in all updates or in none"):
        accumulator.merge(part(3))


@pytest.mark.parametrize("name", ["sample_weight", "by", "groups"])
@pytest.mark.parametrize("first_has_it", [True, False])
def test_what_belongs_to_queries_is_in_all_updates_or_in_none(name, first_has_it):
    column = {name: [1, 1]}
    first, second = ({**column}, {}) if first_has_it else ({}, {**column})
    accumulator = RankingAccumulator("mrr").update([1, 0], [2, 1], qid=[1, 1], **first)
    with pytest.raises(ValueError, match=f"Pass {name} in all updates or in none"):
        accumulator.update([1, 0], [2, 1], qid=[2, 2], **second)
    assert accumulator.n_queries == 1, "a call that fails adds nothing"


@pytest.mark.parametrize("name", ["retrieved", "judged"])
def test_masks_are_true_in_updates_without_them(data, name):
    data = without(data, "by", "sample_weight")
    first, second = parts(data, [60])
    for masked, plain in ((first, second), (second, first)):
        mask = np.arange(len(masked["qid"])) % 3 > 0
        accumulator = RankingAccumulator(METRICS).update(**masked, **{name: mask}).update(**plain)
        both = {key: np.concatenate((masked[key], plain[key])) for key in data}
        everywhere = np.concatenate((mask, np.ones(len(plain["qid"]), dtype=bool)))
        whole = evaluate(**both, **{name: everywhere}, metrics=METRICS)
        assert accumulator.result().mean == pytest.approx(whole.mean, abs=1e-14)


@pytest.mark.parametrize(
    "options",
    [
        {"metrics": {"found": "recall@3"}},
        {"metrics": {"found": "recall"}},
        {"metrics": {"found": "precision@2"}},
        {"metrics": {"found": "recall(average=micro)@2"}},
        {"metrics": {"found": "recall(average=median)@2"}},
        {"metrics": {"found": "recall(average=geometric)@2"}},
        {"metrics": {"found": "recall(ties=worst)@2"}},
        {"metrics": {"found": "recall(normalizer=min)@2"}},
        {"metrics": {"found": "recall(relevance_threshold=2)@2"}},
        {"metrics": {"found": "recall(replace_undefined_by=nan)@2"}},
        {"metrics": {"other": "recall@2"}},
        {"metrics": {"found": "recall@2", "other": "mrr"}},
        {"convention": "lightgbm"},
        {"condense": True},
    ],
    ids=str,
)
def test_accumulators_of_other_settings_cannot_be_merged(options):
    plain = {"metrics": {"found": "recall@2"}}
    rows = {"y_true": [1, 0], "y_score": [2, 1], "judged": [True, True]}
    for settings in ((plain, plain | options), (plain | options, plain)):
        one, other = (RankingAccumulator(**own) for own in settings)
        one.update(**rows, qid=[1, 1])
        other.update(**rows, qid=[2, 2])
        with pytest.raises(ValueError, match="the same metrics and options"):
            one.merge(other)
        assert (one.n_queries, other.n_queries) == (1, 1)


@pytest.mark.parametrize("name", ["sample_weight", "by", "groups", "y_score"])
def test_accumulators_of_other_columns_cannot_be_merged(name):
    plain = {"y_true": [1, 0], "y_score": [2, 1]}
    column = {"model": [2, 1]} if name == "y_score" else [1, 1]
    for first, second in ((plain, plain | {name: column}), (plain | {name: column}, plain)):
        one = RankingAccumulator("mrr").update(**first, qid=[1, 1])
        other = RankingAccumulator("mrr").update(**second, qid=[2, 2])
        with pytest.raises(ValueError, match=f"{name}.* in all updates"):
            one.merge(other)
        assert (one.n_queries, other.n_queries) == (1, 1)


def test_bad_input(data):
    with pytest.raises(TypeError, match="other must be a RankingAccumulator; got dict"):
        RankingAccumulator("mrr").merge({})
    with pytest.raises(ValueError, match="holds no query; call update before result"):
        RankingAccumulator("mrr").merge(RankingAccumulator("mrr")).result()
    with pytest.raises(
        TypeError, match=r"qid must hold integers, text.*got .*object\)\. Pass str\(id\)"
    ):
        RankingAccumulator("mrr").update([1], [1], qid=np.array([object()], dtype=object))
    large = RankingAccumulator("cg").update([1e308], [1], qid=[0])
    with pytest.raises(ValueError, match="The sum of gains overflows float64"):
        large.update([1e308], [1], qid=[1]).result()
    with pytest.raises(ValueError, match=r"condense.*judged"):
        accumulated(data, [], condense=True)


def test_ids_of_several_types_stay_what_they_are():
    accumulator = RankingAccumulator("mrr").update([1, 0], [2, 1], qid=[1, 1])
    updated = accumulator.update([0, 1], [2, 1], qid=np.array(["b", "b"]))
    report = updated.result()
    assert report.qid.tolist() == [1, "b"]


def test_scores_of_several_models_make_a_comparison():
    labels, qid = [1, 0, 0, 1], ["a", "a", "b", "b"]
    scores = {
        "one": [2.0, 1.0, 2.0, 1.0],
        "other": [1.0, 2.0, 1.0, 2.0],
    }
    expected = {name: evaluate(labels, column, qid=qid).mean for name, column in scores.items()}
    for models in (scores, pd.DataFrame(scores)):
        several = RankingAccumulator(["ndcg@10", "map", "mrr"])
        for rows in (slice(2), slice(2, 4)):
            part = {name: models[name][rows] for name in scores}
            several.update(labels[rows], type(models)(part), qid=qid[rows])
        result = several.result()
        assert isinstance(result, Comparison)
        assert {name: report.mean for name, report in result.reports.items()} == expected
        with pytest.raises(ValueError, match=r"the same models in all updates; got .'one'. after"):
            several.update([1], {"one": [1.0]}, qid=["c"])
    with pytest.raises(ValueError, match="y_score must hold the scores of at least one model"):
        RankingAccumulator("mrr").update([1], {}, qid=["c"])


def test_a_copy_has_contents_of_its_own():
    one = RankingAccumulator("mrr").update([1, 0], [2.0, 1.0], qid=["a", "a"])
    other = copy.copy(one).update([0, 1], [2.0, 1.0], qid=["b", "b"])
    assert one.n_queries == 1
    assert one.result().mean == {"mrr": 1}
    assert other.n_queries == 2
    assert other.result().mean == {"mrr": (1 + 1 / 2) / 2}


COLUMNS = {
    "y_true": [1, 0, 0, 1],
    "y_score": [2.0, 1.0, 2.0, 1.0],
    "qid": ["a", "a", "b", "b"],
    "sample_weight": [1.0, 1.0, 2.0, 2.0],
    "retrieved": [True, True, False, True],
    "judged": [True, False, True, True],
    "by": ["x", "x", "y", "y"],
    "groups": [1, 1, 2, 2],
}


PAIRS = [*itertools.combinations(COLUMNS, 2)]
# These are compared with the first column that has an index, not with each other.
PAIRS.remove(("by", "groups"))


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_any_two_columns_whose_rows_are_in_other_orders_are_refused(one, other):
    # An index that counts rows is not compared.
    columns = dict(COLUMNS)
    columns[one] = pd.Series(COLUMNS[one], index=list("klmn"), name=one)
    columns[other] = pd.Series(COLUMNS[other], index=list("nmlk"), name=other)
    for evaluate_columns in (
        lambda: RankingAccumulator("mrr").update(**columns),
        lambda: evaluate(**columns, metrics="mrr"),
    ):
        with pytest.raises(ValueError, match=r"must have the same index as .* different orders"):
            evaluate_columns()


def test_times_of_different_units_are_not_added_up_as_those_of_nanoseconds():
    # Nanoseconds of 64 bits end in 2262.
    late, early = np.array(["9999-12-31"], "M8[us]"), np.array(["2001-02-03"], "M8[ns]")
    total = RankingAccumulator("mrr").update([1], [1], qid=early, by=early)
    total.update([1], [1], qid=late, by=late)
    report = total.result()
    expected = [datetime.datetime(2001, 2, 3), datetime.datetime(9999, 12, 31)]
    assert report.qid.tolist() == expected
    assert list(report.slices) == expected


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_times_with_a_zone_are_the_same_query_in_every_batch(unit):
    noon = datetime.datetime(2001, 2, 3, 12, tzinfo=datetime.UTC)
    there = pa.array([noon], pa.timestamp(unit, "Asia/Tokyo"))
    naive = pa.array([noon.replace(tzinfo=None)], pa.timestamp(unit))
    total = RankingAccumulator("mrr").update([1], [1], qid=[noon])
    with pytest.raises(ValueError, match=r"^query .*2001.* came back"):
        total.update([1], [1], qid=there)
    assert total.update([1], [1], qid=naive).n_queries == 2


@pytest.mark.parametrize("order", ["check", "shuffle"])
def test_slices_of_times_with_a_zone_keep_their_day_in_batches(order):
    tokyo = ZoneInfo("Asia/Tokyo")
    evening = [datetime.datetime(2001, 2, 3, 23, minute, tzinfo=tokyo) for minute in (0, 30)]
    table = pa.table({"y": [1, 1], "s": [2.0, 1.0], "q": evening, "day": evening})
    columns = {"label": "y", "score": "s", "qid": "q", "by": "day"}
    report = evaluate_batches(table, **columns, metrics="mrr", order=order, verbose=0)
    assert sorted(report.slices) == evening
    assert {one.day for one in report.slices} == {3}
    assert sorted(report.qid.tolist()) == evening
