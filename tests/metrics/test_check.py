"""Kernels registered from outside the package, and the check of a user's metric."""

import threading

import numpy as np
import pytest
from joblib import wrap_non_picklable_objects

import skrank_metrics
from skrank_metrics import check_metric, evaluate, get_metric, make_metric, register_metric
from skrank_metrics.metrics.custom import Discount, Gain, RankedLists, RelevanceThreshold
from skrank_metrics.metrics.names import REGISTRY

ROWS = {"y_true": [2, 0, 1, 0, 1], "y_score": [5, 4, 3, 2, 2], "qid": ["a", "a", "a", "b", "b"]}


def test_a_metric_of_documents_is_checked_with_their_columns():
    def revenue(labels, price, k=None):
        return float((labels * price)[:k].sum())

    check_metric(make_metric(revenue, documents=["price"]))

    def red_first(labels, colour):
        return float(colour[0] == "red")

    check_metric(make_metric(red_first, documents=["colour"]), documents={"colour": ["red", "blue"]})


def register_recall(name="own_recall", **options):
    options = {"bounds": (0, 1), "undefined": "no relevant document", "pooled": True, **options}

    @register_metric(name, **options)
    def own_recall_score(ranked: RankedLists, *, relevance_threshold: RelevanceThreshold = None, weight=1.0):
        """Own recall: the hits in the first k divided by R."""
        hits = ranked.relevance(relevance_threshold).sum(axis=1)
        return weight * hits, ranked.n_relevant(relevance_threshold)

    return own_recall_score


@pytest.mark.slow
@pytest.mark.option("register_metric.has_cutoff", "register_metric.bounds", "register_metric.formula")
def test_a_registered_kernel_is_a_metric_with_a_name():
    function = register_recall(formula=r"\frac{\text{hits}}{R}")
    assert get_metric("own_recall(relevance_threshold=2)@1").function is function
    assert function(**ROWS, k=1) == skrank_metrics.recall_at_k_score(**ROWS, k=1) == get_metric("OWN_recall@1")(**ROWS)
    assert function(**ROWS, weight=0.5, average="micro") == 0.5
    assert (function.record.formula, function.record.bounds) == (r"\frac{\text{hits}}{R}", "[0, 1]")
    assert ".. math::\n\n    \\frac{\\text{hits}}{R}\n\n" in function.__doc__
    assert "relevance_threshold : float or None, default=None" in function.__doc__
    assert "weight : object, default=1.0" in function.__doc__
    check_metric("own_recall")
    with pytest.raises(ValueError, match="relevance_threshold must be a number"):
        get_metric("own_recall(relevance_threshold=0)")
    without = register_recall("no_cutoff", has_cutoff=False)
    with pytest.raises(TypeError, match="unexpected parameter 'k'"):
        without(**ROWS, k=1)


@pytest.mark.slow
def test_gains_and_discounts_are_checked_as_those_of_the_package():
    @register_metric("own_dcg")
    def own_dcg_score(ranked, *, gain: Gain = "linear", discount: Discount = "log2"):
        return ranked.gains(gain) @ (1 / discount(ranked.ranks))

    assert own_dcg_score(**ROWS, gain="exp2") == skrank_metrics.dcg_score(**ROWS, gain="exp2")
    with pytest.raises(ValueError, match="gain must be one of"):
        own_dcg_score(**ROWS, gain="cubic")
    check_metric(own_dcg_score)


def test_names_of_gains_and_discounts_need_the_annotation():
    @register_metric("own_gain")
    def own_gain_score(ranked, *, gain="linear"):
        return ranked.gains(gain).sum(axis=1)

    @register_metric("own_ideal")
    def own_ideal_score(ranked, *, gain: Gain = "linear", discount="log2"):
        return ranked.ideal(gain, discount)

    @register_metric("own_stop")
    def own_stop_score(ranked):
        return ranked.stops("linear").sum(axis=1)

    for metric, name, got in [(own_gain_score, "gain", "linear"), (own_ideal_score, "discount", "log2")]:
        with pytest.raises(
            TypeError, match=rf"{name} must be a function .*; got '{got}'\. Annotate .* {name}: {name.title()} ="
        ):
            metric(**ROWS)
    with pytest.raises(TypeError, match="gain must be a function of an array in a kernel; got 'linear'"):
        own_stop_score(**ROWS)


