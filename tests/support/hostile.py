"""Hostile input, case by case, with the result that each must give.

In tests/, ``python -m support.hostile`` prints the tables of the documentation, with ``--all`` those of all cases.

A case replaces one argument of a small clean problem; a seam replaces two that belong together. Each must give the
result of clean float64 arrays, which tests/support/reference.py computes for the cases, or an error that matches the
pattern written here.
"""

from __future__ import annotations

import decimal
import fractions
import json
import sys
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
import sklearn
from lightgbm import LGBMRanker
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBRanker

import skrank_metrics as package
from skrank_metrics import QueryKFold, QueryRanker, with_qid

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
    "floats": lambda: [0.5, 0.25, 0.5, 0.25, 0.25, 0.5, 0.25],
    "bool": lambda: [i == "a" for i in IDS],
    "bytes": lambda: np.array(IDS, dtype="S1"),
    "strings and integers that look the same": lambda: ["1", 1, "1", 1, 1, "1", 1],
    "tuples": lambda: pd.Series([(i, 0) for i in IDS]),
    "dates": lambda: pd.to_datetime([f"2001-01-0{1 + (i == 'a')}" for i in IDS]),
    "dates with a time zone": lambda: pd.Series(
        pd.to_datetime([f"2001-01-0{1 + (i == 'a')}" for i in IDS], utc=True)
    ),
    "categories 1 and '1'": lambda: pd.Categorical([1 if i == "a" else "1" for i in IDS]),
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
        LABELS[:-1], "must have the same (shape|length) as (y_true|y); got|inconsistent numbers", "same length",
    ),
    "three dimensions": (np.zeros((7, 1, 1)), "must be 1-D", "must be 1-D"),
    "one column of a frame": (pd.DataFrame({"x": LABELS}), "must not be a column|must be 1-D", "must be 1-D"),
    "a column, shape (7, 1)": (np.array(LABELS)[:, None], "must not be a column", "must be 1-D"),
    "a list of one-element lists": ([[v] for v in LABELS], "must not be a column", "must be 1-D"),
    "a column of np.matrix": (lambda: matrix(LABELS), "must not be a column", "must be 1-D"),
    "a scalar": (3, "must be an array .*got int|must be 1-D", "must be 1-D"),
    "a dict": ({"a": 1}, "must be an array .*got dict|must be 1-D", "must be 1-D"),
    "sparse": (sparse.csr_array([LABELS]), "must be an array .*got csr_array|must be 1-D", "must be 1-D"),
    "ragged": ([[1, 0], [2], [1], [0], [1], [0], [1]], "must be a rectangular array", "must be 1-D|rectangular|hash"),
    "masked": (np.ma.array(LABELS, mask=[0, 1, 0, 0, 0, 0, 0]), "must not be masked", "must not be masked"),
}  # fmt: skip
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
        "pyarrow-backed with NA": (pd.Series(changed(values, 3, None), dtype=pd.ArrowDtype(pa.float64())), NA),
        **further,
        "integers around 2^60, one apart": (LARGE, WITHIN),
        "integers around 2^60 and a float, in a list": (changed(LARGE, 3, 0.5), WITHIN),
        "integers around 2^60, in an object array": (np.array(LARGE, dtype=object), WITHIN),
        "integers around 2^60 and a float, in an object array": (
            np.array(changed(LARGE, 3, 0.5), dtype=object), WITHIN,
        ),
        **{what: (value, error) for what, (value, error, _) in NO_COLUMN.items()},
    }  # fmt: skip


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
        "-0.0 and 0.0": (changed(changed(SCORES, 1, -0.0), 3, 0.0), changed(changed(SCORES, 1, 0.0), 3, 0.0)),
    },
    "ids": {
        **{what: (make, IDS) for what, make in ACCEPTED_IDS.items()},
        "integers beyond int64 next to negative ones": (
            [2**63 + 1, 2**63, -1, 2**63, 2**63, 2**63 + 1, -1], ["a", "b", "c", "b", "b", "a", "c"],
        ),
    },
    "k": {
        "NumPy's int8(2)": (np.int8(2), 2), "NumPy's uint64(2)": (np.uint64(2), 2),
        "beyond the list, 1,000": (1000, 1000),
    },
}  # fmt: skip
NAN_OF_FLOATS = [1, 2, 1, np.nan, 2, 1, 2]
REFUSED = {  # value, and the error
    "labels": refused(
        LABELS,
        infinite=(changed(LABELS, 3, np.inf), "contains inf, first at row 3"),
        negative=(changed(LABELS, 3, -1), "contains -1.0, first at row 3"),
    ),
    "scores": refused(
        SCORES, **{"one score per class": (np.zeros((7, 3)), "Pass one score per document|must hold one score")},
    ),
    "ids": {
        **{f"{name} in a tuple": (pd.Series(changed([(i, 0) for i in IDS], 3, ("b", value))),
                                  rf"{MISSING} \('b', {value}\) at row 3")
           for name, value in (("NaN", np.nan), ("NA", pd.NA))},
        "float16": (np.array(NAN_OF_FLOATS, dtype=np.float16), "got dtype float16"),
        "no ids": (None, r"\(qid\), and got none|qid must hold one query id per document"),
        "NaN": (NAN_OF_FLOATS, f"{MISSING} nan at row 3"),
        "None": (changed(IDS, 3, None), f"{MISSING} None at row 3"),
        "NaT": (pd.to_datetime(["2001", "2002", "2001", None, "2002", "2001", "2002"]), f"{MISSING} .*NaT.* at row 3"),
        "pandas Int64 with NA": (pd.array([1, 2, 1, None, 2, 1, 2], dtype="Int64"), NO_ID),
        "pandas string with NA": (pd.array(changed(IDS, 3, None), dtype="string"), NO_ID),
        "categorical with NA": (pd.Categorical(changed(IDS, 3, None)), f"{MISSING} nan at row 3"),
        "complex": (np.arange(7) + 0j, "must hold integers, strings or other ids; got dtype complex"),
        "unhashable": (changed(IDS, 3, {}), "must hold hashable ids"),
        **{what: (value, error) for what, (value, _, error) in NO_COLUMN.items()},
    },
    "k": {repr(k): (k, "k must be an int >= 1 or None; got") for k in (0, -1, 2.5, True, "3", np.nan, [1])},
}  # fmt: skip
CASES = list[Case]()
for name in ACCEPTED:
    for what, (given, clean) in ACCEPTED[name].items():
        CASES.append(Case(name, what, given, clean=clean))
    for what, (given, error) in REFUSED[name].items():
        CASES.append(Case(name, what, given, error=error))


