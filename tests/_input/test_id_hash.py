"""Hashes of ids, which tests of the public functions cannot tell from others; what they promise is checked here."""

import enum
import os
import subprocess
import sys
import uuid
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skrank_metrics import evaluate
from skrank_metrics._input.id_hash import hash_arrow, hash_ids
from skrank_metrics.sources import RankingAccumulator
from skrank_metrics.splitters import query_fold


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
        [1, 1.0, True, np.float32(1), Grade.ONE],
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


@pytest.mark.parametrize(
    "one",
    [
        Decimal("1.1"),
        Fraction(1, 2),
        uuid.UUID(int=1),
        pd.Interval(0, 1),
        2**64,
        -(2**70),
        10**5000,
        frozenset("ab"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_rare_kinds_of_ids_are_refused_where_they_would_have_to_be_hashed(one):
    ids = np.empty(1, dtype=object)
    ids[0] = one
    message = rf"^qid must hold strings, integers of 64 bits, .* processes; got {type(one).__name__}\. Pass str"
    with pytest.raises(TypeError, match=message):
        RankingAccumulator("mrr").update([1], [1], qid=ids)
    ids[0] = ("a", one)
    with pytest.raises(TypeError, match=message):
        query_fold(ids, n_folds=2)
    assert evaluate([1], [1], qid=ids, metrics="mrr").mean == {"mrr": 1}


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
    others = [1, -1, 2**64 - 1, 0.5, b"a", ("a", 1), (1, "a"), datetime(2001, 1, 1)]
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
    ids = "hash_ids(np.array(['a', 1, 0.5, ('a', 1)], dtype=object)).tolist()"
    command = [sys.executable, "-c", f"from skrank_metrics._input.id_hash import *; print({ids})"]
    for seed in ("1", "2"):  # of Python's own hashes of strings
        environment = os.environ | {"PYTHONHASHSEED": seed}
        printed = subprocess.run(
            command, env=environment, capture_output=True, check=True, text=True
        ).stdout
        assert printed.strip() == str(
            hash_ids(np.array(["a", 1, 0.5, ("a", 1)], dtype=object)).tolist()
        )