@pytest.mark.option("register_metric.bounds")
def test_values_outside_the_bounds_raise_as_in_make_metric():
    own = register_recall(bounds=(0, 1))
    assert own(**ROWS, weight=1 + 1e-12) == pytest.approx(1)  # by rounding only
    with pytest.raises(ValueError, match=r"own_recall_score must return values within its bounds, 0 to 1; got 2\.0"):
        own(**ROWS, weight=2.0)
    with pytest.raises(ValueError, match=r"within its bounds, 0 to 1; got -1\.0"):
        own(**ROWS, weight=-1.0)

    @register_metric("own_rank", bounds=(1, np.inf), undefined="no relevant document")
    def own_rank_score(ranked):
        return ranked.relevance(None).argmax(axis=1) + 1.0 - (ranked.n_relevant(None) == 0)

    rows = {"y_true": [0, 1, 0, 0], "y_score": [2, 1, 2, 1], "qid": [0, 0, 1, 1]}
    assert own_rank_score(**rows, replace_undefined_by=np.nan, average=None)[0] == 2  # 0 is not counted

    @register_metric("own_nan", bounds=(0, 1))
    def own_nan_score(ranked):
        return np.full(len(ranked.n_documents), np.nan)

    assert np.isnan(own_nan_score(**ROWS, replace_undefined_by=np.nan))


@pytest.mark.slow
@pytest.mark.option("register_metric.greater_is_better", "register_metric.undefined", "register_metric.pooled")
def test_traits_of_a_registered_metric():
    @register_metric("neg_rank_of_last", greater_is_better=False, undefined="nothing", reference="A. Author")
    def rank_of_last(ranked):
        return ranked.n_documents.astype(float)

    assert get_metric("neg_rank_of_last")(**ROWS) == -2.5
    assert "Undefined for a query with nothing." in rank_of_last.__doc__
    with pytest.raises(ValueError, match="average='micro' is not defined for rank_of_last"):
        rank_of_last(**ROWS, average="micro")
    check_metric("neg_rank_of_last")
    assert register_recall(pooled=True)(**ROWS, k=1, average="micro") == (1 + 1 / 2) / 3


@pytest.mark.option("register_metric.reference")
def test_reference_of_a_registered_metric():
    assert (
        "References\n----------\nA. Author (2020). Title."
        in register_recall(reference="A. Author (2020). Title.").__doc__
    )
    assert "References" not in register_recall().__doc__


def test_names_of_others_are_not_taken_and_a_cell_can_run_again():
    with pytest.raises(ValueError, match="name must be new; 'recall' is the metric recall_at_k_score"):
        register_recall("recall")
    with pytest.raises(ValueError, match="name must start with 'neg_' if, and only if, smaller values are better"):
        register_recall("own", greater_is_better=False)
    with pytest.raises(ValueError, match=r"name must be at most 64 .* got 'Own'"):
        register_recall("Own")
    first, second = register_recall(), register_recall()
    assert REGISTRY["own_recall"] is second is not first

    with pytest.raises(ValueError, match="name must be new; 'own_recall' is the metric own_recall_score"):

        @register_metric("own_recall")
        def another(ranked):
            return ranked.ranks

    with pytest.raises(ValueError, match="name must be new; 'own_recall' is the metric own_recall_score"):
        make_metric(lambda labels: 1.0, name="own_recall")


@pytest.mark.parametrize("result", [1.0, [1.0], np.ones((2, 3))])
def test_what_a_kernel_returns_is_one_value_per_query(result):
    @register_metric("odd")
    def odd_score(ranked):
        return np.asarray(result)

    with pytest.raises(ValueError, match=r"odd_score must return one value per query, .* got an array of shape"):
        odd_score([[1, 0], [0, 1]], [[2, 1], [2, 1]])


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda n: np.ma.masked_all(n), "must return real numbers, NaN if undefined; got a masked array"),
        (lambda n: np.full(n, 1j), "must return real numbers, .* got an array of dtype complex128"),
        (lambda n: np.full(n, "1"), "must return real numbers, .* got an array of dtype <U1"),
        (lambda n: np.full(n, np.inf), "must return finite numbers, or NaN if it is undefined; got inf"),
        (lambda n: (np.ones(n), np.zeros(n)), "must not divide by 0; only 0 / 0 is undefined"),
    ],
)
def test_what_a_kernel_returns_are_finite_real_numbers(result, message):
    @register_metric("odd")
    def odd_score(ranked):
        return result(len(ranked.n_documents))

    with pytest.raises(ValueError, match=f"odd_score {message}"):
        odd_score(**ROWS)


def test_kernels_share_arrays_that_nobody_can_change():
    @register_metric("odd")
    def odd_score(ranked, *, of="relevance"):
        array = getattr(ranked, of)(None)
        array *= 2
        return array.sum(axis=1)

    for of in ("relevance", "hit_products"):
        with pytest.raises(ValueError, match=r"odd_score must not change arrays of ranked, .* Change a copy"):
            evaluate(**ROWS, metrics=[get_metric("odd", of=of), "precision"])