TITLES = {"labels": "Labels", "scores": "Scores", "ids": "Ids", "k": "Cutoff"}
ROWS = pd.RangeIndex(100, 107)  # labels of rows that say more than their number
X, Y, ONES = np.arange(7.0)[:, None], np.array(LABELS), np.ones(7)
OTHER_IDS = ["a", "b", "a", "b", "b", "a", "a"]


@dataclass(frozen=True)
class Seam:
    """Arguments replaced, as a rule some that belong together: they give what the clean ones give, or ``error``."""

    kind: str
    what: str
    replaced: dict
    error: str = ""
    ways: tuple = ()

    def __str__(self):
        return self.what

    @property
    def passed(self):
        """All arguments, some of them replaced."""
        return {**CLEAN, **self.replaced}


MASK_NAMES = ("retrieved", "judged")
CLEAN = {
    "X": X, "y": Y, "scores": np.array(SCORES), "qid": np.array(IDS), "by": np.array(IDS), "k": None,
    **dict.fromkeys(("groups", "sample_weight", *MASK_NAMES)),
    "estimator": Ridge(), "random_state": 0,
    "further": {},  # parameters of fit
    "other": {},  # what differs in the second of two reports
}  # fmt: skip


def column(values, index=ROWS):
    return pd.Series(np.asarray(values), index=index)


def frame(index):
    return pd.DataFrame(X, index=index)


def wide(values, names):
    """Two queries of two documents, as a frame of the columns "a" and "b" in the order of the names."""
    return pd.DataFrame([values[:2], values[3:5]], index=["q", "r"], columns=["a", "b"])[
        list(names)
    ]


