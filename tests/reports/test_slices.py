"""Slices of reports: missing values, several columns, many slices, and what they are called."""

import json
import re
from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.ranks import N_DOCUMENTS, rows_of_ranks

from skrank_metrics import compare, evaluate, make_metric
from skrank_metrics._input.arrays import to_objects
from skrank_metrics.metrics._record import COLUMNS
from skrank_metrics.reports.facts import name_of_slice
from skrank_metrics.sources import RankingAccumulator

QID = np.repeat([0, 1, 2, 3], 2)
# The relevant document is at rank 1, 2, 1 and nowhere.
LABELS = [1, 0, 0, 1, 1, 0, 0, 0]
SCORES = [2, 1] * 4


def report_of(by, **given):
    return evaluate(LABELS, SCORES, qid=QID, by=by, **{"metrics": "mrr", **given})


def of_rows(values):
    return [value for value in values for _ in range(2)]


@pytest.mark.parametrize(
    ("values", "named"),
    [
        (["x", None, "x", None], "x"),
        ([1.5, np.nan, 1.5, np.nan], 1.5),
        (np.array(["2001-01-01", "NaT"] * 2, dtype="M8[ns]"), datetime(2001, 1, 1)),
        (pd.array(["x", None] * 2, dtype="string"), "x"),
        (pd.Categorical(["x", None] * 2), "x"),
    ],
)
def test_missing_values_are_a_slice_of_their_own_and_come_last(values, named):
    is_array = isinstance(values, np.ndarray)
    by = np.repeat(values, 2) if is_array else of_rows(values)
    report = report_of(by)
    assert list(report.slices) == [named, None]
    assert report.slices[named].mean == {"mrr": 1}
    assert report.slices[None].mean == {"mrr": 1 / 4}
    row = str(report).splitlines()[6]
    assert row.split()[:4] == ["missing", "mrr", "2", "0.2500"]


def test_missing_values_come_last_among_slices_without_an_order():
    report = report_of(of_rows([None, "a", 1, None]))
    assert list(report.slices) == ["a", 1, None]


LARGE = 2**60
NULLABLE = {
    "list": list,
    "pandas Index": lambda values: pd.Index(values, dtype="Int64"),
    "pandas array": lambda values: pd.array(values, dtype="Int64"),
    "pandas, pyarrow-backed": lambda values: pd.Series(values, dtype="int64[pyarrow]"),
    "pandas categories": lambda values: pd.Categorical(pd.array(values, dtype="Int64")),
    "polars": pl.Series,
    "pyarrow": pa.array,
    "pyarrow chunks": lambda values: pa.chunked_array([values[:3], values[3:]]),
    "pyarrow dictionary": lambda values: pa.array(values).dictionary_encode(),
    "pyarrow dictionary with a null": lambda values: pa.array(values).dictionary_encode("encode"),
    "frame of pandas": lambda values: pd.DataFrame({"x": pd.array(values, dtype="Int64")}),
    "frame of polars": lambda values: pl.DataFrame({"x": values}),
    "table of pyarrow": lambda values: pa.table({"x": values}),
}


@pytest.mark.parametrize("make", NULLABLE.values(), ids=NULLABLE)
@pytest.mark.parametrize("values", [[LARGE + 1, LARGE, None, LARGE], [7, 3, None, 3]])
def test_integers_stay_integers_next_to_a_missing_value(make, values):
    low, high = sorted(set(values) - {None})
    report = report_of(make(of_rows(values)))
    assert list(map(repr, report.slices)) == [str(low), str(high), "None"]
    queries = [part.qid.tolist() for part in report.slices.values()]
    assert queries == [[1, 3], [0], [2]]
    assert [line.split()[0] for line in str(report).splitlines()[5:8]] == [
        str(low),
        str(high),
        "missing",
    ]


