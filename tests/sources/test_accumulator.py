import pickle
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrank_metrics import QueryScoreDisplay, RankingAccumulator, compare, evaluate, get_metric_names
from skrank_metrics._engine.exact import ExactSum, exact_sum, products

METRICS = ["ndcg@10", "mrr", "recall@3", "precision(average=micro)@2", "map(average=geometric)"]
# Their values per query do not depend on the lists that are computed with them, not even in the last bit.
SELECTED = ["mrr", "hit_rate@3", "mrr(ties=best)@5"]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(120) * 7 - 50, rng.integers(1, 30, 120))
    numbers = np.unique(qid, return_inverse=True)[1]
    return {
        "y_true": np.where(numbers % 11 == 3, 0, rng.integers(0, 4, len(qid))),
        "y_score": rng.normal(size=len(qid)),
        "qid": qid,
        "sample_weight": (numbers % 5) / 3,
        "by": np.array(["short", "long", "new"])[numbers % 3],
    }


def without(data, *names):
    return {name: column for name, column in data.items() if name not in names}


def parts(data, cuts):
    numbers = np.unique(data["qid"], return_inverse=True)[1]
    for low, high in zip([0, *cuts], [*cuts, 120], strict=True):
        inside = (numbers >= low) & (numbers < high)
        if inside.any():
            yield {name: column[inside] for name, column in data.items()}


def accumulated(data, cuts, metrics=METRICS, **options):
    accumulator = RankingAccumulator(metrics, **options)
    for part in parts(data, cuts):
        accumulator.update(**part)
    return accumulator


@pytest.mark.option("RankingAccumulator.update.sample_weight", "RankingAccumulator.update.qid")
@pytest.mark.parametrize("left_out", [("by",), ("by", "sample_weight")])
def test_equals_evaluate_on_all_documents(data, left_out):
    data = without(data, *left_out)
    whole, report = evaluate(**data, metrics=METRICS), accumulated(data, [3, 50, 51]).result()
    assert report.mean == pytest.approx(whole.mean, abs=1e-14)
    assert report.std == pytest.approx(whole.std, abs=1e-14)
    assert report.n_undefined == whole.n_undefined
    assert report.n_documents == whole.n_documents
    np.testing.assert_array_equal(report.qid, whole.qid)
    for name in METRICS:
        np.testing.assert_allclose(report.per_query[name], whole.per_query[name], rtol=1e-13)
        np.testing.assert_allclose(report.intervals()[name], whole.intervals()[name], rtol=1e-13)
    assert list(report.worst(5, "mrr")) == list(whole.worst(5, "mrr"))


@pytest.mark.parametrize("metric", get_metric_names())
def test_every_metric_equals_evaluate(data, metric):
    data = without(data, "by") | {"y_true": data["y_true"] > 1}
    whole = evaluate(**data, metrics=metric)
    for keep in ("queries", "means"):
        report = accumulated(data, [40, 90], metric, keep=keep).result()
        assert report.mean == pytest.approx(whole.mean, rel=1e-13)


@given(st.lists(st.integers(1, 119), max_size=6, unique=True), st.randoms(use_true_random=False))
@pytest.mark.option("RankingAccumulator.keep")
@pytest.mark.slow
def test_cuts_and_the_order_of_merges_change_no_bit(data, cuts, random):
    data = without(data, "by")
    whole = evaluate(**data, metrics=SELECTED)
    some = [RankingAccumulator(SELECTED, keep="means").update(**part) for part in parts(data, sorted(cuts))]
    random.shuffle(some)
    while len(some) > 1:
        some.insert(random.randrange(len(some) - 1), some.pop().merge(some.pop()))
    means = some[0].result()
    assert means.mean == accumulated(data, sorted(cuts), SELECTED).result().mean == whole.mean
    for name in SELECTED:
        np.testing.assert_allclose(means.intervals()[name], whole.intervals()[name], rtol=1e-12)
        assert means.std[name] == pytest.approx(whole.std[name], rel=1e-12)