Y_COLUMN, Y_COUNTED, Y_IDS = column(Y), pd.Series(LABELS), with_qid(Y, IDS)
OTHER_INDEX = pd.Index(OTHER_IDS, name="qid")
TRUE, CODES, BY_A = [True] * 7, [ord(i) for i in IDS], [i == "a" for i in IDS]
WIDE, MASKED_WAYS = ("metrics", "`evaluate`"), ("metrics", "scorers", "`evaluate`")
SPLIT_BY_GROUPS, RANK_BY_QUERY = (
    ("splitters (`groups`)",),
    ("scorers", "`QueryRanker.fit`", "`QueryRanker.score`"),
)
FIT = ("`QueryRanker.fit`",)
SEED = r"random_state must be an int from 0 to 2\*\*32 - 1, a RandomState or Generator instance, or None; got"
AGREE, MASK = (
    "must agree with the index level '{}' of",
    "must be a mask of True and False; got an array of dtype",
)
OTHER_QID, VARIES = AGREE.format("qid"), "must be constant within a query; got b and"
INDEX = "must have the same index as .*; got {}, while rows are taken by position"
REORDERED, OTHERS = (
    INDEX.format("the same labels in different orders"),
    INDEX.format("different labels"),
)
SEAMS_OF_KINDS = {  # what is replaced by what, the error if there is one, and the ways if these are not all
    "Conflicting ids": [
        ("`qid` and the index of `y`", {"y": with_qid(Y, OTHER_IDS)}, OTHER_QID),
        ("`qid` and the index of `X`", {"X": frame(OTHER_INDEX)}, OTHER_QID),
        ("the indexes of `y` and `X`", {"X": frame(OTHER_INDEX), "y": Y_IDS, "qid": None}, OTHER_QID),
        ("`qid` and the index of the scores", {"scores": column(SCORES, OTHER_INDEX)}, OTHER_QID),
        ("`qid` and `groups` that split a query", {"groups": OTHER_IDS}, f"groups {VARIES} a in query 'b'",
         SPLIT_BY_GROUPS),
        ("the index of `y` and `groups` that split a query", {"y": Y_IDS, "qid": None, "groups": OTHER_IDS},
         f"groups {VARIES} a in query 'b'", SPLIT_BY_GROUPS),
        ("different names for the same queries in `qid` and the index of `y`", {"y": with_qid(Y, CODES)}),
        ("categories in another order in `qid` and the index of `y`",
         {"qid": pd.Categorical(IDS, ["a", "b"]), "y": with_qid(Y, pd.Categorical(IDS, ["b", "a"]))}),
        ("the index of `y` and `groups` of users, ranked by query", {"y": Y_IDS, "qid": None, "groups": ["u"] * 7}, "",
         RANK_BY_QUERY),
        ("`groups` of users, divided by splits by query", {"groups": list("uvuvvvv")},
         "cv must keep every query and group whole; got an iterable", ("`audit_splits` (`groups`)",)),
    ],
    "Misaligned rows": [
        ("`y` sorted, `X` not", {"X": frame(ROWS), "y": Y_COLUMN[::-1]}, REORDERED),
        ("`X` sorted, `y` with ids in its index not",
         {"X": frame(ROWS)[::-1], "y": with_qid(Y_COLUMN, IDS), "qid": None}, REORDERED),
        ("`X` sorted, `y` of `with_qid` counted from 0 before it",
         {"X": frame(range(7))[::-1], "y": with_qid(Y_COUNTED, IDS), "qid": None}, REORDERED),
        ("scores sorted, `y` of `with_qid` counted from 0 before",
         {"scores": pd.Series(SCORES, name="score")[::-1], "y": with_qid(Y_COUNTED, IDS), "qid": None}, REORDERED),
        ("`X` sorted, `y` not, converted to arrays by a Pipeline", {"X": frame(ROWS), "y": Y_COLUMN[::-1]}, REORDERED,
         ("`Pipeline.fit`",)),
        ("`qid` sorted, `y` not", {"y": Y_COLUMN, "qid": column(IDS)[::-1]}, REORDERED),
        ("scores sorted, `y` not", {"y": Y_COLUMN, "scores": column(SCORES)[::-1]}, REORDERED),
        ("weights sorted, `y` not", {"y": Y_COLUMN, "sample_weight": column(ONES)[::-1]}, REORDERED),
        ("`y` and `X` with different rows", {"X": frame(ROWS), "y": column(Y, ROWS + 1)}, OTHERS),
        ("scores and `y` with different rows", {"y": Y_COLUMN, "scores": column(SCORES, ROWS + 1)}, OTHERS),
        ("`qid` and `y` with different rows", {"y": Y_COLUMN, "qid": column(IDS, ROWS + 1)}, OTHERS),
        ("frames of one query per row, columns in another order",
         {"y": wide(LABELS, "ab"), "scores": wide(SCORES, "ba"), "qid": None},
         "y_score must have the same columns as y_true; got the same labels in different orders", WIDE),
        ("frames of one query per row, rows in another order",
         {"y": wide(LABELS, "ab"), "scores": wide(SCORES, "ab")[::-1], "qid": None}, REORDERED, WIDE),
        ("`X` with labels, `y` and `qid` that count from 0", {"X": frame(ROWS), "y": Y_COUNTED, "qid": pd.Series(IDS)}),
        ("`y` with labels, scores and `qid` that count from 0",
         {"y": Y_COLUMN, "scores": pd.Series(SCORES), "qid": pd.Series(IDS)}),
    ],
    "Masks of documents": [
        *(seam for mask in MASK_NAMES for seam in (
            (f"`{mask}`, all True", {mask: TRUE}),
            (f"`{mask}` of 0 and 1", {mask: np.ones(7, dtype=int)}, f"{mask} {MASK} int64"),
            (f"`{mask}` with a different length", {mask: TRUE[1:]},
             rf"{mask} must have the same shape as (y_true|y); got \(6,\) and \(7,\)"),
            (f"`{mask}` sorted, `y` not", {"y": Y_COLUMN, mask: column(TRUE)[::-1]}, REORDERED),
            (f"`{mask}` and the index of `y`",
             {"y": with_qid(Y, IDS, **{mask: TRUE}), "qid": None, mask: [False] * 7},
             f"{mask} {AGREE.format(mask)} the labels"),
        )),
        ("NaN as the label of an unjudged document",
         {"y": changed(LABELS, 3, np.nan), "judged": changed(TRUE, 3, False)}, "", MASKED_WAYS),
        ("-1 as the label of an unjudged document, `judged` in the index of `y`",
         {"y": with_qid(changed(LABELS, 3, -1), IDS, judged=changed(TRUE, 3, False)), "qid": None}, "", MASKED_WAYS),
        ("NaN as the label of a judged document", {"y": changed(LABELS, 3, np.nan), "judged": TRUE},
         "contains NaN, first at row 3"),
        ("None in `judged`", {"judged": changed(TRUE, 3, None)}, f"judged {MASK} object"),
        ("`sample_weight` and the index of `y`",
         {"y": with_qid(Y, IDS, sample_weight=ONES), "qid": None, "sample_weight": 2 * ONES},
         f"sample_weight {AGREE.format('sample_weight')} the labels", (*MASKED_WAYS, "`QueryRanker.score`")),
    ],
    "Slices": [
        ("numbers, out of order", {"by": [10 if a else 9 for a in BY_A]}),
        ("numbers and strings", {"by": [1 if a else "b" for a in BY_A]}),
        ("dates in nanoseconds", {"by": np.array([f"2001-01-0{1 + a}" for a in BY_A], dtype="M8[ns]")}),
        ("a value that varies within a query", {"by": OTHER_IDS}, f"by {VARIES} a in query 'b'"),
        ("None", {"by": [None if i == "a" else i for i in IDS]}),
        ("NaN", {"by": [np.nan if a else 1.0 for a in BY_A]}),
        ("None in some rows of a query", {"by": changed(IDS, 3, None)}, f"by {VARIES} None in query 'b'"),
        ("unhashable", {"by": changed(IDS, 3, {})}, "by must hold hashable values"),
        ("a slice with weight 0", {"sample_weight": [float(a) for a in BY_A]}, "", ("`evaluate(by=)`",)),
    ],
    "Reports compared": [
        ("in a different order", {"other": {name: CLEAN[name][::-1] for name in ("y", "scores", "qid", "by")}}),
        ("query ids of a different type", {"other": {"qid": CODES}},
         "reports must be over the same queries; got 2 in '0' and 2 in '1', 0 of them in both"),
        ("different labels", {"other": {"y": changed(LABELS, 3, 1)}},
         "reports must have the same documents with the same labels; '0' and '1' differ in query 'b'"),
        ("different labels with the same sum", {"other": {"y": [2, 1, 1, 1, 1, 0, 1]}},
         "reports must have the same documents with the same labels"),
        ("weights in only one of them", {"other": {"sample_weight": ONES}},
         "reports must have the same weights; '0' and '1' differ"),
        ("different weights", {"sample_weight": ONES, "other": {"sample_weight": 2 * ONES}},
         "reports must have the same weights; '0' and '1' differ"),
        ("weights of 1e308", {"sample_weight": 1e308 * ONES}, "", ("`compare`", "`evaluate(by=)`")),
    ],
    "Other arguments": [
        ("a polars frame with integers around 2^60 next to floats",
         {"y": [[1, 0]] * 2, "scores": pl.DataFrame({"a": [2**60, 2**60 + 1], "b": [0.5, 1]}), "qid": None},
         f"y_score must hold {WITHIN}", WIDE),
        ("long doubles beyond the range of float64",
         {"scores": np.array(SCORES, dtype=np.longdouble) * np.longdouble("1e4000")},
         r"y_score must hold numbers within the range of float64", WIDE),
        *((f"None for `{name}`", {name: None, "random_state": 1},
           r"(X|arrays\[\d\]) must have one row per document; got None|y must be an array .* got None", ways)
          for name, ways in (("X", ("splitters", "`query_train_test_split`")),
                             ("y", ("`query_train_test_split`", "`audit_splits`", "`cross_evaluate`")))),
        ("a class instead of an estimator", {"estimator": LGBMRanker},
         r"estimator must be an estimator object with fit and get_params, such as LGBMRanker\(\); got <class", FIT),
        ("LGBMRanker without QueryRanker", {"estimator": LGBMRanker()},
         r"estimators must take query ids in fit; got LGBMRanker. Pass QueryRanker\(LGBMRanker", ("`cross_evaluate`",)),
        ("`eval_set` for an estimator that takes none", {"further": {"eval_set": [(X, Y)]}},
         "unexpected parameter 'eval_set'; it takes .* To stop early, set early_stopping_rounds", FIT),
        ("`base_margin`, one row too few",
         {"estimator": XGBRanker(n_estimators=1), "further": {"base_margin": SCORES[1:]}},
         r"base_margin must hold one value per document, 7 in all; got shape \(6,\)", FIT),
        ("a parameter that `fit` does not take", {"further": {"quid": IDS}},
         "unexpected parameter 'quid'; it takes X, y, qid, groups, sample_weight and .* Did", FIT),
        ("`group`", {"further": {"group": [3, 4]}},
         r"unexpected parameter 'group'; it takes .* Pass query ids; qid_from_sizes\(group\)", FIT),
        *((f"`random_state={seed!r}`", {"random_state": seed}, SEED) for seed in ("a", 1.5, -1, True, 2**32)),
    ],
}  # fmt: skip
SEAMS = [Seam(kind, *seam) for kind, seams in SEAMS_OF_KINDS.items() for seam in seams]


