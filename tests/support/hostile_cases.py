"""Hostile input, case by case: one argument of a small clean problem replaced, with the result that it must give.

Each case gives the result of clean float64 arrays, which tests/support/reference.py computes, or an error that matches
the pattern written here.
"""

from __future__ import annotations

import decimal
import fractions
import tempfile
import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

LABELS = [2, 0, 1, 0, 1, 0, 3]
SCORES = [7.0, 6.0, 0.0, 4.0, 2.0, 6.0, 4.0]
IDS = ["a", "b", "a", "b", "b", "a", "b"]  # interleaved, and two documents of "b" tie

PEERS = Path(__file__).parents[1] / "golden" / "peers_on_hostile_input.json"


@dataclass(frozen=True)
class Case:
    """One argument replaced: ``given``, or what it returns, is passed; it means ``clean`` or gets ``error``."""

    argument: str  # labels, scores, ids or k
    what: str
    given: Any
    clean: Any = None
    error: str = ""

    @property
    def passed(self):
        """All four arguments, one of them hostile."""
        return self.problem(self.given() if callable(self.given) else self.given)

    @property
    def meant(self):
        """The clean arguments that give the right number."""
        return self.problem(self.clean)

    def __str__(self):
        return f"{self.argument} {self.what}"

    def problem(self, value):
        """Put a value in the place of one argument."""
        return {"labels": LABELS, "scores": SCORES, "ids": IDS, "k": None, self.argument: value}


def changed(values, row, value):
    return [*values[:row], value, *values[row + 1 :]]


def memory_mapped(values):
    with tempfile.TemporaryFile() as file:
        array = np.memmap(file, dtype=np.float64, shape=len(values))
    array[:] = values
    return array


def matrix(values):
    with warnings.catch_warnings(action="ignore", category=PendingDeprecationWarning):
        return np.matrix(values).T


NUMERIC = [
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "longdouble",
]
CONTAINERS = {
    **{dtype: lambda values, dtype=dtype: np.array(values, dtype=dtype) for dtype in NUMERIC},
    "big-endian": lambda values: np.array(values, dtype=">f8"),
    "every second element of an array": lambda values: np.repeat(np.array(values, dtype=float), 2)[
        ::2
    ],
    "reversed view": lambda values: np.array(values[::-1], dtype=float)[::-1],
    "read-only": lambda values: np.frombuffer(np.array(values, dtype=np.float64).tobytes()),
    "memory-mapped": memory_mapped,
    "tuple": tuple,
    "object array of numbers": lambda values: np.array(
        [fractions.Fraction(v) for v in values], dtype=object
    ),
    "pandas Float64": lambda values: pd.Series(values, dtype="Float64"),
    "pandas Int64": lambda values: pd.Series([int(v) for v in values], dtype="Int64"),
    "pandas, pyarrow-backed": lambda values: pd.Series(
        [int(v) for v in values], dtype="int64[pyarrow]"
    ),
    "polars": lambda values: pl.Series([float(v) for v in values]),
    "pyarrow": lambda values: pa.array([float(v) for v in values]),
}
ACCEPTED_IDS = {
    "integers": lambda: [2, 1, 2, 1, 1, 2, 1],
    "integers around 2^60, one apart": lambda: np.array([2, 1, 2, 1, 1, 2, 1]) + 2**60,
    "Python integers beyond 64 bits": lambda: [2**70 + (i == "a") for i in IDS],
    "uint64 near the largest": lambda: (
        np.uint64(2**64 - 1) - np.array([2, 1, 2, 1, 1, 2, 1], dtype=np.uint64)
    ),
    "an integer and a float that are equal as float64": lambda: [
        2**53 + 1 if i == "a" else 2.0**53 for i in IDS
    ],
    "strings that differ in a trailing NUL": lambda: ["e\0" if i == "a" else "e" for i in IDS],
    "bytes that differ in a trailing NUL": lambda: [b"x\0" if i == "a" else b"x" for i in IDS],
    "polars strings that differ in a trailing NUL": lambda: pl.Series(
        ["e\0" if i == "a" else "e" for i in IDS]
    ),
    "floats": lambda: [5.0, 2.0, 5.0, 2.0, 2.0, 5.0, 2.0],
    "bool": lambda: [i == "a" for i in IDS],
    "bytes": lambda: np.array(IDS, dtype="S1"),
    "tuples": lambda: pd.Series([(i, 0) for i in IDS]),
    "dates": lambda: pd.to_datetime([f"2001-01-0{1 + (i == 'a')}" for i in IDS]),
    "dates with a time zone": lambda: pd.Series(
        pd.to_datetime([f"2001-01-0{1 + (i == 'a')}" for i in IDS], utc=True)
    ),
    "pandas categorical": lambda: pd.Categorical(IDS, categories=["z", "b", "a"]),
    "pandas string": lambda: pd.Series(IDS, dtype="string"),
    "pandas Int64": lambda: pd.Series([2, 1, 2, 1, 1, 2, 1], dtype="Int64"),
    "pandas, pyarrow-backed": lambda: pd.Series(IDS, dtype=pd.ArrowDtype(pa.string())),
    "polars": lambda: pl.Series(IDS),
    "strided": lambda: np.repeat(np.array(IDS), 2)[::2],
}
NO_COLUMN = {  # value, error of labels and scores, error of ids
    "empty": ([], r"must (hold at least one document|have the same)", "must have the same length"),
    "one row too few": (
        LABELS[:-1],
        "must have the same (shape|length) as (y_true|y); got|inconsistent numbers",
        "same length",
    ),
    "three dimensions": (np.zeros((7, 1, 1)), "must be 1-D", "must be 1-D"),
    "one column of a frame": (
        pd.DataFrame({"x": LABELS}),
        "must not be a column|must be 1-D",
        "must be 1-D",
    ),
    "a column, shape (7, 1)": (np.array(LABELS)[:, None], "must not be a column", "must be 1-D"),
    "a list of one-element lists": ([[v] for v in LABELS], "must not be a column", "must be 1-D"),
    "a column of np.matrix": (lambda: matrix(LABELS), "must not be a column", "must be 1-D"),
    "a scalar": (3, "must be an array .*got int|must be 1-D", "must be 1-D"),
    "a dict": ({"a": 1}, "must be an array .*got dict|must be 1-D", "must be 1-D"),
    "sparse": (
        sparse.csr_array([LABELS]),
        "must be an array .*got csr_array|must be 1-D",
        "must be 1-D",
    ),
    "ragged": (
        [[1, 0], [2], [1], [0], [1], [0], [1]],
        "must be a rectangular array; .* pass qid=",
        "must be 1-D|rectangular|hash",
    ),
    "masked": (
        np.ma.array(LABELS, mask=[0, 1, 0, 0, 0, 0, 0]),
        "must not be masked",
        "must not be masked",
    ),
}
REAL, WITHIN, MISSING = (
    "must hold real numbers; got",
    r"integers within \+-2\*\*53",
    "must not hold missing ids; got",
)
NA, NO_ID = "got <NA> .*at row 3|contains NaN, first at row 3", f"{MISSING} (<NA>|nan) at row 3"
LARGE = [2**60 + i for i in range(7)]