def test_null_and_nan_are_both_missing():
    values = [1.5, float("nan"), None, 1.5]
    for by in (
        pl.Series(of_rows(values), strict=False),
        pa.array(of_rows(values)),
        of_rows(values),
    ):
        assert {name: part.qid.tolist() for name, part in report_of(by).slices.items()} == {
            1.5: [0, 3],
            None: [1, 2],
        }


def test_missing_parts_of_tuples_are_none():
    pairs = of_rows([("b", 1), ("a", None), ("b", 1), ("a", 2)])
    expected = [("a", 2), ("a", None), ("b", 1)]
    for by in (pairs, tuple(pairs), pd.Series(pairs), {"pair": pairs}):
        assert list(report_of(by).slices) == expected
    reports = [report_of(None), evaluate(LABELS, SCORES[::-1], qid=QID, metrics="mrr")]
    for by in (pairs, pairs[::2]):
        assert list(compare(reports, "mrr", by=by).slices) == expected


def test_tuples_of_other_lengths():
    levels = pd.MultiIndex.from_arrays([of_rows(["x", None] * 2)])
    assert list(report_of(levels).slices) == [("x",), (None,)]
    of_two_lengths = of_rows([("b",), ("a", 1), ("b",), ("b", 1)])
    assert list(report_of(of_two_lengths).slices) == [("a", 1), ("b",), ("b", 1)]
    labels = [[1, 0], [0, 1]]
    two = evaluate(labels, [[2, 1]] * 2, metrics="mrr", by=[("b", 1), (None, 1)])
    assert list(two.slices) == [("b", 1), (None, 1)], "one value per query of such labels"


@pytest.mark.parametrize(
    ("by", "message"),
    [
        (
            [["b", 1], ["a", None]] * 4,
            r"one value per document, 8 in all; got shapes \[\(8, 2\)\]",
        ),
        ([["b"], ["a", 1]] * 4, "be 1-D.* got rows of different lengths"),
        (
            [("b", 1)] * 6 + [("b",)],
            r"one value per document, 8 in all; got shapes \[\(7,\)\]",
        ),
    ],
)
def test_values_of_other_shapes_are_refused(by, message):
    with pytest.raises(ValueError, match=f"by must .*{message}"):
        report_of(by)


def test_comparisons_refuse_too_few_values():
    reports = [report_of(None), evaluate(LABELS, SCORES[::-1], qid=QID, metrics="mrr")]
    message = r"by must hold one value per query, 4 in all, or per document, 8 in all; got shapes \[\(3,\)\]"
    with pytest.raises(ValueError, match=message):
        compare(reports, "mrr", by=[("a", 1), ("b",), ("b",)])


def test_a_missing_value_is_not_the_word():
    report = report_of(of_rows(["missing", None, "missing", None]))
    assert [part.n_queries for part in report.slices.values()] == [2, 2]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_several_columns_at_once(make):
    country = of_rows(["de", "de", "de", None])
    length = of_rows([8, 10, 9, 8])
    report = report_of(make({"country": country, "length": length}))
    expected = [
        (("de", 8), [0]),
        (("de", 9), [2]),
        (("de", 10), [1]),
        ((None, 8), [3]),
    ]
    queries = [(value, part.qid.tolist()) for value, part in report.slices.items()]
    assert queries == expected
    lines = str(report).splitlines()[5:9]
    names = [line.split("mrr")[0].strip() for line in lines]
    assert names == ["de, 8", "de, 9", "de, 10", "missing, 8"]
    for frame in (report.to_frame(), report.to_frame("polars")):
        assert frame["by"].to_list() == ["de, 8", "de, 10", "de, 9", "missing, 8"]


def test_comparisons_take_them():
    names = ["b", None, "b", None]
    by = pd.DataFrame({"x": of_rows(names), "y": of_rows([1, 1, 1, 1])})
    models = {"a": SCORES, "b": SCORES[::-1]}
    board = evaluate(LABELS, models, qid=QID, metrics="mrr", by=by)
    assert "missing, 1" in str(board)
    reports = list(board.reports.values())
    for comparison in (board, compare(reports, "mrr", by=by)):
        assert list(comparison.slices) == [("b", 1), (None, 1)]
    by_name = compare(board.reports, "mrr", by=names)
    assert list(by_name.slices) == ["b", None]