class Recorded(BaseEstimator):
    """A model that predicts what it was given."""

    def __init__(self, scores=None):
        self.scores = scores

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return self.scores


def chosen(rows, *names):
    return {name: rows[name] for name in names}


def split(rows, *names):
    splitter = QueryKFold(2, shuffle=True, random_state=rows["random_state"])
    return [
        test.tolist() for _, test in splitter.split(rows["X"], rows["y"], **chosen(rows, *names))
    ]


def fit(rows):
    ranker = QueryRanker(rows["estimator"], random_state=rows["random_state"])
    given = chosen(rows, "qid", "groups", "sample_weight") | rows["further"]
    return ranker.fit(rows["X"], rows["y"], **given).predict(X).round(12).tolist()


def score(rows):
    ranker = QueryRanker(Recorded(rows["scores"])).fit(X, Y, qid=list("tuvwxyz"))
    return ranker.score(X, rows["y"], **chosen(rows, "qid", "groups", "sample_weight"))


def train_test_split(rows):
    parts = package.query_train_test_split(
        rows["X"], rows["y"], **chosen(rows, "qid", "random_state")
    )
    return [np.asarray(part).tolist() for part in parts]


def metric(rows):
    return package.ndcg_score(
        rows["y"], rows["scores"], **chosen(rows, "qid", "k", "sample_weight", *MASK_NAMES)
    )


