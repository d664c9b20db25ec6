"""What bad input gets: an error that names the argument, what was expected and what came.

integration/test_hostile.py has the labels, scores, ids and cutoffs that any metric refuses or takes.
"""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skrank_metrics import evaluate, get_metric, ndcg_score, with_qid
from skrank_metrics._input.arrays import as_numpy
from skrank_metrics.metrics import get_metric_names
from skrank_metrics.reports import RankingReport

CALLS = [
    get_metric(name, **{"pfound": {"gain": "exp2"}}.get(name, {})) for name in get_metric_names()
] + [evaluate]
every_call = pytest.mark.parametrize("call", CALLS, ids=[*get_metric_names(), "evaluate"])

Y, S, Q = [1, 0, 2, 0], [0.4, 0.3, 0.2, 0.1], ["a", "a", "b", "b"]

BAD_WEIGHTS = [
    ([1, 2, 3, 3], "sample_weight must be constant within a query; got 1.0 and 2.0 in query .*'a'"),
    ([1, 1, 3], r"sample_weight must hold one weight per document, 4 in all; got shape \(3,\)"),
    ([1, 1, -1, -1], "sample_weight contains -1.0, first at row 2"),
    ([1, 1, float("nan"), 1], "sample_weight contains NaN, first at row 2"),
    (
        [1, 1, np.inf, np.inf],
        r"sample_weight contains inf, first at row 2\. Weights must be finite",
    ),
    ([0, 0, 0, 0], "sample_weight must not be zero everywhere"),
    (np.ones((4, 1)), r"sample_weight must not be a column.*got shape \(4, 1\)"),
]


@every_call
def test_bad_weights(call):
    for sample_weight, message in BAD_WEIGHTS:
        with pytest.raises(ValueError, match=message):
            call(Y, S, qid=Q, sample_weight=sample_weight)


@every_call
def test_two_dimensions_come_without_ids(call):
    with pytest.raises(ValueError, match="Leave out qid if y_true is 2-D"):
        call([Y], [S], qid=Q)
    with pytest.raises(ValueError, match="Leave out qid if y_true is 2-D"):
        call(pd.DataFrame([Y], index=pd.Index(["a"], name="qid")), [S])
    with pytest.raises(ValueError, match="sample_weight must hold one weight per query, 1 in all"):
        call([Y], [S], sample_weight=[1, 1, 1, 1])
    with pytest.raises(ValueError, match="y_true contains NaN, first at row 1, column 0"):
        call([[1, 0], [np.nan, 0]], [[1, 0], [1, 0]])


