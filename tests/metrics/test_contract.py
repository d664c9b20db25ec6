"""What holds for every metric in the registry."""

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import skrank_metrics
from skrank_metrics import get_metric, make_ranking_scorer, with_qid
from skrank_metrics.metrics import get_metric_names
from skrank_metrics.metrics._registry import REGISTRY

TIES = ("average", "best", "worst", "stable")

names = pytest.mark.parametrize("name", get_metric_names())


def table_of(seed, n, n_grades, above, n_queries):
    """Labels, scores and ids of up to six queries and thirty rows, interleaved, with many ties."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_grades, n)
    scores = rng.integers(-3, above, n)
    qid = rng.integers(0, n_queries, n)
    return np.stack([labels, scores, qid]).astype(float)


limits = st.integers(1, 30), st.integers(1, 5), st.integers(-2, 9), st.integers(1, 6)
tables = st.builds(table_of, st.integers(0, 2**32), *limits)
cutoffs = st.sampled_from([None, 1, 2, 5, 10])
policies = st.sampled_from(TIES)


def ends_with_the_list(record):
    """Whether a cutoff behind the list gives the value without one; others divide by the cutoff."""
    may_divide_by_length = not record.divides_by_k or "divisor" in record.options
    return record.has_cutoff and may_divide_by_length


END_WITH_THE_LIST = [n for n in get_metric_names() if ends_with_the_list(REGISTRY[n].record)]


def bound(name, k=None, **params):
    """The metric for grades 0 to 4, as a name gives it: larger is better."""
    record = REGISTRY[name].record
    if record.has_cutoff:
        params["k"] = k
    # Linear gains of a user model are probabilities.
    if "max_grade" in record.options and record.defaults["gain"] == "linear":
        params["gain"] = "exp2"
    if record.undefined is None:
        params.pop("replace_undefined_by", None)
    return get_metric(name, **params)


def undefined_query(name):
    """Labels, scores and what was retrieved of a query of two documents for which the metric is undefined."""
    metric = bound(name, replace_undefined_by=np.nan)
    scores = [2, 1]
    for labels, shown in (([0, 0], True), ([1, 1], True), ([1, 0], False)):
        retrieved = [shown, shown]
        if np.isnan(metric([labels], [scores], retrieved=[retrieved])):
            return labels, scores, retrieved
    raise AssertionError(f"{name} is defined for all of them")


def per_query(name, k, ties):
    return bound(name, k, ties=ties, average=None, replace_undefined_by=-9.0)


def by_id(metric, y_true, y_score, qid, **masks):
    values = metric(y_true, y_score, qid=qid, **masks)
    return dict(zip(dict.fromkeys(qid), values, strict=True))


@names
@given(table=tables, k=cutoffs, ties=policies)
def test_lies_within_its_bounds(name, table, k, ties):
    y_true, y_score, qid = table
    record = REGISTRY[name].record
    sign = 1 if record.greater_is_better else -1
    values = sign * per_query(name, k, ties)(y_true, y_score, qid=qid)
    defined = values[values != -9]
    assert (defined >= record.lower).all()
    assert (defined <= record.upper).all()


@names
@given(
    table=tables,
    k=cutoffs,
    ties=st.sampled_from(["average", "best", "worst"]),
    seed=st.integers(0, 99),
)
def test_ignores_the_order_of_rows(name, table, k, ties, seed):
    metric = per_query(name, k, ties)
    expected = by_id(metric, *table)
    shuffled = np.random.default_rng(seed).permutation(table, axis=1)
    assert by_id(metric, *shuffled) == pytest.approx(expected, abs=1e-12)


@names
def test_needs_a_cutoff_to_depend_on_the_order(name):
    labels = [[3, 0, 1, 0, 2, 0]] * 2
    there_and_back = [[6, 5, 4, 3, 2, 1], [1, 2, 3, 4, 5, 6]]
    first, second = bound(name, average=None)(labels, there_and_back)
    record = REGISTRY[name].record
    assert (first == second) == record.needs_cutoff, "the record says whether it needs a cutoff"
    assert record.has_cutoff >= record.needs_cutoff


@names
@given(table=tables, k=cutoffs, ties=policies)
@pytest.mark.option("metrics.*.qid")
def test_ignores_what_ids_are_called(name, table, k, ties):
    y_true, y_score, qid = table
    metric = per_query(name, k, ties)
    expected = metric(y_true, y_score, qid=qid)
    np.testing.assert_array_equal(metric(with_qid(y_true, qid), y_score), expected)
    numbers = qid.astype(int)
    texts = [f"q{number}" for number in numbers]
    for other in (numbers, numbers + 2**60, texts, numbers.astype("datetime64[D]")):
        np.testing.assert_array_equal(metric(y_true, y_score, qid=other), expected)


@names
@given(table=tables, k=cutoffs, ties=policies)
def test_depends_on_the_order_of_scores_only(name, table, k, ties):
    y_true, y_score, qid = table
    metric = per_query(name, k, ties)
    expected = metric(y_true, y_score, qid=qid)
    np.testing.assert_array_equal(metric(y_true, np.exp(y_score) - 5, qid=qid), expected)
    infinite = y_score.copy()
    infinite[y_score == y_score.max()] = np.inf
    if y_score.min() < y_score.max():
        infinite[y_score == y_score.min()] = -np.inf
    np.testing.assert_array_equal(metric(y_true, infinite, qid=qid), expected)


@names
@given(table=tables, ties=policies)
def test_labels_may_be_negative_if_only_their_order_counts(name, table, ties):
    y_true, y_score, qid = table
    metric, signed = per_query(name, None, ties), REGISTRY[name].record.signed
    shifted = metric
    if isinstance(signed, str):
        with pytest.raises(ValueError, match=f"y_true contains -6.0, first at row .* for {name}"):
            metric(y_true - 6.0 - y_true[0], y_score, qid=qid)
        metric, shifted = metric.replace(**{signed: 5.5}), metric.replace(**{signed: 1.5})
        y_true = y_true + 4
    if signed:
        np.testing.assert_array_equal(
            shifted(y_true - 4, y_score, qid=qid), metric(y_true, y_score, qid=qid)
        )
        with pytest.raises(ValueError, match="y_true contains -4"):
            metric([-4.0, 1.0], [1, 2], qid=[1, 1], judged=[True, True])
    else:
        with pytest.raises(
            ValueError, match=r"y_true contains -1.0, first at row 0\. Labels must be >= 0 for"
        ):
            metric(y_true - y_true[0] - 1, y_score, qid=qid)


@names
@given(table=tables, k=cutoffs)
def test_the_expectation_lies_between_worst_and_best(name, table, k):
    y_true, y_score, qid = table
    worst, average, best = (
        per_query(name, k, ties)(y_true, y_score, qid=qid) for ties in ("worst", "average", "best")
    )
    assert (worst <= average + 1e-12).all()
    assert (average <= best + 1e-12).all()


@names
@given(table=tables, k=cutoffs, ties=policies)
def test_no_order_is_better_than_that_by_label(name, table, k, ties):
    y_true, y_score, qid = table
    metric = per_query(name, k, ties)
    by_label = metric(y_true, y_true, qid=qid)
    by_score = metric(y_true, y_score, qid=qid)
    assert (by_label >= by_score - 1e-12).all()


@pytest.mark.parametrize("name", END_WITH_THE_LIST)
@given(table=tables, ties=policies)
def test_a_cutoff_behind_the_list_is_none(name, table, ties):
    y_true, y_score, qid = table
    metric = per_query(name, None, ties)
    if REGISTRY[name].record.divides_by_k:
        metric = metric.replace(divisor="retrieved")
    whole = metric(y_true, y_score, qid=qid)
    cut = metric.replace(k=10_000)(y_true, y_score, qid=qid)
    np.testing.assert_array_equal(cut, whole)


@names
@given(table=tables, k=cutoffs, ties=policies)
@pytest.mark.option("metrics.*.sample_weight", "metrics.*.average")
def test_the_mean_is_that_of_the_queries_and_weights_weigh(name, table, k, ties):
    y_true, y_score, qid = table
    metric = bound(name, k, ties=ties)
    values = metric(y_true, y_score, qid=qid, average=None)
    assert metric(y_true, y_score, qid=qid) == pytest.approx(values.mean(), abs=1e-12)
    weight_of = {query: 1.0 + place for place, query in enumerate(dict.fromkeys(qid))}
    expected = np.average(values, weights=list(weight_of.values()))
    weights = [weight_of[query] for query in qid]
    weighted = metric(y_true, y_score, qid=qid, sample_weight=weights)
    assert weighted == pytest.approx(expected, abs=1e-12)


@names
@given(table=tables, k=cutoffs, ties=policies)
def test_two_dimensions_are_a_query_a_row(name, table, k, ties):
    metric = bound(name, k, ties=ties)
    y_true, y_score, _ = table
    assume(len(y_true) > 1)  # a column is refused
    labels = np.stack([y_true, y_true])
    scores = np.stack([y_score, -y_score])
    qid = np.repeat([7, 3], len(y_true))
    rows = metric(labels, scores, average=None)
    flat = metric(labels.ravel(), scores.ravel(), qid=qid)
    assert rows.mean() == pytest.approx(flat, abs=1e-12)


@names
@pytest.mark.option("metrics.*.min_documents")
def test_queries_with_fewer_documents_are_undefined(name, rows):
    y_true, y_score, qid = rows
    sizes = np.array([np.sum(qid == query) for query in dict.fromkeys(qid.tolist())])
    plain = bound(name, average=None)
    least = int(np.median(sizes))
    short = sizes < least
    assert short.any()
    metric = plain.replace(min_documents=least, replace_undefined_by=-2.0)
    values = metric(y_true, y_score, qid=qid)
    own = plain(y_true, y_score, qid=qid)
    assert (values[short] == (2.0 if metric.negative else -2.0)).all()
    defined = ~short & (own != 0)
    np.testing.assert_array_equal(values[defined], own[defined])
    with pytest.raises((TypeError, ValueError), match="min_documents must be"):
        plain.replace(min_documents=0)


@names
@pytest.mark.option("metrics.*.replace_undefined_by")
def test_an_undefined_query_has_the_value_that_replaces_it_and_its_weight(name):
    metric = bound(name, 2)
    if REGISTRY[name].record.undefined is None:
        assert metric([[0, 0]], [[2, 1]]) == 0
        with pytest.raises(
            ValueError, match=r"replace_undefined_by must be left out .* if normalize=False"
        ):
            metric([[0, 0]], [[2, 1]], replace_undefined_by=0.25)
        return
    labels, scores, shown = undefined_query(name)
    rows = {
        "y_true": [1, 0, 1, 0, *labels],
        "y_score": [4, 3, 2, 1, *scores],
        "qid": ["a"] * 4 + ["b"] * 2,
    }
    rows["retrieved"] = [True] * 4 + shown
    sign = 1 if REGISTRY[name].record.greater_is_better else -1  # it is a value of the function
    for value in (0, np.nan, 0.25):
        given = {"replace_undefined_by": value} if value else {}
        first, second = metric(**rows, **given, average=None)
        assert first != 0
        np.testing.assert_equal(second, sign * value)
        expected = first if np.isnan(value) else (1 * first + 3 * second) / 4
        assert metric(**rows, **given, sample_weight=[1] * 4 + [3] * 2) == pytest.approx(expected)
    assert np.isnan(metric([labels], [[1, 2]], retrieved=[shown], replace_undefined_by=np.nan))


@names
def test_micro_average_only_where_documents_can_be_pooled(name, rows):
    record = REGISTRY[name].record
    options = {record.pooled: True} if isinstance(record.pooled, str) else {}
    if not record.pooled or options:
        with pytest.raises(ValueError, match="average='micro' is not defined"):
            bound(name, average="micro")
    if not record.pooled:
        return
    y_true, y_score, qid = rows
    metric = bound(name, 2, average="micro", **options)
    # Over queries of one length and one number of relevant documents, pooling is the mean.
    alike = [[1, 0, 0], [0, 1, 0]], [[3, 2, 1], [3, 2, 1]]
    assert metric(*alike) == metric(*alike, average="macro") != 0
    # A query of weight 0 is as good as absent.
    weights = np.where(qid == "f", 0.0, 1.0)
    kept = qid != "f"
    expected = metric(y_true[kept], y_score[kept], qid=qid[kept])
    assert metric(y_true, y_score, qid=qid, sample_weight=weights) == pytest.approx(
        expected, abs=1e-12
    )


def test_pooled_precision_of_queries_without_relevant_documents():
    # One hit among two; the query without relevant documents has two further ranks, of value 0 unless told otherwise.
    rows = {"y_true": [[1, 0], [0, 0]], "y_score": [[2, 1], [2, 1]]}
    for value, expected, weighted in (
        (0, (1 + 0) / 4, 1 / (2 + 3 * 2)),
        (0.5, (1 + 0.5 * 2) / 4, (1 + 3 * 0.5 * 2) / (2 + 3 * 2)),
        (np.nan, 1 / 2, 1 / 2),
    ):
        metric = get_metric("precision(average=micro)", replace_undefined_by=value)
        assert metric(**rows) == expected
        assert metric(**rows, sample_weight=[1, 3]) == weighted
        np.testing.assert_equal(metric([[0, 0]], [[2, 1]]), value)
    assert get_metric("f1(average=micro)@2")(**rows) == 2 * 1 / (2 + 1)


@pytest.mark.parametrize("label_type", ["float16", "float32", "float64", "longdouble", "int64"])
@pytest.mark.parametrize(
    "name", ["precision", "recall", "hit_rate", "mrr", "map", "auc", "bpref", "rbp", "err"]
)
@pytest.mark.slow
def test_thresholds_compare_as_in_numpy(name, label_type):
    binary = {"gain": "binary"} if name in ("rbp", "err") else {}
    plain = get_metric(name, average=None, **binary)
    scores = [[3, 2, 1], [1, 2, 2]]
    thresholds = [0.7, 0.1, 1 / 3, 2 / 3, 5 / 11, 1.0, 1.1, 2, 1e-9, 1e-300]
    if label_type != "float16":  # of whose overflow NumPy warns
        thresholds.append(1e6)
    for threshold in thresholds:
        metric = plain.replace(relevance_threshold=threshold)
        for number in (threshold, 0.5, 1, 3):
            labels = np.array([[0, number, 0.3], [5, 0, 0]], dtype=label_type)
            relevant = (labels >= threshold) & (labels > 0)
            expected = plain(relevant.astype(float), scores)
            np.testing.assert_array_equal(metric(labels, scores), expected)


@pytest.mark.parametrize("label_type", ["float16", "float32", "float64"])
def test_above_half_is_not_half_in_any_type(label_type):
    labels = np.array([[0.5, 0.75]], dtype=label_type)
    assert get_metric("recall@1", convention="catboost")(labels, [[2, 1]]) == 0
    assert get_metric("recall@1", convention="catboost")(labels, [[1, 2]]) == 1


@names
def test_pickles(name, rows):
    y_true, y_score, qid = rows
    metric = bound(name, ties="worst")
    copied = pickle.loads(pickle.dumps(metric))
    assert copied(y_true, y_score, qid=qid) == metric(y_true, y_score, qid=qid)
    assert pickle.loads(pickle.dumps(REGISTRY[name])) is REGISTRY[name]


@names
def test_is_a_public_function_a_name_and_a_scorer(name):
    function = REGISTRY[name]
    assert getattr(skrank_metrics, function.__name__) is function
    assert function.__name__ in skrank_metrics.__all__
    assert function.__module__.startswith("skrank_metrics.metrics.")
    assert str(get_metric(name)) == name
    assert str(get_metric(function)) == name.removeprefix("neg_")
    assert f"make_scorer({name}," in repr(make_ranking_scorer(name))


@names
def test_its_record_says_where_it_comes_from(name):
    record = REGISTRY[name].record
    assert record.reference.doi.startswith("10.")
    assert record.reference.url in REGISTRY[name].__doc__
    assert record.summary.count(": ") == 1
    assert record.transform in {"gains", "hazards", "products", "misses", "pairs"}


@names
@given(table=tables, k=cutoffs, ties=policies, seed=st.integers(0, 99))
@pytest.mark.option("metrics.*.retrieved")
def test_documents_that_were_not_retrieved_are_not_ranked(name, table, k, ties, seed):
    y_true, y_score, qid = table
    metric = per_query(name, k, ties)
    everything = np.ones(len(qid), dtype=bool)
    expected = metric(y_true, y_score, qid=qid)
    np.testing.assert_array_equal(metric(y_true, y_score, qid=qid, retrieved=everything), expected)
    # More documents that are not relevant and that nobody returned change nothing, whatever their scores.
    if REGISTRY[name].record.counts_others:
        return
    others = np.array([[0.0, 0.0, 0.0], [np.nan, 9.0, -9.0], [0.0, 0.0, 0.0]])
    others[2] = np.random.default_rng(seed).choice(qid, 3)
    longer = np.hstack([others, table])
    retrieved = np.r_[False, False, False, everything]
    values = by_id(metric, *longer, retrieved=retrieved)
    assert values == pytest.approx(by_id(metric, *table), abs=1e-12)


@pytest.mark.parametrize(
    "name", [n for n in get_metric_names() if not REGISTRY[n].record.depth_is_relevant]
)
def test_relevant_documents_that_were_not_retrieved_never_help(name):
    y_true, y_score, qid = [2, 0, 1, 3], [4, 3, 2, 9], [1, 1, 1, 1]
    metric = bound(name, 3)
    missed = metric(y_true, y_score, qid=qid, retrieved=[True, True, True, False])
    assert missed <= metric(y_true[:3], y_score[:3], qid=qid[:3])


@names
@pytest.mark.parametrize("retrieved", [[False, False, False], [False, False, True]])
def test_a_query_for_which_nothing_or_one_document_was_retrieved(name, retrieved):
    value = bound(name, replace_undefined_by=-1.0)(
        [1, 0, 1], [3, 2, 1], qid=[1, 1, 1], retrieved=retrieved
    )
    assert np.isfinite(value)


@pytest.mark.slow
@names
def test_a_long_list_of_tied_documents_takes_no_square_of_its_length(name):
    n = 20_000
    labels = np.random.default_rng(0).integers(0, 4, n)
    metric = bound(name, 10)
    tracemalloc.start()
    value = metric(labels, np.zeros(n), qid=np.zeros(n))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * labels.nbytes
    worst, best = (
        metric(labels, np.zeros(n), qid=np.zeros(n), ties="worst"),
        metric(labels, labels, qid=np.zeros(n)),
    )
    assert worst <= value <= best


@pytest.mark.slow
def test_correlations_of_long_constant_lists_are_undefined():
    for n in (333_333, 600_007, 777_777):
        value = get_metric("spearman", replace_undefined_by=np.nan)(
            np.ones((1, n)), np.arange(float(n))[None]
        )
        assert np.isnan(value)