def refused(values, **further):
    """What is no column of real numbers within the range of float64."""
    return {
        "NaN": (changed(values, 3, np.nan), "contains NaN, first at row 3"),
        "None among numbers": (changed(values, 3, None), "real numbers; got None .*at row 3"),
        "strings": ([str(value) for value in values], f"{REAL} (an array of dtype <U|'.*at row 0)"),
        "complex": (np.array(values) + 0j, f"{REAL} an array of dtype complex"),
        "dates": (pd.to_datetime(["2001"] * 7), f"{REAL} an array of dtype datetime"),
        "object junk": (changed(values, 3, object()), f"{REAL} <object .*at row 3"),
        "Decimal": ([decimal.Decimal(v) for v in values], rf"{REAL} Decimal\('.'\) .*at row 0"),
        "pandas Float64 with NA": (pd.array(changed(values, 3, None), dtype="Float64"), NA),
        "pyarrow-backed with NA": (
            pd.Series(changed(values, 3, None), dtype=pd.ArrowDtype(pa.float64())),
            NA,
        ),
        **further,
        "integers around 2^60, one apart": (LARGE, WITHIN),
        "integers around 2^60 and a float, in a list": (changed(LARGE, 3, 0.5), WITHIN),
        "integers around 2^60, in an object array": (np.array(LARGE, dtype=object), WITHIN),
        "integers around 2^60 and a float, in an object array": (
            np.array(changed(LARGE, 3, 0.5), dtype=object),
            WITHIN,
        ),
        **{what: (value, error) for what, (value, error, _) in NO_COLUMN.items()},
    }