def scored(rows):
    names = ("qid", "groups", "sample_weight", *MASK_NAMES)
    ids = {name: rows[name] for name in names if rows[name] is not None}
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = package.make_ranking_scorer("ndcg").set_score_request(**dict.fromkeys(names, True))
        return scorer(Recorded(rows["scores"]), rows["X"], rows["y"], **ids)


def evaluated(rows):
    ndcg = "ndcg" if rows["k"] is None else package.get_metric("ndcg", k=rows["k"])
    given = chosen(rows, "qid", "sample_weight", *MASK_NAMES)
    return package.evaluate(rows["y"], rows["scores"], **given, metrics=ndcg).mean.popitem()[1]


def sliced(rows):
    """The mean of the slice of query "a", the only one whose weight is never 0; slices of numbers are in order."""
    given = chosen(rows, "qid", "sample_weight", "by")
    slices = package.evaluate(rows["y"], rows["scores"], **given, metrics="ndcg").slices
    if all(isinstance(name, int) for name in slices):
        assert list(slices) == sorted(slices)
    return [round(part.mean["ndcg"], 12) for part in slices.values() if "a" in part.qid]


def compared(rows):
    """Difference and p-value of the given scores and their negatives."""
    other = {**rows, **rows["other"]}
    reports = []
    for one, sign in ((rows, 1), (other, -1)):
        given = chosen(one, "qid", "sample_weight")
        reports.append(package.evaluate(one["y"], sign * one["scores"], **given, metrics="ndcg"))
    (pair,) = package.compare(reports, "ndcg").pairs()
    return [round(pair.difference, 12), pair.p_value]