def test_accumulators_take_them():
    accumulator = RankingAccumulator(["mrr"])
    values = [1, 1, None, None, 1, 1, 2, 2]
    for rows in (slice(4), slice(4, 8)):
        accumulator.update(LABELS[rows], SCORES[rows], qid=QID[rows], by=values[rows])
    slices = accumulator.result().slices
    means = {name: part.mean["mrr"] for name, part in slices.items()}
    assert means == {1: 1, 2: 0, None: 1 / 2}


def test_of_many_slices_the_largest_are_shown():
    # Slice n has n queries.
    by = np.repeat(np.arange(1, 31), np.arange(1, 31))
    many = evaluate([[1, 0]] * len(by), [[2, 1]] * len(by), metrics="mrr", by=by)
    lines = str(many).splitlines()
    heads = [number for number, line in enumerate(lines) if line.startswith("slice")]
    first = heads[0] + 1
    shown = [line.split()[0] for line in lines[first : first + 12]]
    assert shown == [str(value) for value in range(19, 31)]
    assert lines[first + 12] == (
        'These are the largest 12 of 30 slices; .to_frame("means") has all.'
    )
    assert len(many.slices) == 30
    assert len(many.to_frame("means")) == 1 + 30


def test_dicts_hold_the_slices_with_counts_as_integers():
    report = report_of(of_rows(["a b", 1, "a b", 1]))
    nested = report.to_dict()["mrr"]
    assert nested["n_undefined"] == 1
    assert type(nested["n_undefined"]) is int
    assert list(nested["slices"]) == ["a b", "1"]
    for name, part in zip(nested["slices"], report.slices.values(), strict=True):
        assert nested["slices"][name] == {"n_queries": 2, **part.to_dict()["mrr"]}
        assert type(nested["slices"][name]["n_queries"]) is int
    assert json.loads(json.dumps(report.to_dict())) == report.to_dict()
    flat = report.to_dict(flat=True)
    assert flat["mrr"] == report.mean["mrr"]
    assert flat["mrr_slice_a_x20_b"] == 1
    assert flat["mrr_slice_1"] == 1 / 4
    assert flat["mrr_n_undefined_slice_1"] == 1


def test_names_are_the_same_everywhere_and_differ():
    labels, _, qid = rows_of_ranks([1] * 6)
    by = [value for value in ["all", None, "missing"] * 2 for _ in range(N_DOCUMENTS)]
    ranks = {"one": [1, 2] * 3, "other": [2, 1] * 3}
    board = evaluate(
        labels,
        {name: rows_of_ranks(own)[1] for name, own in ranks.items()},
        qid=qid,
        metrics="mrr",
        by=by,
    )
    names = ["all (2)", "missing", "missing (2)"]
    report = board.reports["one"]
    assert list(report.to_dict()["mrr"]["slices"]) == names
    for text in (str(report), str(board)):
        assert all(f"\n{name} " in text for name in names)
    numbered = report_of(np.repeat(np.array(["1 (2)", 1, "1", "1"], dtype=object), 2))
    assert list(numbered.to_dict()["mrr"]["slices"]) == ["1 (2)", "1", "1 (3)"]


ROWS = list("stuvwxyz")
BY_ROW = pd.Series(of_rows(list("abab")), index=ROWS)
RENAMED = BY_ROW.set_axis(list("hgfedcba"))
BACKWARDS = BY_ROW[::-1]
SAME_INDEX = "must have the same index as y_true; got"