@pytest.mark.parametrize("metric", [*METRICS, "recall(average=micro)@2"])
def test_means_without_queries_have_the_same_errors_and_intervals(data, metric):
    data = without(data, "by")
    whole = evaluate(**data, metrics=metric)
    means = accumulated(data, [3, 50, 51], metric, keep="means").result()
    np.testing.assert_allclose(means.intervals()[metric], whole.intervals()[metric], rtol=1e-12)
    assert means.std[metric] == pytest.approx(whole.std[metric], rel=1e-12)


def test_merges_of_the_same_parts_change_no_bit_for_any_metric(data):
    data = without(data, "by")
    forth, back = RankingAccumulator(METRICS, keep="means"), RankingAccumulator(METRICS)
    all_parts = list(parts(data, [3, 50, 51, 99]))
    for part, other in zip(all_parts, all_parts[::-1], strict=True):
        forth.update(**part)
        back.update(**other)
    assert forth.result().mean == back.result().mean


@pytest.mark.option("RankingAccumulator.update.by")
def test_slices_are_those_of_evaluate(data):
    whole, report = evaluate(**data, metrics=METRICS), accumulated(data, [17, 80]).result()
    assert list(report.slices) == list(whole.slices) == ["long", "new", "short"]
    for name, part in report.slices.items():
        assert part.mean == pytest.approx(whole.slices[name].mean, abs=1e-14)
        assert part.n_documents == whole.slices[name].n_documents
        assert part.n_undefined == whole.slices[name].n_undefined
    assert "long" in str(report)
    assert report.to_frame().columns.tolist() == ["by", "weight", *METRICS]
    with pytest.raises(ValueError, match="by must be left out if keep='means'"):
        accumulated(data, [], keep="means")


@pytest.mark.option("RankingAccumulator.update.retrieved", "RankingAccumulator.update.judged")
def test_masks(data, rng):
    masks = {name: rng.random(len(data["qid"])) < 0.8 for name in ("retrieved", "judged")}
    data = without(data, "by", "sample_weight") | masks
    whole, report = evaluate(**data, metrics=METRICS), accumulated(data, [17, 80]).result()
    assert report.mean == pytest.approx(whole.mean, abs=1e-14)
    (unjudged,) = [finding for finding in whole.health.findings if finding.startswith("Unjudged")]
    assert unjudged in report.health.findings


@pytest.mark.option(
    "RankingAccumulator.ties", "RankingAccumulator.replace_undefined_by", "RankingAccumulator.convention"
)
@pytest.mark.parametrize("options", [{"ties": "worst"}, {"replace_undefined_by": np.nan}, {"convention": "lightgbm"}])
def test_options_are_those_of_evaluate(data, options):
    data = without(data, "by", "sample_weight") | {"y_score": data["y_score"].round()}
    whole = evaluate(**data, metrics="ndcg@5", **options)
    assert accumulated(data, [17, 80], "ndcg@5", **options).result().mean == pytest.approx(whole.mean, abs=1e-14)
    assert whole.mean != evaluate(**data, metrics="ndcg@5").mean


@pytest.mark.parametrize("keep", ["queries", "means"])
def test_health_adds_up(data, keep):
    data = without(data, "by", "sample_weight") | {"y_score": np.where(data["qid"] % 3, data["y_score"], 1.0)}
    whole, health = evaluate(**data, metrics=METRICS).health, accumulated(data, [17, 80], keep=keep).result().health
    for name in ("n_constant", "n_single_document", "n_all_relevant", "n_no_relevant", "n_queries", "n_documents"):
        assert getattr(health, name) == getattr(whole, name) > 0
    assert (health.n_tied, health.tie_means) == (None, {})
    shared = [finding for finding in whole.findings if not finding.startswith(("Ties", "Repeated", "Float32"))]
    assert health.findings == (*shared, "Ties and repeated rows were not counted, since the rows were not kept.")
    assert "tied" not in str(health)


