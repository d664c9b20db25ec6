import enum
import itertools
import pickle
import sys
import time
import uuid
from contextlib import nullcontext
from datetime import UTC, date, datetime
from datetime import time as time_of_day
from decimal import Decimal
from fractions import Fraction
from functools import partial
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skrank_metrics import (
    QueryKFold,
    evaluate,
    evaluate_run,
    mrr_score,
    ndcg_score,
    with_qid,
)
from skrank_metrics._input.arrays import to_objects
from skrank_metrics._input.query_ids import as_python, check_aligned, group_by_query, group_ids
from skrank_metrics._input.slices import slice_of_query
from skrank_metrics.splitters import query_fold

CARRIED = pd.Series([1, 0, 2], index=pd.Index([5, 6, 6], name="qid"))
TWO_LEVELS = pd.Series(
    [1, 0, 2], index=pd.MultiIndex.from_arrays([[5, 6, 6], [0, 1, 2]], names=["qid", "document"])
)


def found(y, **sources):
    """Ids that are found, as they appear."""
    grouping = group_by_query(3, "A test", y=y, **sources)
    return grouping.ids[grouping.codes].tolist()


@pytest.mark.parametrize("y", [CARRIED, TWO_LEVELS])
def test_rankings_are_by_qid_then_the_index_of_y_then_groups_and_splits_by_groups_first(y):
    assert found(y) == found(y, unit=True) == [5, 6, 6]
    assert (
        found(y, groups=["u", "u", "u"])
        == found(y, qid=[5, 6, 6], groups=["u", "u", "u"])
        == [5, 6, 6]
    )
    assert found([1, 0, 2], groups=["u", "u", "v"]) == ["u", "u", "v"]
    assert found([1, 0, 2], qid=["a", "b", "b"], groups=["u", "v", "v"]) == ["a", "b", "b"]
    assert found([1, 0, 2], qid=["a", "b", "b"], groups=["u", "v", "v"], unit=True) == [
        "u",
        "v",
        "v",
    ]
    assert found(y, groups=["u", "u", "u"], unit=True) == ["u", "u", "u"]
    with pytest.raises(
        ValueError, match="groups must be constant within a query; got u and v in query 6"
    ):
        found(y, groups=["u", "u", "v"], unit=True)


def test_qid_and_the_index_of_y_must_agree():
    assert found(CARRIED, qid=["a", "b", "b"]) == ["a", "b", "b"]  # other names of the same queries
    for qid, got in (([5, 5, 6], "5 and 6 in query 5"), ([6, 6, 6], "5 and 6 in query 6")):
        message = f"qid must agree with the index level 'qid' of y, which must be .* got {got}"
        with pytest.raises(ValueError, match=message):
            found(CARRIED, qid=qid)
    with pytest.raises(ValueError, match=r"of y must agree with qid, .* got 6 and 7 in query 6"):
        found(CARRIED, qid=[5, 6, 7])


@pytest.mark.parametrize(
    "y", [[1, 0, 2], np.array([1, 0, 2]), pd.Series([1, 0, 2]), pl.Series([1, 0, 2])]
)
def test_no_ids_are_an_error_that_names_the_ways_out(y):
    with pytest.raises(
        TypeError, match=r"A test needs the query id .* Pass qid=.* with_qid\(y, qid\)"
    ):
        found(y)
    with pytest.raises(TypeError, match=r"and got none\. Somewhere else\.$"):
        found(y, unit=True, hint="Somewhere else.")


@pytest.mark.parametrize(
    "ids",
    [
        ["a", float("nan"), "b"],
        pa.array([1, None, 2]),
        pd.Series([("a", 1), ("a", None), ("b", 2)]),
        pd.Series([("a", 1), ("a", (pd.NaT,)), ("b", 2)]),
        pd.MultiIndex.from_arrays([["a", "a", "b"], [1, None, 2]]),
        pd.Series(pd.to_datetime(["2001", None, "2002"], utc=True)),
    ],
)
def test_a_missing_id_is_named(ids):
    with pytest.raises(ValueError, match=r"qid must not hold missing ids; got .* at row 1\."):
        ndcg_score([1, 0, 1], [1, 2, 3], qid=ids)


