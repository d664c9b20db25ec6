"""Rows grouped by query: queries by first appearance, rows of a query in their given order."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skrank_metrics._input.grouping import concatenate_ranges, group_rows
from skrank_metrics._input.query_ids import check_ids


@pytest.mark.parametrize(
    "ids",
    [
        [2, 2, 1, 2, 3],
        ["b", "b", "a", "b", "c"],
        [b"b", b"b", b"a", b"b", b"c"],
        [0.5, 0.5, 0.25, 0.5, 3.0],
        [2**60 + 1, 2**60 + 1, 2**60, 2**60 + 1, 2**60 + 2],
        [1, 1, "1", 1, 1.5],
        np.array([2, 2, 1, 2, 3], dtype=np.uint8),
        pd.Categorical(["b", "b", "a", "b", "c"]),
        pd.to_datetime(["2001", "2001", "2000", "2001", "2002"]),
        pd.array([2, 2, 1, 2, 3], dtype="Int64"),
        pd.array(["b", "b", "a", "b", "c"], dtype="string"),
        pa.array(["b", "b", "a", "b", "c"]),
        pl.Series(["b", "b", "a", "b", "c"]),
    ],
)
def test_groups_rows_by_first_appearance(ids):
    grouping = group_rows(check_ids(ids, 5))
    assert grouping.codes.tolist() == [0, 0, 1, 0, 2]
    assert grouping.sizes.tolist() == [3, 1, 1]
    assert grouping.order.tolist() == [0, 1, 3, 2, 4]
    assert [str(i) for i in grouping.ids] == [str(i) for i in np.asarray(check_ids(ids, 5))[[0, 2, 4]]]


def test_contiguous_ids_need_no_order():
    grouping = group_rows(np.array([7, 7, 3, 9, 9]))
    assert grouping.order is None
    assert grouping.ids.tolist() == [7, 3, 9]
    assert grouping.starts.tolist() == [0, 2, 3]
    assert grouping.codes.tolist() == [0, 0, 1, 2, 2]


def test_concatenates_ranges():
    assert concatenate_ranges(np.array([4, 0, 9]), np.array([2, 3, 1])).tolist() == [4, 5, 0, 1, 2, 9]


@pytest.mark.parametrize(
    "ids",
    [
        np.array([2**64 - 1, 2**64 - 2, 2**64 - 1], dtype=np.uint64),
        np.array([-(2**63), 2**63 - 1, -(2**63)]),
        np.array([-(2**63), -(2**63) + 1, -(2**63)]),
        np.array([-128, 127, -128], dtype=np.int8),
        np.array([2**60, 2**60 + 1, 2**60]),
        np.array([True, False, True]),
    ],
    ids=str,
)
def test_numbers_at_the_ends_of_their_range_stay_apart(ids):
    grouping = group_rows(ids)
    assert grouping.ids.tolist() == ids[:2].tolist()
    assert grouping.order.tolist() == [0, 2, 1]
    assert grouping.codes.tolist() == [0, 1, 0]


def test_ids_far_apart_need_no_room_for_those_between():
    ids = np.random.default_rng(0).permutation(np.repeat(np.arange(40) * 2**56, 2))
    assert group_rows(ids).ids.tolist() == list(dict.fromkeys(ids.tolist()))