UNLESS = "must be left out unless gain='{}', since it has no effect otherwise; got"
BAD_PARAMETERS = [
    (
        "ndcg",
        {"ties": "averge"},
        ValueError,
        "ties must be one of .* got 'averge'. Did you mean 'average'",
    ),
    ("ndcg", {"average": "weighted"}, ValueError, "average must be one of .*got 'weighted'"),
    (
        "ndcg",
        {"replace_undefined_by": "0"},
        TypeError,
        "undefined_by must be a finite number or nan; got '0'",
    ),
    (
        "ndcg",
        {"replace_undefined_by": np.inf},
        ValueError,
        "undefined_by must be a finite number or nan; got inf",
    ),
    (
        "ndcg",
        {"gain": "exp"},
        ValueError,
        r"gain must be one of \['linear', 'exp2', 'binary'\]; got 'exp'. Did you mean 'exp2'",
    ),
    ("ndcg", {"gain": 3}, ValueError, "gain must be one of"),
    ("ndcg", {"gain": [0, 1, -1]}, ValueError, "gain must hold one finite gain >= 0"),
    ("ndcg", {"gain": [[0, 1]]}, ValueError, "gain must hold one finite gain >= 0"),
    ("ndcg", {"discount": "log"}, ValueError, "discount must be one of .* Did you mean 'log2'"),
    (
        "ndcg",
        {"cutoff": 3},
        TypeError,
        "parameter 'cutoff'; it takes qid, sample_weight, retrieved, judged, k",
    ),
    ("ndcg", {"qids": [1]}, TypeError, "unexpected parameter 'qids'; it takes qid"),
    *(
        (
            "map",
            {"relevance_threshold": value},
            ValueError,
            r"threshold must be a number in \(0, inf\) or None",
        )
        for value in (0, -1, np.nan, np.inf)
    ),
    ("map", {"normalizer": "max"}, ValueError, "normalizer must be one of .* got 'max'"),
    ("rbp", {"p": 0}, ValueError, r"p must be a number in \(0, 1\); got 0"),
    ("rbp", {"p": 1}, ValueError, r"p must be a number in \(0, 1\); got 1"),
    ("err", {"p": 1.5}, ValueError, r"p must be a number in \(0, 1\]; got 1.5"),
    ("err", {"p": np.nan}, ValueError, r"p must be a number in \(0, 1\]; got nan"),
    ("pfound", {"p": "0.8"}, TypeError, r"p must be a number in \(0, 1\]; got '0.8'"),
    ("err", {"max_grade": 0}, ValueError, "max_grade must be a number in \\(0, 1000\\]; got 0"),
    ("err", {"gain": "exp"}, ValueError, r"gain must be one of .* got 'exp'. Did you mean 'exp2'"),
    ("q_measure", {"beta": -1}, ValueError, "beta must be a number in \\[0, inf\\); got -1"),
    ("q_measure", {"beta": "1"}, TypeError, "beta must be a number in \\[0, inf\\); got '1'"),
    (
        "neg_kendall_tau_distance",
        {"normalize": "yes"},
        TypeError,
        "normalize must be True or False; got 'yes'",
    ),
    (
        "neg_kendall_tau_distance",
        {"average": "micro"},
        ValueError,
        "is not defined for kendall_tau_distance; pass 'macro'",
    ),
    (
        "err",
        {"gain": "binary", "max_grade": 3},
        ValueError,
        f"max_grade {UNLESS.format('exp2')} max_grade=3 and",
    ),
    (
        "pfound",
        {"max_grade": 4},
        ValueError,
        f"max_grade {UNLESS.format('exp2')} max_grade=4 and gain='linear'",
    ),
    (
        "rbp",
        {"max_grade": 4},
        ValueError,
        f"max_grade {UNLESS.format('exp2')} max_grade=4 and gain='binary'",
    ),
    (
        "nerr",
        {"relevance_threshold": 2},
        ValueError,
        f"relevance_threshold {UNLESS.format('binary')} .* gain='exp2'",
    ),
]


@pytest.mark.parametrize(("spec", "params", "error", "message"), BAD_PARAMETERS)
def test_bad_parameters_are_refused_before_there_are_data(spec, params, error, message):
    metric = get_metric(spec)
    with pytest.raises(error, match=message):
        get_metric(spec, **params)
    with pytest.raises(error, match=message):
        metric.function(None, None, **params)


@pytest.mark.skipif(
    np.finfo(np.longdouble).max == np.finfo(float).max, reason="long doubles are as wide as floats"
)
def test_numbers_beyond_the_range_of_float64_are_no_ties():
    large = np.array([np.inf, 0, "1e4001", "1e4000"], dtype=np.longdouble)
    given = [
        {"y_true": Y, "y_score": scores, "qid": Q}
        for scores in (large, list(large), large.astype(object))
    ]
    for rows in (*given, {"y_true": [Y], "y_score": large[None]}):
        with pytest.raises(
            ValueError, match=r"y_score must hold numbers within the range of float64"
        ):
            ndcg_score(**rows)
    assert ndcg_score(Y, np.array([np.inf, 1, 0, -np.inf], dtype=np.longdouble), qid=Q) == 1


@every_call
def test_frames_of_one_query_per_row_name_the_same_queries_and_documents(call):
    y = pd.DataFrame([[1, 0, 1], [0, 1, 0]], index=["u", "v"], columns=["a", "b", "c"])
    scores = y.add([1.0, 3, 0], axis=1)
    expected = str(call(y.to_numpy(), scores.to_numpy()))
    other_names = pl.DataFrame(scores.to_numpy())  # column_0, column_1, column_2
    renumbered = scores.reset_index(drop=True), scores.set_axis(range(3), axis=1)
    for same in (scores, *renumbered, scores.to_numpy(), other_names):
        assert str(call(y, same)) == expected
    where, in_turn = (
        "while {} are taken by",
        "must have the same {} as y_true; got the same labels in different",
    )
    with pytest.raises(
        ValueError, match=f"y_score {in_turn.format('columns')} orders, {where.format('columns')}"
    ):
        call(y, scores[["b", "a", "c"]])
    with pytest.raises(
        ValueError, match=f"y_score {in_turn.format('index')} orders, {where.format('rows')}"
    ):
        call(y, scores.loc[["v", "u"]])
    with pytest.raises(
        ValueError, match="y_score must have the same columns as y_true; got different labels"
    ):
        call(y, scores.set_axis(["b", "c", "d"], axis=1))
    with pytest.raises(ValueError, match=f"retrieved {in_turn.format('columns')} orders"):
        call(y, scores, retrieved=(scores >= 0)[["c", "b", "a"]])
    with pytest.raises(ValueError, match=f"sample_weight {in_turn.format('index')} orders"):
        call(y, scores, sample_weight=pd.Series([1, 2], index=["v", "u"]))