# Further ones are in support/hostile_cases.py and, for strings, in CONTAINERS below.
LARGEST, LARGEST_UNSIGNED, SMALLEST = 2**63 - 1, 2**64 - 1, -(2**63)
TUPLES = [("a", 1), ("a", 2), ("b", 1)]
IN_BERLIN = pd.DatetimeIndex(["2001-10-28 02:30", "2001-10-28 02:30", "2001-10-28 03:30"])
IN_UTC = pd.to_datetime(["2001-10-28 00:30", "2001-10-28 01:30", "2001-10-28 02:30"], utc=True)
AS_PYTHON_HAS_THEM = {
    "unsigned and negative, NumPy's": [
        np.uint64(LARGEST_UNSIGNED),
        np.int64(-1),
        np.uint64(LARGEST_UNSIGNED - 1),
    ],
    "unsigned and negative, as objects": np.array(
        [LARGEST_UNSIGNED, -1, LARGEST_UNSIGNED - 1],
        dtype=object,
    ),
    "a NUL at the end, bytes": [b"a\0", b"a", b""],
    "tuples": TUPLES,
    "tuples of numbers": [(1, 2), (1, 3), (2, 1)],
    "dates and times": [date(2001, 1, 1), datetime(2001, 1, 1), datetime(2001, 1, 1, tzinfo=UTC)],
    "numbers, text, bytes": [1, "a", b"a"],
    "UUIDs": [uuid.UUID(int=1), uuid.UUID(int=2), uuid.UUID(int=0)],
    "large numbers": [10**400, 10**399, 2**64],
    "periods": list(pd.period_range("2001-01", periods=3, freq="M")),
    "tuples of different lengths": [("a", 1), ("a",), ()],
    "a tuple and a string": [("a", 1), "a", ("a",)],
}
ALMOST_EQUAL = {
    **{kind: (ids, ids) for kind, ids in AS_PYTHON_HAS_THEM.items()},
    "the ends of 64 bits": (
        np.array([SMALLEST, LARGEST, SMALLEST + 1]),
        [SMALLEST, LARGEST, SMALLEST + 1],
    ),
    "the ends of uint64": (
        np.array([LARGEST_UNSIGNED, LARGEST_UNSIGNED - 1, 0], dtype=np.uint64),
        [LARGEST_UNSIGNED, LARGEST_UNSIGNED - 1, 0],
    ),
    "the ends of int8": (
        np.array([-128, 127, 0], dtype=np.int8),
        [-128, 127, 0],
    ),
    "far apart": (
        np.array([2**62, 0, 2**56]),
        [2**62, 0, 2**56],
    ),
    "integer and float, NumPy's": (
        [np.int64(2**53 + 1), np.float64(2**53), np.int64(0)],
        [2**53 + 1, 2.0**53, 0],
    ),
    "a tuple of tuples": (tuple(TUPLES), TUPLES),
    "large categories": (
        pd.Categorical([2**60 + 1, 2**60, 2**60 + 2]),
        [2**60 + 1, 2**60, 2**60 + 2],
    ),
    "the hour that comes twice": (
        IN_BERLIN.tz_localize("Europe/Berlin", ambiguous=[True, False, False]),
        list(IN_UTC),
    ),
}


@pytest.mark.parametrize(("ids", "expected"), ALMOST_EQUAL.values(), ids=ALMOST_EQUAL)
def test_ids_that_are_almost_equal_stay_apart(ids, expected):
    if 10**400 in list(expected) and pd.__version__ < "2.2":
        pytest.skip("An index of pandas before 2.2 converts integers to floats.")
    for source in ({"y": [1, 0, 2], "qid": ids}, {"y": with_qid([1, 0, 2], ids)}):
        grouping = group_by_query(3, "A test", **source)
        assert grouping.codes.tolist() == [0, 1, 2]
        assert grouping.ids.tolist() == list(expected)


def test_differences_of_small_integers_do_not_overflow():
    grouping = group_ids(np.tile(np.array([-128, 127, 0], dtype=np.int8), 100), 300)
    assert grouping.ids.tolist() == [-128, 127, 0]
    assert grouping.codes.tolist() == [0, 1, 2] * 100


class Market(str, enum.Enum):  # noqa: UP042 - not StrEnum, whose str() is the value
    GERMANY = "M.DE"
    DENMARK = "M.DK"
    MALTA = "M"