def audit(rows, *names):
    """What an audit of splits tells: of splits by query, and of rows where only query ids are given."""
    splits = list(QueryKFold(2).split(X, qid=IDS)) if "groups" in names else KFold(2)
    found = package.audit_splits(splits, rows["X"], rows["y"], **chosen(rows, *names))
    return found.check() if "groups" in names else found.to_frame().to_numpy().tolist()


def crossed(rows):
    params = None if rows["groups"] is None else {"groups": rows["groups"]}
    options = {"cv": QueryKFold(2), "metrics": "ndcg", "params": params}
    found = package.cross_evaluate(
        rows["estimator"], rows["X"], rows["y"], **chosen(rows, "qid"), **options
    )
    (report,) = found.reports.values()
    return report.mean["ndcg"]


def piped(rows):
    pipeline = make_pipeline(StandardScaler(), QueryRanker(rows["estimator"]))
    pipeline.fit(rows["X"], rows["y"], queryranker__qid=rows["qid"])
    return pipeline.predict(X).round(12).tolist()


# The arguments that each way takes; groups take precedence in a split, and come last in a ranking.
WAYS = {
    "metrics": ({"y", "scores", "qid", "sample_weight", *MASK_NAMES}, metric),
    "scorers": ({"y", "scores", "qid", "groups", "sample_weight", *MASK_NAMES}, scored),
    "`evaluate`": ({"y", "scores", "qid", "sample_weight", *MASK_NAMES}, evaluated),
    "`QueryRanker.fit`": ({"X", "y", "qid", "groups", "sample_weight", "estimator", "further", "random_state"}, fit),
    "`QueryRanker.score`": ({"y", "qid", "groups", "sample_weight"}, score),
    "splitters": ({"X", "y", "qid", "random_state"}, lambda rows: split(rows, "qid")),
    "splitters (`groups`)": ({"X", "y", "qid", "groups"}, lambda rows: split(rows, "qid", "groups")),
    "`evaluate(by=)`": ({"by", "sample_weight"}, sliced),
    "`compare`": ({"other", "sample_weight"}, compared),
    "`audit_splits`": ({"X", "y", "qid"}, lambda rows: audit(rows, "qid")),
    "`audit_splits` (`groups`)": ({"X", "y", "qid", "groups"}, lambda rows: audit(rows, "qid", "groups")),
    "`query_train_test_split`": ({"X", "y", "qid", "random_state"}, train_test_split),
    "`cross_evaluate`": ({"X", "y", "qid", "estimator"}, crossed),
    "`Pipeline.fit`": (set(), piped),
}  # fmt: skip