def test_constant_scores_are_those_of_the_ranked_documents():
    part = {"y_true": [1, 0, 0, 1], "y_score": [2, 2, 1, 3], "qid": [0] * 4}
    for ranked, n_constant in (([True, True, False, False], 1), ([True, False, True, False], 0)):
        report = RankingAccumulator("mrr").update(**part, retrieved=ranked).result()
        assert report.health.n_constant == evaluate(**part, metrics="mrr", retrieved=ranked).health.n_constant
        assert report.health.n_constant == n_constant


def test_what_needs_rows_or_queries_says_so(data):
    data = without(data, "by")
    with pytest.raises(ValueError, match="documents are not available: this report was made in batches"):
        accumulated(data, []).result().documents  # noqa: B018
    report = accumulated(data, [], keep="means").result()
    draw = partial(QueryScoreDisplay.from_report, report)
    for call in (draw, report.worst, report.to_frame, lambda: report.means_by(np.zeros(120, dtype=int))):
        with pytest.raises(
            ValueError, match=r"(needs|is not available).*keep='means' and has no values per query; use keep='queries'"
        ):
            call()
    assert "120 queries" in str(report)
    assert "Weighted by sample_weight." in report.health.findings
    with pytest.raises(ValueError, match=r"reports must hold values per query; got 'a'.*keep='queries'"):
        compare({"a": report, "b": report}, "mrr")
    with pytest.raises(ValueError, match="keep must be 'queries' for a median"):
        RankingAccumulator("mrr(average=median)", keep="means")


def test_reports_of_batches_and_of_rows_can_be_compared(data):
    data = without(data, "by")
    other = data | {"y_score": -data["y_score"]}
    both = {"a": accumulated(data, [30]).result(), "b": evaluate(**other, metrics=METRICS)}
    rows = {"a": evaluate(**data, metrics=METRICS), "b": both["b"]}
    assert compare(both, "mrr").pairs[0].interval == compare(rows, "mrr").pairs[0].interval
    both["b"] = evaluate(**other | {"y_true": np.where(data["qid"] == 6, 3, data["y_true"])}, metrics=METRICS)
    with pytest.raises(ValueError, match="same documents with the same labels; 'a' and 'b' differ for query 6"):
        compare(both, "mrr")


def test_a_query_may_not_come_back(data):
    data = without(data, "by")
    accumulator = accumulated(data, [30])
    before = accumulator.result().mean
    again = {name: column[data["qid"] == 6][:1] for name, column in data.items()}
    with pytest.raises(ValueError, match="all documents of a query in one update; query 6 came back"):
        accumulator.update(**again)
    other = RankingAccumulator(METRICS).update(**again)
    with pytest.raises(ValueError, match="query 6 came back"):
        accumulator.merge(other)
    assert accumulator.result().mean == before
    merged = RankingAccumulator(METRICS).merge(other)
    with pytest.raises(ValueError, match="query 6 came back"):
        merged.update(**again)
    means = [accumulated(part, [], keep="means") for part in (data, again)]
    with pytest.raises(ValueError, match="one update; a query came back"):
        means[0].merge(means[1])


@pytest.mark.option("RankingAccumulator.assume_complete")
def test_assume_complete_checks_nothing(data):
    accumulator = accumulated(without(data, "by"), [30], assume_complete=True)
    assert accumulator.merge(accumulated(without(data, "by"), [], assume_complete=True)).result().n_queries == 240


def test_updates_after_a_result_do_not_change_it(data):
    data = without(data, "by")
    for keep in ("queries", "means"):
        first, second = parts(data, [60])
        accumulator = RankingAccumulator(METRICS, keep=keep).update(**first)
        report = accumulator.result()
        before = report.mean, report.intervals(), report.n_queries
        assert accumulator.update(**second).result().n_queries == 120
        assert (report.mean, report.intervals(), report.n_queries) == before