class Key(str):
    __slots__ = ()


class Raw(bytes):
    __slots__ = ()


class Number(enum.IntEnum):
    ONE, TWO, THREE = 2**40 + 1, 2**40 + 2, 2**40 + 3


SUBCLASSES = {
    "str, Enum": list(Market),
    "str": [Key("M.DE"), Key("M.DK"), Key("M.DE\0")],
    "bytes": [Raw(b"M.DE"), Raw(b"M.DK"), Raw(b"M.DE\0")],
    "NumPy's str": [np.str_("M.DE"), np.str_("M.DK"), np.str_("M")],
    "int, Enum": list(Number),
    "float": [np.float64(1), np.float64(2), np.float64(3)],
    "named tuples": [time.struct_time([year] * 9) for year in range(3)],
}


@pytest.mark.parametrize(
    "container", [list, tuple, pd.Series, lambda ids: with_qid([1, 0, 2], ids).index]
)
@pytest.mark.parametrize("ids", SUBCLASSES.values(), ids=SUBCLASSES)
def test_ids_of_subclasses_stay_apart(ids, container):
    assert found([1, 0, 2], qid=container(ids)) == ids
    rows = {"y_true": [1, 0, 1], "y_score": [1, 2, 3], "qid": container(ids)}
    assert mrr_score(**rows, average=None).tolist() == [1, 0, 1]
    report = evaluate(**{**rows, "qid": [1, 2, 3]}, metrics="mrr", by=container(ids))
    assert [report.slices[one].mean["mrr"] for one in ids] == [1, 0, 1]


@pytest.mark.parametrize("kind", ["str, Enum", "str", "bytes", "int, Enum"])
def test_ids_of_subclasses_are_split_as_their_values(kind):
    ids = SUBCLASSES[kind] * 2
    plain = [getattr(one, "value", one) for one in ids]
    plain = [
        str(one) if isinstance(one, Key) else bytes(one) if isinstance(one, Raw) else one
        for one in plain
    ]
    assert query_fold(ids, n_folds=1_000).tolist() == query_fold(plain, n_folds=1_000).tolist()
    assert len(set(query_fold(ids, n_folds=1_000).tolist())) == 3
    for cv in (QueryKFold(3), QueryKFold(3, shuffle=True, random_state=0)):
        tests = [
            [test.tolist() for _, test in cv.split(np.zeros(6), groups=groups)]
            for groups in (ids, plain)
        ]
        assert tests[0] == tests[1]
        assert sorted(map(len, tests[0])) == [2, 2, 2]


@pytest.mark.parametrize("ids", [[1, 1.0, True], [np.float32(3), 3, Decimal(3)], [0.0, -0.0, 0]])
def test_ids_that_python_calls_equal_are_one_query(ids):
    assert group_by_query(3, "A test", y=[1, 0, 2], qid=ids).codes.tolist() == [0, 0, 0]


def test_every_index_with_ids_must_agree():
    X = pd.DataFrame({"x": [0, 1, 2]}, index=pd.Index([5, 6, 6], name="qid"))
    assert found(CARRIED, X=X) == [5, 6, 6]
    assert found([1, 0, 2], X=X, qid=["a", "b", "b"]) == ["a", "b", "b"]
    assert found([1, 0, 2], X=X, groups=["u", "v", "v"]) == ["u", "v", "v"]
    refused = "index level 'qid' of y must agree with the .* 'qid' of X, .* got 6 and 5 in query 6"
    with pytest.raises(ValueError, match=refused):
        found(CARRIED, X=X.set_axis(pd.Index([5, 6, 5], name="qid")))
    with pytest.raises(
        ValueError,
        match=r"qid must agree with the index level 'qid' of y_score, .* got 5 and 6 in query 'a'",
    ):
        found([1, 0, 2], qid=["a", "a", "b"], y_score=CARRIED)


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        ([["a", 1], ["a", 2], ["b", 1]], ValueError, "qid must be 1-D.* got shape"),
        (
            np.array([("a", 1), ("a", 2), ("b", 1)]),
            ValueError,
            "qid must be 1-D.* got shape",
        ),
        ([["a"], ["a", 2], ["b"]], ValueError, "qid must be 1-D.* got rows of different lengths"),
        ([("a", 1), ["a", 2], ("b", 1)], TypeError, "qid must hold hashable values"),
        ("qid", TypeError, r"qid got the text .qid.. Pass the column, df\[.qid.\]"),
        (pd.DataFrame.query, ValueError, "qid must be 1-D, one value per document; got shape"),
    ],
)
def test_bad_ids_are_named(ids, error, message):
    with pytest.raises(error, match=message):
        ndcg_score([1, 0, 1], [1, 2, 3], qid=ids)