@pytest.mark.parametrize("library", [pl.DataFrame, pa.table])
def test_columns_of_other_libraries(library):
    y, scores = {"a": [1, 0], "b": [0, 1]}, {"b": [1.0, 2.0], "a": [2.0, 1.0]}
    with pytest.raises(
        ValueError, match="y_score must have the same columns as y_true; got the same labels in"
    ):
        ndcg_score(library(y), library(scores))
    assert ndcg_score(library(y), library({name: scores[name] for name in y})) == 1


LARGE = 2**53
LARGE_INTEGERS = {
    "int64": np.array([LARGE + 1, LARGE, 0, 1]),
    "list of NumPy's numbers": [np.int64(LARGE + 1), np.int64(LARGE), np.float64(0.5), 1],
    "list of both signs": [2**63, 2**63 + 1, 0, -1],
    "negative": [-LARGE - 1, -LARGE, 0.5, 1],
    "object array of fractions": np.array(
        [Fraction(LARGE + 1), Fraction(LARGE), Fraction(1, 2), 1], dtype=object
    ),
    "pandas Int64": pd.Series([LARGE + 1, LARGE, 0, 1], dtype="Int64"),
    "polars": pl.Series([LARGE + 1, LARGE, 0, 1]),
    "pyarrow": pa.array([LARGE + 1, LARGE, 0, 1]),
}


@pytest.mark.parametrize("values", LARGE_INTEGERS.values(), ids=LARGE_INTEGERS)
def test_integers_that_float64_would_merge_are_refused(values):
    message = r"must hold integers within \+-2\*\*53, which float64 holds exactly; got \S+ to \S+\. Subtract"
    with pytest.raises(ValueError, match=f"y_score {message}"):
        ndcg_score(Y, values, qid=Q)
    with pytest.raises(ValueError, match=f"y_true {message}"):
        ndcg_score(values, S, qid=Q)
    with pytest.raises(ValueError, match=f"sample_weight {message}"):
        ndcg_score(Y, S, qid=Q, sample_weight=values)


def test_integers_that_float64_would_merge_are_refused_in_two_dimensions():
    table = [[LARGE + 1, LARGE], [0.5, 1]]
    columns = {"a": [LARGE + 1, LARGE], "b": [0.5, 1]}
    frames = [kind(columns) for kind in (pd.DataFrame, pl.DataFrame, pa.table)]
    for values in (table, np.array(table, dtype=object), *frames):
        with pytest.raises(ValueError, match="y_score must hold integers within"):
            ndcg_score([[1, 0], [1, 0]], values)


@pytest.mark.parametrize(
    "kind", [list, tuple, np.array, lambda v: np.array(v, dtype=object), pd.Series]
)
def test_large_floats_and_integers_that_float64_holds_are_numbers(kind):
    assert ndcg_score(Y, kind([1e300, 1e16, -1e16, -np.inf]), qid=Q) == ndcg_score(
        Y, [4, 3, 2, 1], qid=Q
    )
    assert ndcg_score(Y, kind([LARGE, LARGE - 1, 0.5, -LARGE]), qid=Q) == ndcg_score(
        Y, [4, 3, 2, 1], qid=Q
    )
    assert ndcg_score(Y, kind([LARGE, LARGE - 1, 1, -LARGE]), qid=Q) == ndcg_score(
        Y, [4, 3, 2, 1], qid=Q
    )


PROBABILITIES = ("err", "nerr", "pfound", "rbp")
EXP2, LINEAR = "must be at most 4 for gain='exp2' .*", "must be at most 1 for gain='linear' .*"