def test_pickles(data):
    for keep in ("queries", "means"):
        accumulator = accumulated(without(data, "by"), [30], keep=keep)
        assert pickle.loads(pickle.dumps(accumulator)).result().mean == accumulator.result().mean


@pytest.mark.parametrize("keep", ["queries", "means"])
def test_a_report_stays_as_it_is_when_more_comes(data, keep):
    first, second = parts(without(data, "by"), [60])
    accumulator = RankingAccumulator(METRICS, keep=keep).update(**first)
    report = accumulator.result()
    before = str(report), report.mean, report.intervals()
    accumulator.merge(RankingAccumulator(METRICS, keep=keep).update(**second))
    accumulator.result()
    assert (str(report), report.mean, report.intervals()) == before


def test_a_part_may_have_weights_of_zero():
    rows = {"y_true": [0, 1], "y_score": [2, 1]}
    accumulator = RankingAccumulator("mrr").update(**rows, qid=[1, 1], sample_weight=[0, 0])
    with pytest.raises(ValueError, match="sample_weight must not be zero everywhere"):
        accumulator.result()
    assert accumulator.update(**rows, qid=[2, 2], sample_weight=[3, 3]).result().mean == {"mrr": 1 / 2}
    with pytest.raises(ValueError, match="sample_weight must be part of all updates or of none"):
        accumulator.update(**rows, qid=[3, 3])
    zero, other = (
        RankingAccumulator("mrr").update(**rows, qid=[number] * 2, sample_weight=[weight] * 2)
        for number, weight in ((1, 0), (2, 3))
    )
    assert zero.merge(other).result().mean == {"mrr": 1 / 2}


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (RankingAccumulator("ndcg@5"), "other must have the same metrics"),
        (RankingAccumulator("mrr", ties="worst"), "other must have the same metrics"),
        (RankingAccumulator("mrr", keep="means"), "other must have the same keep"),
        (RankingAccumulator("mrr", assume_complete=True), "other must have the same assume_complete"),
    ],
)
def test_only_like_is_merged(other, message):
    with pytest.raises(ValueError, match=message):
        RankingAccumulator("mrr").merge(other)


def test_bad_input():
    with pytest.raises(TypeError, match="other must be a RankingAccumulator; got dict"):
        RankingAccumulator("mrr").merge({})
    with pytest.raises(ValueError, match="must hold at least one query"):
        RankingAccumulator("mrr").merge(RankingAccumulator("mrr")).result()
    with pytest.raises(ValueError, match="keep must be one of"):
        RankingAccumulator("mrr", keep="rows")
    with pytest.raises(TypeError, match=r"qid must hold strings, integers.*got object\. Pass str\(id\)"):
        RankingAccumulator("mrr").update([1], [1], qid=np.array([object()], dtype=object))
    with pytest.raises(ValueError, match="smaller labels"):
        RankingAccumulator("dcg", keep="means").update([1e200], [1], qid=[1])


FLOATS = st.lists(st.floats(-1e300, 1e300), max_size=30)


@pytest.mark.slow
@given(FLOATS, FLOATS)
def test_sums_are_exact(first, second):
    exact = float(sum(map(Fraction, first + second)))
    total, other = ExactSum(), ExactSum()
    total.add(np.array(first))
    other.add(np.array(second))
    total += other
    assert float(total) == exact == exact_sum(np.array(first + second, dtype=float))


def test_long_sums_are_exact(rng):
    values = rng.normal(size=3000) * 10.0 ** rng.integers(-20, 20, 3000)
    assert exact_sum(values) == float(sum(map(Fraction, values.tolist()))) == exact_sum(values[::-1])


def test_products_are_exact(rng):
    a, b = rng.normal(size=(2, 50))
    high, low = products([a], b)
    for terms in zip(a, b, high, low, strict=True):
        first, second, *parts_of_product = map(Fraction, terms)
        assert first * second == sum(parts_of_product)