def refused(**columns):
    try:
        check_aligned(**columns)
    except ValueError as error:
        return "in different orders" in str(error)
    return False


def test_the_index_of_labels_that_carry_ids_is_compared():
    X, y = pd.DataFrame({"x": range(4)}), with_qid(pd.Series([0, 1, 2, 3]), list("aabb"))
    for order in map(list, itertools.permutations(range(4))):
        assert refused(X=X.iloc[order], y=y) is (order != [0, 1, 2, 3])
        assert refused(y_true=y, y_score=pd.Series(range(4), name="score").iloc[order]) is (
            order != [0, 1, 2, 3]
        )
        assert refused(y_true=y.iloc[order], y_score=pd.Series(range(4), name="score")) is (
            order != [0, 1, 2, 3]
        )
        assert not refused(y_true=y, y_score=pd.Series(X.x.iloc[order].to_numpy()))  # fresh
        moved = y.iloc[order]
        for alike in (
            moved,
            with_qid(moved, moved.index.get_level_values(0)),
            with_qid(range(4), list("aabb")),
        ):
            assert not refused(X=X.iloc[order], y=alike)
    assert refused(X=X[::-1], y=pickle.loads(pickle.dumps(y)))
    with pytest.raises(ValueError, match=r"pass y\.to_numpy\(\) if the positions do match\."):
        check_aligned(X=X[::-1], y=y)


@pytest.mark.parametrize(
    ("one", "other", "error"),
    [
        ([3, 5, 8], ["c", "d", "e"], None),  # integers may be part of a default index
        ([3, 5, 8], [0, 1, 2], None),  # the default index
        (pd.RangeIndex(0, 6, 2), [1, 2, 3], ValueError),  # every second row
        ([3, 5, 8], [4, 6, 7], ValueError),
        (["a", "b", "c"], ["b", "c", "d"], ValueError),
        ([3, 5, 8], [5, 3, 8], ValueError),
    ],
)
def test_rows_with_other_labels(one, other, error):
    with pytest.raises(error, match="must have the same index") if error else nullcontext():
        check_aligned(X=pd.Series(0, index=one), y=pd.Series(0, index=other))


@pytest.mark.parametrize(
    ("y", "qid", "message"),
    [
        *(
            (
                pd.Series(1, range(n)),
                pd.Series(1, range(n)[::-1]),
                "qid must have the same index as y",
            )
            for n in (3, 300)
        ),
        ([[1, 0]], [1, 1], "y must be 1-D"),
        ([1, 0], [1], "qid must have the same length as y; got 1 and 2"),
    ],
)
def test_with_qid_refuses(y, qid, message):
    with pytest.raises(ValueError, match=message):
        with_qid(y, qid)


def test_with_qid_without_pandas_names_the_other_way(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="enable_metadata_routing"):
        with_qid([1, 0], [1, 1])