@every_call
def test_scores_of_documents_that_were_not_retrieved_may_be_missing(call):
    retrieved = [False, True, True, True]
    assert call([1, 0, 1, 0], [np.nan, 1, 2, 0], qid=Q, retrieved=retrieved) is not None
    with pytest.raises(ValueError, match="y_score contains NaN, first at row 2"):
        call([1, 0, 1, 0], [np.nan, 1, np.nan, 0], qid=Q, retrieved=retrieved)


@pytest.mark.parametrize(
    ("spec", "labels", "message"),
    [
        *(
            (f"{name}(gain=exp2)@1", [1, 5], f"y_true {EXP2} got 5. Set max_grade=5")
            for name in PROBABILITIES
        ),
        *(
            (f"{name}(gain=linear)@1", [1, 2], f"y_true {LINEAR} got 2. Use gain='exp2'")
            for name in PROBABILITIES
        ),
        ("dcg(gain=exp2)@1", [1, 2000], "gain='exp2' gives inf for the label 2000"),
        ("cg", [1e308, 1e308], "gain must stay finite when summed over 2 documents"),
        ("ndcg(gain=exp2)", [1023, 1023], "gain must stay finite when summed over 2 documents"),
    ],
)
def test_labels_are_checked_wherever_they_are_ranked(spec, labels, message):
    with pytest.raises(ValueError, match=message):
        get_metric(spec)([labels], [[2, 1]])
    with pytest.raises(ValueError, match=message):
        get_metric(spec)([labels], [[2, 1]], retrieved=[[True, False]])
    if "exp2)@" in spec and "dcg" not in spec:
        assert get_metric(spec, max_grade=5)([labels], [[1, 2]]) > 0


@pytest.mark.parametrize("labels", [[1e300, 1e20, 0], [1e19, 5.5, 1]])
def test_labels_beyond_any_integer(labels):
    for name in ("kendall_tau", "spearman", "pairwise_accuracy", "ndcg", "map"):
        assert get_metric(name)([labels], [[3, 2, 1]]) == pytest.approx(1)
    with pytest.raises(ValueError, match="gain must have an entry for each label"):
        get_metric("ndcg", gain=[0, 1])([labels], [[3, 2, 1]])


LAZY = pl.LazyFrame({"a": [1, 0, 1]})
ROWS = {"y_true": [1, 0, 1], "y_score": [3, 2, 1], "qid": [1, 1, 2]}


@pytest.mark.parametrize(
    "name",
    [*ROWS, "sample_weight", "retrieved", "judged", "by", "groups", "documents"],
)
def test_lazy_frames_are_refused_by_name(name):
    with pytest.raises(TypeError, match=rf"{name} must be in memory; .* Pass {name}.collect\(\)"):
        evaluate(**(ROWS | {name: LAZY}))


def test_lazy_frames_of_values_and_of_documents_in_labels_are_refused():
    with pytest.raises(TypeError, match=r"Pass frame.collect\(\)"):
        RankingReport.from_frame(LAZY)
    with pytest.raises(TypeError, match=r"Pass documents.collect\(\)"):
        with_qid(ROWS["y_true"], ROWS["qid"], documents=LAZY)


NULLABLE = [
    ("boolean", True, "bool"),
    ("Int64", 1, "int64"),
    ("UInt8", 1, "uint8"),
    ("Float32", 1.5, "float32"),
    (pd.ArrowDtype(pa.int64()), 1, "int64"),
    (pd.ArrowDtype(pa.bool_()), True, "bool"),
]


@pytest.mark.parametrize(("dtype", "value", "expected"), NULLABLE)
@pytest.mark.parametrize("kind", [pd.Series, pd.array, pd.Index])
def test_nullable_columns_are_numbers_in_all_versions_of_pandas(kind, dtype, value, expected):
    complete = as_numpy(kind([value, value], dtype=dtype))
    assert complete.dtype == expected
    assert complete.tolist() == [value, value]
    with_gap = as_numpy(kind([value, None], dtype=dtype))
    assert with_gap[0] == value
    assert with_gap.dtype.kind == ("O" if expected == "bool" else "f")


def test_nullable_booleans_are_masks():
    retrieved = pd.Series([True, False, True, True], dtype="boolean")
    expected = ndcg_score(Y, S, qid=Q, retrieved=retrieved.tolist())
    assert ndcg_score(Y, S, qid=Q, retrieved=retrieved) == expected