def ways_of(seam):
    """Names of the ways that the seam is tried on: all that take what is replaced, unless it names its own."""
    replaced = {name for name, value in seam.replaced.items() if value is not None}
    return list(seam.ways) or [name for name, (taken, _) in WAYS.items() if replaced <= taken]


def rows_of(labels, scores, ids, k):
    """The arguments of a case as those of the ways."""
    return {**CLEAN, "y": labels, "scores": scores, "qid": ids, "k": k}


def outcome(way, rows):
    """What a way gives, as text."""
    try:
        way(rows)
    except (TypeError, ValueError) as error:
        said, _, rest = str(error).partition("; got ")
        got = rest.partition(". ")[0].rstrip(".")
        if got:
            said += f"; got {got}"
        if len(said) > 110:
            said = said[:110]
            # Up to the last whole sentence, if there is one.
            said = said.rpartition(". ")[0] or said
        text = f"{type(error).__name__}: {said}".replace("|", "/")
        # Addresses and units of times differ from run to run and between versions of pandas.
        return text.split(" at 0x")[0].replace("[us]", "[ns]")
    return "right"


# The thirty rows of the documentation.
SHOWN_CASES = {
    "labels": ["NaN", "negative", "strings", "big-endian", "integers around 2^60, one apart", "one row too few",
               "a column, shape (7, 1)", "masked"],
    "scores": ["uint8", "1e-12 apart", "+inf", "NaN", "None among numbers", "one score per class", "masked"],
    "ids": ["no ids", "strings and integers that look the same", "NaN", "Python integers beyond 64 bits"],
    "k": ["0", "2.5"],
}  # fmt: skip
SHOWN_SEAMS = [
    "`qid` and the index of `y`", "the index of `y` and `groups` of users, ranked by query",
    "`X` sorted, `y` not, converted to arrays by a Pipeline", "scores and `y` with different rows",
    "NaN as the label of an unjudged document", "a value that varies within a query",
    "different labels with the same sum", "weights in only one of them", "LGBMRanker without QueryRanker",
]  # fmt: skip


def table(*, everything=False):
    """What cases give here and what peers make of them, and what seams give, as Markdown: the rows shown, or all."""
    recorded = json.loads(PEERS.read_text(encoding="utf-8"))
    peers = recorded["versions"]
    cases = [case for case in CASES if everything or case.what in SHOWN_CASES[case.argument]]
    seams = [seam for seam in SEAMS if everything or seam.what in SHOWN_SEAMS]
    rows = []
    for case in cases:
        of_peers = recorded["outcomes"][f"{case.argument}: {case.what}"]
        title = f"{TITLES[case.argument]}: {case.what}"
        here = outcome(metric, rows_of(**case.passed))
        rows.append((title, here, *(of_peers[peer] for peer in peers)))
    disagreeing = []
    for seam in seams:
        first_way = ways_of(seam)[0]
        _, way = WAYS[first_way]
        disagreeing.append((f"{seam.kind}: {seam.what}", outcome(way, seam.passed)))
    versions = ", ".join(f"{peer} {version}" for peer, version in peers.items())
    of_cases = markdown(("input", "here", *peers), rows)
    of_seams = markdown(("input", "here"), disagreeing)
    return f"Measured with {versions}.\n\n{of_cases}\n\nArguments that do not belong together:\n\n{of_seams}"


def markdown(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


if __name__ == "__main__":
    print(table(everything="--all" in sys.argv))