NAMES = ["b", "b", "a", "b\0", "a", "", "b\0"]
CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "objects": lambda names: np.array(names, dtype=object),
    "NumPy's StringDType": lambda names: np.array(
        names, dtype=np.dtypes.StringDType(na_object=None)
    ),
    "pandas objects": lambda names: pd.Series(names, dtype=object),
    "pandas, as it infers": pd.Series,
    "pandas string": lambda names: pd.Series(names, dtype="string", index=range(len(names))[::-1]),
    "pandas string, Index": lambda names: pd.Index(names, dtype="string[pyarrow]"),
    "pandas string, array": lambda names: pd.array(names, dtype="string[python]"),
    "pandas categories": lambda names: pd.Series(
        pd.Categorical(names, categories=["c", "", "a", "b\0", "b"])
    ),
    "pandas CategoricalIndex": pd.CategoricalIndex,
    "pandas Categorical": pd.Categorical,
    "polars String": pl.Series,
    "polars Categorical": lambda names: pl.Series(names, dtype=pl.Categorical),
    "polars Enum": lambda names: pl.Series(names, dtype=pl.Enum(["c", "", "a", "b\0", "b"])),
    "pyarrow strings": pa.array,
    "pyarrow large strings": lambda names: pa.array(names, type=pa.large_string()),
    "pyarrow dictionary": lambda names: pa.array(names).dictionary_encode(),
    "pyarrow chunks": lambda names: pa.chunked_array([names[:3], [], names[3:]], type=pa.string()),
    "pyarrow chunks of dictionaries": lambda names: pa.chunked_array(
        [pa.array(names[:3]).dictionary_encode(), pa.array(names[3:]).dictionary_encode()]
    ),
}


if not hasattr(np, "dtypes") or not hasattr(np.dtypes, "StringDType"):  # NumPy before 2.0
    del CONTAINERS["NumPy's StringDType"]
if (
    len(pd.factorize(np.array(["b", "b\0"], dtype=object))[1]) == 1
):  # older versions take the two for one category
    del CONTAINERS["pandas CategoricalIndex"], CONTAINERS["pandas Categorical"]


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("with_pandas", [True, False])
def test_strings_of_every_library_are_the_same_ids(container, with_pandas, monkeypatch):
    ids = container(NAMES)
    if not with_pandas and not isinstance(
        ids, pd.Series | pd.Index | pd.api.extensions.ExtensionArray
    ):
        monkeypatch.setitem(sys.modules, "pandas", None)
    grouping = group_ids(ids, len(NAMES))
    assert grouping.ids.tolist() == ["b", "a", "b\0", ""]
    assert grouping.codes.tolist() == [0, 0, 1, 2, 1, 3, 2]
    assert grouping.sizes.tolist() == [2, 2, 2, 1]
    contiguous = group_ids(container(sorted(NAMES)), len(NAMES))
    assert contiguous.shuffled is None
    assert contiguous.ids.tolist() == ["", "a", "b", "b\0"]


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
def test_a_missing_string_is_named_by_its_row(container):
    names = ["b", "a", "a", None, "", "b", "b"]
    ids = container(names)
    with pytest.raises(
        ValueError, match=r"^qid must not hold missing ids; got (None|nan|<NA>) at row 3\."
    ):
        group_ids(ids, len(names))
    with pytest.raises(ValueError, match=r"^qid must have the same length as y_true; got 7 and 6"):
        group_ids(ids, 6)


class Plain(enum.Enum):
    ONE = 1


NO_IDS = {
    "a fraction": 0.5,
    "a decimal": Decimal("1.1"),
    "a rational": Fraction(1, 2),
    "infinity": float("inf"),
    "a complex number": 1j,
    "a set": frozenset("ab"),
    "an interval": pd.Interval(0, 1),
    "a time of day": time_of_day(12),
    "an Enum": Plain.ONE,
    "an object": object(),
}


@pytest.mark.parametrize("one", NO_IDS.values(), ids=NO_IDS)
@pytest.mark.parametrize("wrapped", [False, True])
def test_what_is_not_the_same_everywhere_is_no_id(one, wrapped):
    ids = to_objects([("a", one) if wrapped else one, "b"])
    rows = {"y_true": [1, 0], "y_score": [1, 2]}
    message = (
        r"{} must hold integers, text, times, UUIDs or tuples of these; got .*\. Pass str\(id\)\."
    )
    refused = partial(pytest.raises, TypeError)
    with refused(match=message.format("qid")):
        evaluate(**rows, qid=ids, metrics="mrr")
    with refused(match=message.format("groups")):
        list(QueryKFold(2).split([[0], [1]], groups=ids))
    with refused(match=message.format("groups")):
        evaluate(**rows, qid=[1, 2], groups=ids, metrics="mrr")
    with refused(match=message.format("qid")):
        query_fold(ids, n_folds=2)
    by_query = {one: ["d"] for one in ids}
    with refused(match=message.format("queries of run")):
        evaluate_run({1: ["d"]}, by_query, "mrr")
    with refused(match=message.format("qrels")):
        evaluate_run({1: ids.tolist()}, {1: ["d"]}, "mrr")
    # Slices may have any type.
    report = evaluate(**rows, qid=[1, 2], by=ids, metrics="mrr")
    assert set(report.slices) == set(ids)