@pytest.mark.parametrize(
    ("by", "message"),
    [
        (BACKWARDS, f"by {SAME_INDEX} the same labels in different orders"),
        (BACKWARDS.to_frame(), rf"by\[0\] {SAME_INDEX} the same labels in different orders"),
        ({"k": BACKWARDS}, rf"by\['k'\] {SAME_INDEX} the same .*, or pass by\['k'\].to_numpy\(\)"),
        ({"k": BY_ROW, "m": RENAMED}, rf"by\['m'\] {SAME_INDEX} different labels"),
    ],
)
def test_slices_of_other_rows_are_refused(by, message):
    labels = pd.Series(LABELS, index=ROWS)
    calls = [
        lambda: evaluate(labels, SCORES, qid=QID, metrics="mrr", by=by),
        lambda: evaluate(
            labels, {"one": SCORES, "other": SCORES[::-1]}, qid=QID, metrics="mrr", by=by
        ),
        lambda: RankingAccumulator("mrr").update(labels, SCORES, qid=QID, by=by),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=message):
            call()


def test_columns_of_a_dict_may_have_the_index_of_the_labels_or_none():
    report = evaluate(
        pd.Series(LABELS, index=ROWS),
        SCORES,
        qid=QID,
        metrics="mrr",
        by={"k": BY_ROW, "n": QID // 2},
    )
    assert list(report.slices) == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]


def differences_of(comparison):
    return [part.pairs()[0].difference for part in (comparison, *comparison.slices.values())]


DATES = pd.to_datetime(["2003", "2001", "2004", "2002"])


@pytest.mark.parametrize("ids", [list("zmab"), [3, 5, 2, 1], DATES, [2, 0, 1, 7]])
@pytest.mark.parametrize("form", [pd.Series.copy, pd.Series.to_frame, lambda by: {"country": by}])
def test_slices_of_queries_in_another_order_are_refused(ids, form):
    qid = np.repeat(np.asarray(ids), 2)
    reports = [
        evaluate(LABELS, scores, qid=qid, metrics="mrr") for scores in (SCORES, SCORES[::-1])
    ]
    by = pd.Series(list("wxyz"), index=pd.Index(ids, name="qid"), name="country")
    expected = differences_of(compare(reports, "mrr", by=list("wxyz")))
    with pytest.raises(
        ValueError, match=r"must be in the order of report.qid; got .* in different orders"
    ):
        compare(reports, "mrr", by=form(by.sort_index()))
    with pytest.raises(ValueError, match=r"by\['device'\] must be in the order of report.qid"):
        compare(reports, "mrr", by={"country": by, "device": by.sort_index()})
    # An index that is not that of the queries says nothing, and neither does the default one.
    for same in (
        by,
        by.sort_index().loc[reports[0].qid],
        by.set_axis(list("stuv")),
        by.reset_index(drop=True),
    ):
        assert differences_of(compare(reports, "mrr", by=form(same))) == expected


def test_ids_that_count_queries_may_have_a_default_index():
    reports = [
        evaluate([[1, 0]] * 4, scores, metrics="mrr") for scores in ([[2, 1]] * 4, [[1, 2]] * 4)
    ]
    assert list(compare(reports, "mrr", by=pd.Series(list("abab"))).slices) == ["a", "b"]


LIKE_CODES = [
    "_x2b_",
    "+",
    "_x",
    "x",
    "_",
    "'",
    "=",
    "1",
    "-1",
    "1.0",
    "1e3",
    "True",
    "None",
    "missing",
    "nan",
]
VALUES = st.recursive(
    st.text(max_size=8)
    | st.sampled_from(LIKE_CODES)
    | st.integers(-20, 20)
    | st.floats(allow_nan=False)
    | st.booleans()
    | st.none()
    | st.dates(),
    lambda parts: st.tuples(parts, parts),
    max_leaves=3,
)


