"""Hashes of ids, which tests of the public functions cannot tell from others; what they promise is checked here."""

import enum
import os
import subprocess
import sys
import uuid
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skrank_metrics._input.arrays import to_objects
from skrank_metrics._input.id_hash import hash_arrow, hash_ids


class Grade(enum.IntEnum):
    ONE = 1


class Market(str, enum.Enum):  # noqa: UP042 - not StrEnum, whose str() is the value
    GERMANY = "M.DE"


TEXTS = ["a", "12345678", "é" * 20]
SAME = {
    "integers": [
        np.array([3, -1, 2**40]),
        np.array([3.0, -1, 2**40]),
        np.array([3, -1.0, np.int64(2**40)], dtype=object),
    ],
    "large integers": [
        np.array([2**63 + 2048, 2**63], dtype=np.uint64),
        np.array([2.0**63 + 2048, 2.0**63]),
    ],
    "the smallest integer": [np.array([-(2**63)]), np.array([-(2.0**63)])],
    "unsigned integers": [np.array([3, 2**40], dtype=np.uint64), np.array([3, 2**40])],
    "strings": [
        np.array(TEXTS),
        np.array(TEXTS, dtype=object),
        pd.Series(TEXTS).to_numpy(),
        pl.Series(TEXTS).to_numpy(),
    ],
    "times": [
        *(np.array([datetime(2001, 2, 3)], dtype=kind) for kind in ("M8[D]", "M8[ns]", object))
    ],
}


@pytest.mark.parametrize("kind", SAME)
def test_equal_ids_hash_alike(kind):
    for ids in SAME[kind]:
        assert hash_ids(ids).tolist() == hash_ids(SAME[kind][0]).tolist()
        arrow = pa.array(ids)
        for form in (
            arrow,
            arrow.dictionary_encode(),
            pa.concat_arrays([arrow, arrow])[len(arrow) :],
        ):
            assert hash_arrow(form).tolist() == hash_ids(ids).tolist()


@pytest.mark.parametrize(
    "equal",
    [
        [1, 1.0, True, np.float32(1), Grade.ONE, Decimal(1)],
        [2**70, Decimal(2**70), 2.0**70],
        [b"ab", np.bytes_(b"ab")],
        ["M.DE", Market.GERMANY, np.str_("M.DE")],
        [0, -0.0],
        [2**63 + 2048, 2.0**63 + 2048],
        [("a", 1), ("a", 1.0)],
        [
            datetime(2001, 2, 3, tzinfo=UTC),
            datetime(2001, 2, 3, 5, tzinfo=timezone(timedelta(hours=5))),
        ],
        [datetime(2001, 2, 3, tzinfo=UTC), pd.Timestamp("2001-02-03 01:00", tz="Europe/Berlin")],
        [pd.Timestamp(10**18 + 1, tz="UTC"), pd.Timestamp(10**18 + 1, tz="Asia/Tokyo")],
        [np.datetime64(10**18 + 1, "ns"), pd.Timestamp(10**18 + 1)],
        [pd.Timedelta(1, "ns"), np.timedelta64(1, "ns")],
        [timedelta(1), pd.Timedelta(1, "D"), np.timedelta64(1, "D")],
    ],
)
def test_objects_that_are_equal_hash_alike(equal):
    assert [one == equal[0] for one in equal] == [True] * len(equal)
    ids = np.empty(len(equal), dtype=object)
    ids[:] = equal
    assert len(set(hash_ids(ids).tolist())) == 1


BERLIN = ZoneInfo("Europe/Berlin")
INSTANTS = [
    datetime(2001, 10, 28, 0, 30, tzinfo=UTC),
    datetime(2001, 10, 28, 1, 30, tzinfo=UTC),
    datetime(9999, 12, 31, tzinfo=UTC),
]


@pytest.mark.parametrize("unit", ["ms", "us"])
def test_instants_of_every_library_hash_alike(unit):
    expected = hash_ids(to_objects(INSTANTS)).tolist()
    in_berlin = [one.astimezone(BERLIN) for one in INSTANTS]
    assert hash_ids(to_objects(in_berlin)).tolist() == expected
    arrow = pa.array(INSTANTS, pa.timestamp(unit, "Asia/Tokyo"))
    assert hash_arrow(arrow).tolist() == expected
    assert hash_arrow(pl.Series(in_berlin).to_arrow()).tolist() == expected
    naive = [one.replace(tzinfo=None) for one in INSTANTS]
    of_naive = hash_ids(to_objects(naive)).tolist()
    assert of_naive == hash_ids(np.array(naive, f"M8[{unit}]")).tolist()
    assert set(of_naive).isdisjoint(expected)


def test_different_ids_hash_differently():
    texts = [
        "",
        "\0",
        "\0\0",
        "a",
        "a\0",
        "1",
        "12345678",
        "12345678\0",
        "aaaaaaaabbbbbbbb",
        "bbbbbbbbaaaaaaaa",
    ]
    texts += ["?", "\ud800"]  # a surrogate without its other half
    others = [1, -1, 2**64 - 1, 2**64, -(2**70), 10**5000, b"a", ("a", 1), (1, "a"), (("a", 1),)]
    others += [uuid.UUID(int=1), uuid.UUID(int=2), b"\0" * 15 + b"\1", date(2001, 1, 1)]
    others += [pd.Period("2001-01", "M"), pd.Period("2001-02", "M"), pd.Period("2001", "Y")]
    others += [datetime(2001, 1, 2), datetime(2001, 1, 2, tzinfo=UTC), timedelta(1)]
    others += [pd.Timestamp(10**18 + more, tz="UTC") for more in range(3)]
    others += [pd.Timedelta(more, "ns") for more in range(3)]
    others += [
        kind(1001, unit) for kind in (np.datetime64, np.timedelta64) for unit in ("ns", "us")
    ]
    ids = np.empty(len(texts + others), dtype=object)
    ids[:] = texts + others
    assert len(set(hash_ids(ids).tolist())) == len(ids)
    many = np.array([f"query-{number}" for number in range(50_000)])
    assert len(np.unique(hash_ids(many))) == 50_000


def test_hashes_are_the_same_in_every_process():
    ids = "hash_ids(np.array(['a', 1, b'a', ('a', 1)], dtype=object)).tolist()"
    command = [sys.executable, "-c", f"from skrank_metrics._input.id_hash import *; print({ids})"]
    for seed in ("1", "2"):  # of Python's own hashes of strings
        environment = os.environ | {"PYTHONHASHSEED": seed}
        printed = subprocess.run(
            command, env=environment, capture_output=True, check=True, text=True
        ).stdout
        assert printed.strip() == str(
            hash_ids(np.array(["a", 1, b"a", ("a", 1)], dtype=object)).tolist()
        )