def test_folds_of_ids_of_different_types_do_not_depend_on_the_order_of_rows(rng):
    ids = [1, "a", b"a", (1, "a"), uuid.UUID(int=5), date(2001, 1, 1), pd.Period("2001", "Y")] * 2

    def tests(order):
        groups = to_objects([ids[row] for row in order])
        splits = QueryKFold(3, shuffle=True, random_state=0).split(np.zeros(14), groups=groups)
        return [{groups[row] for row in test} for _, test in splits]

    expected = tests(range(14))
    assert tests(rng.permutation(14)) == expected
    assert sorted(map(len, expected)) == [2, 2, 3]


ZONED = [datetime(2001, 1, 1, 23, 30, tzinfo=UTC), datetime(2001, 1, 2, 0, 30, tzinfo=UTC)] * 2
IN_TOKYO = [one.astimezone(ZoneInfo("Asia/Tokyo")) for one in ZONED]
ZONED_COLUMNS = {
    "Python": lambda times: times,
    "pandas": pd.Series,
    "pandas objects": lambda times: pd.Series(times, dtype=object),
    "pandas Index": pd.DatetimeIndex,
    "polars": pl.Series,
    "polars ns": lambda times: pl.Series(times).dt.cast_time_unit("ns"),
    "polars with null": lambda times: pl.Series([*times, None])[:4],
    "pyarrow": pa.array,
    "pyarrow chunks": lambda times: pa.chunked_array([times[:1], times[1:]]),
    "pyarrow ms": lambda times: pa.array(times, pa.timestamp("ms", "Asia/Tokyo")),
    "pyarrow dictionary": lambda times: pa.array(times).dictionary_encode(),
}


@pytest.mark.parametrize("column", ZONED_COLUMNS.values(), ids=ZONED_COLUMNS)
@pytest.mark.parametrize("times", [ZONED, IN_TOKYO], ids=["UTC", "Tokyo"])
def test_times_with_a_zone_are_instants_from_wherever_they_come(column, times):
    grouping = group_ids(column(times), 4)
    assert grouping.codes.tolist() == [0, 1, 0, 1]
    assert as_python(grouping.ids) == ZONED[:2]
    assert query_fold(column(times), 1000).tolist() == query_fold(ZONED, 1000).tolist()
    report = evaluate([1, 0, 1, 1], [1, 2, 3, 4], qid=[0, 1, 0, 1], by=column(times), metrics="mrr")
    assert list(report.slices) == ZONED[:2]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_lists_by_instant(library):
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library]
    qrels = make({"query": [0, 0], "document": IN_TOKYO[:2], "label": [0, 1]})
    excluded = make({"query": [0], "document": IN_TOKYO[:1]})
    for run in ({0: ZONED[:2]}, make({"query": [0, 0], "document": ZONED[:2], "rank": [1, 2]})):
        assert evaluate_run(qrels, run, "mrr").mean == {"mrr": 1 / 2}
        assert evaluate_run(qrels, run, "mrr", exclude=excluded).mean == {"mrr": 1}


def test_times_with_a_zone_and_without_never_match():
    naive = [one.replace(tzinfo=None) for one in ZONED[:2]]
    zoned = pl.DataFrame({"query": [0, 0], "document": ZONED[:2], "label": [1, 0]})
    for run in ({0: naive}, pl.DataFrame({"query": [0, 0], "document": naive, "rank": [1, 2]})):
        with pytest.raises(ValueError, match="The ids are of different types; convert one"):
            evaluate_run(zoned, run, "mrr")
    with pytest.raises(ValueError, match=r"exclude has .* The ids are of different types"):
        evaluate_run(zoned, {0: ZONED[:2]}, "mrr", exclude={0: naive})