@given(st.lists(VALUES, unique_by=name_of_slice, min_size=2, max_size=8))
@example(["a-b", "a+b", "a b", "a_b", -1, 1, "US low", "US", "US_low", "", None, True])
@example([("a", "b"), ("a_x_b", None), "a_x_b", ("a_", "_b"), ("a__", "b")])
def test_flat_keys_of_slices_are_unambiguous_and_do_not_depend_on_each_other(values):
    by = to_objects(values)
    labels = [[1, 0]] * len(values)
    scores = [[2, 1]] * len(values)
    report = evaluate(labels, scores, metrics=["mrr", "map@3"], by={"value": by})
    flat = report.to_dict(flat=True)
    assert sum(key.startswith("mrr_slice_") for key in flat) == len(report.slices)
    assert all(re.fullmatch("[A-Za-z0-9_]+", key) for key in flat)
    by_first = {"value": by[:2]}
    first = evaluate(labels[:2], scores[:2], metrics=["mrr", "map@3"], by=by_first)
    few = first.to_dict(flat=True)
    assert {key for key in few if "_slice_" in key} <= set(flat)


SPELLED = {
    "de": "de",
    "C++": "C_x2b__x2b_",
    "new_user": "new_user",
    "Zürich": "Z_xfc_rich",
    -1: "_x2d_1",
    None: "missing",
    1.5: "1_x2e_5",
    "a_xb": "a_x5f_xb",
}


def test_flat_keys_by_hand():
    n = len(SPELLED)
    by = {"value": to_objects(list(SPELLED))}
    report = evaluate([[1, 0]] * n, [[2, 1]] * n, metrics="mrr", by=by)
    of_slices = [key for key in report.to_dict(flat=True) if key.startswith("mrr_slice_")]
    ends = {key.removeprefix("mrr_slice_") for key in of_slices}
    assert ends == set(SPELLED.values())
    by = [("de", 1), ("de", None)]
    pairs = evaluate([[1, 0]] * 2, [[2, 1]] * 2, metrics="mrr", by=by)
    flat = pairs.to_dict(flat=True)
    assert "mrr_slice_de_x_1" in flat
    assert "mrr_slice_de_x_missing" in flat
    report = report_of(["US low"] * 2 + ["US+"] * 6)
    flat = report.to_dict(flat=True)
    low, high = report.slices["US+"].intervals()["mrr"]
    assert flat["mrr_low_slice_US_x2b_"] == low
    assert flat["mrr_high_slice_US_x2b_"] == high


def test_slices_that_read_alike_have_no_flat_keys():
    by = {"value": to_objects([1, "1"])}
    report = evaluate([[1, 0]] * 2, [[2, 1]] * 2, metrics="mrr", by=by)
    with pytest.raises(ValueError, match="slices whose names differ"):
        report.to_dict(flat=True)


@pytest.mark.parametrize("name", ["mrr_low", "mrr_slice_a"])
def test_a_flat_key_of_two_metrics_is_an_error(name):
    other = make_metric(lambda labels: 0.5, name=name, bounds=(0, 1))
    report = report_of(of_rows("aabb"), metrics=["mrr", other])
    with pytest.raises(ValueError, match=f"'mrr.*' gives the key '{name}' of another one"):
        report.to_dict(flat=True)


@pytest.mark.parametrize("place", COLUMNS)
def test_no_metric_is_named_like_another_column(place):
    with pytest.raises(ValueError, match=rf"not be that of another column.* got '{place}'"):
        make_metric(lambda labels: 0.5, name=place)


def test_columns_beside_those_of_metrics_are_known():
    report = report_of(QID // 2, groups=QID, sample_weight=QID + 1)
    columns = {column for column in report.to_frame("polars").columns if column != "mrr"}
    board = compare([report, report]).to_frame("polars")
    columns |= {column for column in board.columns if not column.startswith("mrr")}
    assert columns | {"slice"} == set(COLUMNS), "the command line has slices in one table"


def test_many_columns_of_many_values_stay_apart():
    # 16 values of each of 16 further columns are 2**64 combinations; queries i and i + 16 differ in the first one only.
    n = 32
    columns = {"first": np.arange(n)} | {f"column {i}": np.arange(n) % 16 for i in range(16)}
    report = evaluate([[1, 0]] * n, [[2, 1]] * n, metrics="mrr", by=columns)
    assert len(report.slices) == n