def test_an_overflow_on_the_way_is_no_error():
    def logistic(x):
        return 1 / (1 + np.exp(1000.0 * x))

    @register_metric("odd")
    def odd_score(ranked):
        return logistic(ranked.relevance(None)).sum(axis=1)

    with pytest.warns(RuntimeWarning, match="overflow encountered in exp"):
        assert odd_score([[1, 0]], [[2, 1]]) == 1 / 2
    with pytest.warns(RuntimeWarning, match="overflow encountered in exp"):
        assert make_metric(lambda labels: logistic(labels).sum(), name="mine")([[1, 0]], [[2, 1]]) == 1 / 2


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (lambda ranked, *, k=None: 0, r"must not have an option k, .* Read ranked\.k"),
        (lambda ranked, *, ties="best": 0, "must not have an option ties, which all metrics have"),
        (lambda ranked, gain="linear": 0, r"must take its options by name, after a \*; <lambda> takes gain"),
    ],
)
def test_options_that_a_kernel_cannot_have(kernel, message):
    with pytest.raises(TypeError, match=message):
        register_metric("odd_options")(kernel)
    assert "odd_options" not in REGISTRY


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fall_out", "name must be new; 'neg_fall_out' is the metric fall_out_score"),
        ("neg_ndcg", "name must be new; 'ndcg' is the metric ndcg_score"),
        ("ndcg_at_10", "name must not end in a cutoff rank, since ndcg_at_10 means ndcg@10; got 'ndcg_at_10'"),
    ],
)
def test_names_that_would_be_taken_for_others(name, message):
    with pytest.raises(ValueError, match=message):
        register_metric(name, greater_is_better=not name.startswith("neg_"))(lambda ranked: ranked.n_documents)


def test_a_kernel_of_a_notebook_reaches_other_processes():
    import pickle

    bound = get_metric(register_recall(), k=1)
    copied = pickle.loads(pickle.dumps(wrap_non_picklable_objects(bound, keep_wrapper=False)))
    assert copied(**ROWS) == bound(**ROWS)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ndcg(gain=exp2)", "map(normalizer=hits)", "mrr", "neg_fall_out", "bpref"])
def test_metrics_of_the_package_pass(name):
    check_metric(name)


@pytest.mark.slow
@pytest.mark.option("check_metric.labels")
def test_labels_that_a_metric_takes():
    check_metric("pfound@3", labels=[0, 0.4, 1])
    with pytest.raises(AssertionError, match=r"pfound.* must accept the labels \[0, 1, 2, 3\], or be checked .*; got"):
        check_metric("pfound")


def first(labels):
    return labels[0]


LOCK, CALLS = threading.Lock(), []


@pytest.mark.parametrize(
    ("function", "bounds", "message"),
    [
        (lambda labels: CALLS.append(1) or len(CALLS), (0, 1e9), "must give the same values when called again"),
        (lambda labels: labels[0], (0, 2), r"numbers within its bounds, 0 to 2; got 3\.0"),
        (lambda labels, lock=LOCK: 1.0, (0, 1), "must be picklable to be used with n_jobs; got PicklingError"),
        (lambda labels, k=None: float(k is None), (0, 1), "must be the same with k=5 as without a cutoff"),
    ],
)
@pytest.mark.slow
def test_finds_what_is_wrong_with_a_function(function, bounds, message):
    check_metric(make_metric(first))
    with pytest.raises(AssertionError, match=rf"^broken\(ties=average\).*{message}"):
        check_metric(make_metric(function, name="broken", bounds=bounds))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (
            lambda ranked: ranked.relevance(None).sum(axis=1) ** 2,
            r"mean over all orders of tied .* got 0\.25 instead of 0\.5",
        ),
        (
            lambda ranked: 9 * ranked.gains(lambda labels: labels).sum(axis=1),
            "must accept the labels .* must return values within its bounds, 0 to 25; got 27",
        ),
        (lambda ranked: np.arange(len(ranked.n_documents)) / 100, "must be the mean over all orders|not depend"),
        (lambda ranked: ranked.ranks, "must accept the labels .*one value per query"),
    ],
)
def test_finds_what_is_wrong_with_a_kernel(kernel, message):
    register_metric("broken", bounds=(0, 25))(kernel)
    with pytest.raises(AssertionError, match=rf"^broken\(ties=average\).*{message}"):
        check_metric("broken")