@pytest.mark.parametrize("kind", [pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.int8()])
def test_dictionaries_with_indices_of_any_type(kind):
    ids = pa.DictionaryArray.from_arrays(pa.array([1, 1, 0, None], kind), ["a", "b"])
    found = group_ids(ids, 4, "by", may_be_missing=True)
    assert (found.ids.tolist(), found.codes.tolist()) == (["b", "a", None], [0, 0, 1, 2])
    chunks = pa.chunked_array([ids[:2], ids[2:3]])
    assert group_ids(chunks, 3).ids.tolist() == ["b", "a"]
    full = pa.DictionaryArray.from_arrays(pa.array(range(100), kind), pa.array(range(100)))
    assert group_ids(full, 100).ids.tolist() == list(range(100))


def test_categories_that_python_calls_equal_are_one_query():
    equal = pa.DictionaryArray.from_arrays([0, 1, 2, 0], pa.array(["a", "a", "b"]))
    assert group_ids(equal, 4).codes.tolist() == [0, 0, 1, 0]


def test_large_integers_next_to_missing_ones_stay_apart():
    values = [2**60 + 1, None, 2**60, 2**60 + 1]
    of_pandas = (
        pd.Series(values, dtype=dtype)
        for dtype in ("Int64", "UInt64", "int64[pyarrow]", "uint64[pyarrow]")
    )
    of_polars = (pl.Series(values, dtype=dtype) for dtype in (pl.Int64, pl.UInt64))
    for ids in (*of_pandas, *of_polars, pa.array(values), pa.array(values, pa.uint64())):
        grouping = group_ids(ids, 4, "by", may_be_missing=True)
        assert (grouping.ids.tolist(), grouping.codes.tolist()) == (
            [2**60 + 1, None, 2**60],
            [0, 1, 2, 0],
        )


def test_only_ids_that_occur_matter():
    slices = pd.Series(pd.Categorical([1, 1, 2], categories=[3, 2, 1, 0]))
    report = evaluate([1, 0, 1], [1, 2, 3], qid=["a", "a", "b"], by=slices)
    assert list(report.slices) == [1, 2]
    with pytest.raises(
        ValueError, match="by must be constant within a query; got 1 and 2 in query 'a'"
    ):
        evaluate([1, 0, 1], [1, 2, 3], qid=["a", "b", "a"], by=slices)


@pytest.mark.parametrize(
    "ids",
    [[1, "1", 2], np.array(["1", 1, 2], dtype=object), pd.Series([1, "1", "x"])],
    ids=["list", "array", "Series"],
)
@pytest.mark.parametrize("name", ["qid", "groups"])
def test_ids_that_only_look_alike_are_not_two_queries(ids, name):
    with pytest.raises(
        ValueError, match=f"^{name} has '1', but also 1. .*different types; convert"
    ):
        group_by_query(3, "A test", **{name: ids})


def test_ids_of_several_types_that_do_not_look_alike_are_allowed():
    assert found([1, 0, 2], qid=[1, "01", b"1"]) == [1, "01", b"1"]


def test_a_null_among_the_entries_of_a_dictionary_is_missing():
    ids = pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 2]), pa.array(["a", None, "b"]))
    found = group_ids(ids, 4, "by", may_be_missing=True)
    assert (found.ids.tolist(), found.codes.tolist()) == (["a", None, "b"], [0, 1, 1, 2])
    with pytest.raises(ValueError, match="qid must not hold missing ids; got None at row 1"):
        group_ids(ids, 4)


@pytest.mark.parametrize("carrier", ["Index", "MultiIndex"])
@pytest.mark.parametrize("argument", ["by", "groups"])
def test_values_per_query_are_in_the_order_of_the_queries(carrier, argument):
    ids = ["a", "b", "c"]
    index = pd.Index(ids, name="qid")
    if carrier == "MultiIndex":
        index = pd.MultiIndex.from_arrays([["x"] * 3, ids], names=["country", "qid"])
    values = pd.Series(["u", "v", "w"], index=index)
    report = evaluate(
        [1, 0, 1, 0, 1], [3, 2, 1, 2, 1], qid=["a", "a", "b", "b", "c"], metrics="mrr"
    )
    slice_of_query(values, ids=report.qid, name=argument)
    for order in ([1, 0, 2], [2, 1, 0]):
        with pytest.raises(ValueError, match=f"{argument} must be in the order of report.qid"):
            slice_of_query(values.iloc[order], ids=report.qid, name=argument)