ACCEPTED = {  # value, and what it means
    "labels": {
        **{what: (partial(make, LABELS), LABELS) for what, make in CONTAINERS.items()},
        "bool": ([label > 0 for label in LABELS], [int(label > 0) for label in LABELS]),
        "0.25, 0.5, ...": ([v / 4 for v in LABELS], [v / 4 for v in LABELS]),
    },
    "scores": {
        **{what: (partial(make, SCORES), SCORES) for what, make in CONTAINERS.items()},
        "bool": ([s > 4 for s in SCORES], [float(s > 4) for s in SCORES]),
        "+inf": (changed(SCORES, 2, np.inf), changed(SCORES, 2, 99.0)),
        "-inf": (changed(SCORES, 0, -np.inf), changed(SCORES, 0, -99.0)),
        "1e-12 apart": ([1 + s * 1e-12 for s in SCORES], SCORES),
        "1e-300 apart": ([s * 1e-300 for s in SCORES], SCORES),
        "up to 1e308": ([(s - 4) * 3e307 for s in SCORES], SCORES),
        "all negative": ([s - 99 for s in SCORES], SCORES),
        "integers around 2^50, one apart": ([2**50 + int(s) for s in SCORES], SCORES),
        "all equal": ([0.5] * 7, [0.0] * 7),
        "-0.0 and 0.0": (
            changed(changed(SCORES, 1, -0.0), 3, 0.0),
            changed(changed(SCORES, 1, 0.0), 3, 0.0),
        ),
    },
    "ids": {
        **{what: (make, IDS) for what, make in ACCEPTED_IDS.items()},
        "integers beyond int64 next to negative ones": (
            [2**63 + 1, 2**63, -1, 2**63, 2**63, 2**63 + 1, -1],
            ["a", "b", "c", "b", "b", "a", "c"],
        ),
    },
    "k": {
        "NumPy's int8(2)": (np.int8(2), 2),
        "NumPy's uint64(2)": (np.uint64(2), 2),
        "beyond the list, 1,000": (1000, 1000),
    },
}
ALIKE = "has '1', but also 1. The ids are of different types"
NAN_OF_FLOATS = [1, 2, 1, np.nan, 2, 1, 2]
REFUSED = {  # value, and the error
    "labels": refused(
        LABELS,
        infinite=(changed(LABELS, 3, np.inf), "contains inf, first at row 3"),
        negative=(changed(LABELS, 3, -1), "contains -1.0, first at row 3"),
    ),
    "scores": refused(
        SCORES,
        **{
            "one score per class": (
                np.zeros((7, 3)),
                "Pass one score per document|must hold one score",
            )
        },
    ),
    "ids": {
        **{
            f"{name} in a tuple": (
                pd.Series(changed([(i, 0) for i in IDS], 3, ("b", value))),
                rf"{MISSING} \('b', {value}\) at row 3",
            )
            for name, value in (("NaN", np.nan), ("NA", pd.NA))
        },
        "float16": (np.array(NAN_OF_FLOATS, dtype=np.float16), "got dtype float16"),
        "no ids": (None, r"\(qid\), and got none|qid must hold one query id per document"),
        "strings and integers that look the same": (["1", 1, "1", 1, 1, "1", 1], ALIKE),
        "categories 1 and '1'": (pd.Categorical([1 if i == "a" else "1" for i in IDS]), ALIKE),
        "NaN": (NAN_OF_FLOATS, f"{MISSING} nan at row 3"),
        "None": (changed(IDS, 3, None), f"{MISSING} None at row 3"),
        "NaT": (
            pd.to_datetime(["2001", "2002", "2001", None, "2002", "2001", "2002"]),
            f"{MISSING} .*NaT.* at row 3",
        ),
        "pandas Int64 with NA": (pd.array([1, 2, 1, None, 2, 1, 2], dtype="Int64"), NO_ID),
        "pandas string with NA": (pd.array(changed(IDS, 3, None), dtype="string"), NO_ID),
        "categorical with NA": (pd.Categorical(changed(IDS, 3, None)), f"{MISSING} nan at row 3"),
        "complex": (
            np.arange(7) + 0j,
            "must hold integers, strings or other ids; got dtype complex",
        ),
        "unhashable": (changed(IDS, 3, {}), "must hold hashable values"),
        **{what: (value, error) for what, (value, _, error) in NO_COLUMN.items()},
    },
    "k": {
        repr(k): (k, "k must be an int >= 1 or None; got")
        for k in (0, -1, 2.5, True, "3", np.nan, [1])
    },
}
CASES = list[Case]()
for name in ACCEPTED:
    for what, (given, clean) in ACCEPTED[name].items():
        CASES.append(Case(name, what, given, clean=clean))
    for what, (given, error) in REFUSED[name].items():
        CASES.append(Case(name, what, given, error=error))
