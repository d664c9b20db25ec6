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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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

from skrank_metrics import (
    QueryKFold,
    QueryRanker,
    audit_splits,
    compare,
    cross_evaluate,
    evaluate,
    make_ranking_scorer,
    ndcg_score,
    query_train_test_split,
    with_qid,
)

LABELS = [2, 0, 1, 0, 1, 0, 3]
SCORES = [7.0, 6.0, 0.0, 4.0, 2.0, 6.0, 4.0]
IDS = ["a", "b", "a", "b", "b", "a", "b"]  # interleaved, and two documents of "b" tie

PEERS = Path(__file__).parents[1] / "golden" / "peers_on_hostile_input.json"


@dataclass(frozen=True)
class Case:
    """One argument replaced: ``make`` returns what is passed; it means ``clean`` or gets ``error``."""

    argument: str  # labels, scores, ids or k
    what: str
    make: Callable[[], Any]
    clean: Any = None
    error: str = ""

    @property
    def passed(self) -> dict[str, Any]:
        """All four arguments, one of them hostile."""
        return self.problem(self.make())

    @property
    def meant(self) -> dict[str, Any]:
        """The clean arguments that give the right number."""
        return self.problem(self.clean)

    def problem(self, value: Any) -> dict[str, Any]:
        """Put a value in the place of one argument."""
        return {"labels": LABELS, "scores": SCORES, "ids": IDS, "k": None, self.argument: value}


def fails(argument: str, what: str, value: Any, error: str) -> Case:
    return Case(argument, what, value if callable(value) else lambda: value, error=error)


def changed(values: list[Any], row: int, value: Any) -> list[Any]:
    return [*values[:row], value, *values[row + 1 :]]


def memory_mapped(values: list[Any]) -> Any:
    with tempfile.TemporaryFile() as file:
        array = np.memmap(file, dtype=np.float64, shape=len(values))
    array[:] = values
    return array


def matrix(values: list[Any]) -> Any:
    with warnings.catch_warnings(action="ignore", category=PendingDeprecationWarning):
        return np.matrix(values).T


def read_only(values: list[Any]) -> Any:
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array


NUMERIC = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "longdouble"]
CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    **{dtype: (lambda values, dtype=dtype: np.array(values, dtype=dtype)) for dtype in NUMERIC},
    "big-endian": lambda values: np.array(values, dtype=">f8"),
    "every second element of an array": lambda values: np.repeat(np.array(values, dtype=float), 2)[::2],
    "reversed view": lambda values: np.array(values[::-1], dtype=float)[::-1],
    "read-only": read_only,
    "memory-mapped": memory_mapped,
    "tuple": tuple,
    "object array of numbers": lambda values: np.array([fractions.Fraction(v) for v in values], dtype=object),
    "pandas Float64": lambda values: pd.Series(values, dtype="Float64"),
    "pandas Int64": lambda values: pd.Series([int(v) for v in values], dtype="Int64"),
    "pandas, pyarrow-backed": lambda values: pd.Series([int(v) for v in values], dtype="int64[pyarrow]"),
    "polars": lambda values: pl.Series([float(v) for v in values]),
    "pyarrow": lambda values: pa.array([float(v) for v in values]),
}
THREE_IDS = ["a", "b", "c", "b", "b", "a", "c"]
ACCEPTED_IDS: dict[str, Any] = {
    "integers": lambda: [2, 1, 2, 1, 1, 2, 1],
    "integers around 2^60, one apart": lambda: np.array([2, 1, 2, 1, 1, 2, 1]) + 2**60,
    "Python integers beyond 64 bits": lambda: [2**70 + (i == "a") for i in IDS],
    "uint64 near the largest": lambda: np.uint64(2**64 - 1) - np.array([2, 1, 2, 1, 1, 2, 1], dtype=np.uint64),
    "an integer and a float that are equal as float64": lambda: [2**53 + 1 if i == "a" else 2.0**53 for i in IDS],
    "strings that differ in a trailing NUL": lambda: ["e\0" if i == "a" else "e" for i in IDS],
    "bytes that differ in a trailing NUL": lambda: [b"x\0" if i == "a" else b"x" for i in IDS],
    "polars strings that differ in a trailing NUL": lambda: pl.Series(["e\0" if i == "a" else "e" for i in IDS]),
    "floats": lambda: [0.5, 0.25, 0.5, 0.25, 0.25, 0.5, 0.25],
    "bool": lambda: [i == "a" for i in IDS],
    "bytes": lambda: np.array(IDS, dtype="S1"),
    "strings and integers that look the same": lambda: ["1", 1, "1", 1, 1, "1", 1],
    "tuples": lambda: pd.Series([(i, 0) for i in IDS]),
    "dates": lambda: pd.to_datetime([f"2001-01-0{1 + (i == 'a')}" for i in IDS]),
    "dates with a time zone": lambda: pd.Series(pd.to_datetime([f"2001-01-0{1 + (i == 'a')}" for i in IDS], utc=True)),
    "categories 1 and '1'": lambda: pd.Categorical([1 if i == "a" else "1" for i in IDS]),
    "pandas categorical": lambda: pd.Categorical(IDS, categories=["z", "b", "a"]),
    "pandas string": lambda: pd.Series(IDS, dtype="string"),
    "pandas Int64": lambda: pd.Series([2, 1, 2, 1, 1, 2, 1], dtype="Int64"),
    "pandas, pyarrow-backed": lambda: pd.Series(IDS, dtype=pd.ArrowDtype(pa.string())),
    "polars": lambda: pl.Series(IDS),
    "strided": lambda: np.repeat(np.array(IDS), 2)[::2],
}
NO_COLUMN: dict[str, tuple[Any, str, str]] = {  # value, error of labels and scores, error of ids
    "empty": ([], r"must (hold at least one document|have the same)", "must have the same length"),
    "one row too few": (
        LABELS[:-1], "must have the same (shape|length) as (y_true|y); got|inconsistent numbers", "same length",
    ),
    "three dimensions": (np.zeros((7, 1, 1)), "must be 1-D", "must be 1-D"),
    "one column of a frame": (
        lambda: pd.DataFrame({"x": LABELS}), "must not be a column|must be 1-D", "must be 1-D",
    ),
    "a column, shape (7, 1)": (lambda: np.array(LABELS)[:, None], "must not be a column", "must be 1-D"),
    "a list of one-element lists": ([[v] for v in LABELS], "must not be a column", "must be 1-D"),
    "a column of np.matrix": (lambda: matrix(LABELS), "must not be a column", "must be 1-D"),
    "a scalar": (3, "must be an array .*got int|must be 1-D", "must be 1-D"),
    "a dict": ({"a": 1}, "must be an array .*got dict|must be 1-D", "must be 1-D"),
    "sparse": (lambda: sparse.csr_array([LABELS]), "must be an array .*got csr_array|must be 1-D", "must be 1-D"),
    "ragged": ([[1, 0], [2], [1], [0], [1], [0], [1]], "must be a rectangular array", "must be 1-D|rectangular|hash"),
    "masked": (np.ma.array(LABELS, mask=[0, 1, 0, 0, 0, 0, 0]), "must not be masked", "must not be masked"),
}  # fmt: skip


def not_numbers(argument: str, values: list[float]) -> list[Case]:
    real = "must hold real numbers; got"
    return [
        fails(argument, "NaN", changed(values, 3, np.nan), "contains NaN, first at row 3"),
        fails(argument, "None among numbers", changed(values, 3, None), "real numbers; got None .*at row 3"),
        fails(argument, "strings", [str(value) for value in values], f"{real} (an array of dtype <U|'.*at row 0)"),
        fails(argument, "complex", np.array(values) + 0j, f"{real} an array of dtype complex"),
        fails(argument, "dates", lambda: pd.to_datetime(["2001"] * 7), f"{real} an array of dtype datetime"),
        fails(argument, "object junk", changed(values, 3, object()), f"{real} <object .*at row 3"),
        fails(argument, "Decimal", [decimal.Decimal(v) for v in values], rf"{real} Decimal\('.'\) .*at row 0"),
        fails(argument, "pandas Float64 with NA", lambda: pd.array(changed(values, 3, None), dtype="Float64"),
              r"got <NA> .*at row 3|contains NaN, first at row 3"),
        fails(argument, "pyarrow-backed with NA",
              lambda: pd.Series(changed(values, 3, None), dtype=pd.ArrowDtype(pa.float64())),
              r"got <NA> .*at row 3|contains NaN, first at row 3"),
    ]  # fmt: skip


def too_large(argument: str) -> list[Case]:
    within = r"integers within \+-2\*\*53"
    values = [2**60 + i for i in range(7)]
    return [
        fails(argument, "integers around 2^60, one apart", values, within),
        fails(argument, "integers around 2^60 and a float, in a list", changed(values, 3, 0.5), within),
        fails(argument, "integers around 2^60, in an object array", np.array(values, dtype=object), within),
        fails(argument, "integers around 2^60 and a float, in an object array",
              np.array(changed(values, 3, 0.5), dtype=object), within),
    ]  # fmt: skip


CASES = [
    *(Case("labels", what, lambda make=make: make(LABELS), LABELS) for what, make in CONTAINERS.items()),
    Case("labels", "bool", lambda: [label > 0 for label in LABELS], [int(label > 0) for label in LABELS]),
    Case("labels", "0.25, 0.5, ...", lambda: [v / 4 for v in LABELS], [v / 4 for v in LABELS]),
    *not_numbers("labels", LABELS),
    fails("labels", "infinite", changed(LABELS, 3, np.inf), "contains inf, first at row 3"),
    fails("labels", "negative", changed(LABELS, 3, -1), "contains -1.0, first at row 3"),
    *too_large("labels"),
    *(fails("labels", what, value, error) for what, (value, error, _) in NO_COLUMN.items()),
    *(Case("scores", what, lambda make=make: make(SCORES), SCORES) for what, make in CONTAINERS.items()),
    Case("scores", "bool", lambda: [s > 4 for s in SCORES], [float(s > 4) for s in SCORES]),
    Case("scores", "+inf", lambda: changed(SCORES, 2, np.inf), changed(SCORES, 2, 99.0)),
    Case("scores", "-inf", lambda: changed(SCORES, 0, -np.inf), changed(SCORES, 0, -99.0)),
    Case("scores", "1e-12 apart", lambda: [1 + s * 1e-12 for s in SCORES], SCORES),
    Case("scores", "1e-300 apart", lambda: [s * 1e-300 for s in SCORES], SCORES),
    Case("scores", "up to 1e308", lambda: [(s - 4) * 3e307 for s in SCORES], SCORES),
    Case("scores", "all negative", lambda: [s - 99 for s in SCORES], SCORES),
    Case("scores", "integers around 2^50, one apart", lambda: [2**50 + int(s) for s in SCORES], SCORES),
    Case("scores", "all equal", lambda: [0.5] * 7, [0.0] * 7),
    Case("scores", "-0.0 and 0.0", lambda: changed(changed(SCORES, 1, -0.0), 3, 0.0),
         changed(changed(SCORES, 1, 0.0), 3, 0.0)),
    *not_numbers("scores", SCORES),
    *too_large("scores"),
    fails("scores", "one score per class", np.zeros((7, 3)), "Pass one score per document|must hold one score"),
    *(fails("scores", what, value, error) for what, (value, error, _) in NO_COLUMN.items()),
    *(Case("ids", what, make, IDS) for what, make in ACCEPTED_IDS.items()),
    Case("ids", "integers beyond int64 next to negative ones",
         lambda: [{"a": 2**63 + 1, "b": 2**63, "c": -1}[i] for i in THREE_IDS], THREE_IDS),
    fails("ids", "NaN in a tuple", lambda: pd.Series(changed([(i, 0) for i in IDS], 3, ("b", np.nan))),
          r"must not hold missing ids; got \('b', nan\) at row 3"),
    fails("ids", "NA in a tuple", lambda: pd.Series(changed([(i, 0) for i in IDS], 3, ("b", pd.NA))),
          r"must not hold missing ids; got \('b', <NA>\) at row 3"),
    fails("ids", "float16", np.array([1, 2, 1, np.nan, 2, 1, 2], dtype=np.float16),
          "got dtype float16"),
    fails("ids", "no ids", None, r"\(qid\), and got none|qid must hold one query id per document"),
    fails("ids", "NaN", [1, 2, 1, np.nan, 2, 1, 2], "must not hold missing ids; got nan at row 3"),
    fails("ids", "None", changed(IDS, 3, None), "must not hold missing ids; got None at row 3"),
    fails("ids", "NaT", lambda: pd.to_datetime(["2001", "2002", "2001", None, "2002", "2001", "2002"]),
          "must not hold missing ids; got .*NaT.* at row 3"),
    fails("ids", "pandas Int64 with NA", lambda: pd.array([1, 2, 1, None, 2, 1, 2], dtype="Int64"),
          "must not hold missing ids; got (<NA>|nan) at row 3"),
    fails("ids", "pandas string with NA", lambda: pd.array(changed(IDS, 3, None), dtype="string"),
          "must not hold missing ids; got (<NA>|nan) at row 3"),
    fails("ids", "categorical with NA", lambda: pd.Categorical(changed(IDS, 3, None)),
          "must not hold missing ids; got nan at row 3"),
    fails("ids", "complex", np.arange(7) + 0j, "must hold integers, strings or other ids; got dtype complex"),
    fails("ids", "unhashable", changed(IDS, 3, {}), "must hold hashable ids"),
    *(fails("ids", what, value, error) for what, (value, _, error) in NO_COLUMN.items()),
    Case("k", "NumPy's int8(2)", lambda: np.int8(2), 2),
    Case("k", "NumPy's uint64(2)", lambda: np.uint64(2), 2),
    Case("k", "beyond the list, 1,000", lambda: 1000, 1000),
    *(fails("k", repr(k), k, "k must be an int >= 1 or None; got") for k in (0, -1, 2.5, True, "3", np.nan, [1])),
]  # fmt: skip


TITLES = {"labels": "Labels", "scores": "Scores", "ids": "Ids", "k": "Cutoff"}
ROWS = pd.RangeIndex(100, 107)  # labels of rows that say more than their number
X, Y = np.arange(7.0)[:, None], np.array(LABELS)
OTHER_IDS = ["a", "b", "a", "b", "b", "a", "a"]


@dataclass(frozen=True)
class Seam:
    """Arguments replaced, as a rule some that belong together: they give what the clean ones give, or ``error``."""

    kind: str
    what: str
    make: Callable[[], dict[str, Any]]
    error: str = ""
    ways: tuple[str, ...] = ()

    @property
    def passed(self) -> dict[str, Any]:
        """All arguments, some of them replaced."""
        return {**CLEAN, **self.make()}


MASK_NAMES = ("retrieved", "judged")
CLEAN: dict[str, Any] = {
    "X": X,
    "y": Y,
    "scores": np.array(SCORES),
    "qid": np.array(IDS),
    "groups": None,
    "sample_weight": None,
    "retrieved": None,
    "judged": None,
    "estimator": Ridge(),
    "further": {},  # parameters of fit
    "random_state": 0,
    "by": np.array(IDS),
    "other": {},  # what differs in the second of two reports
}


def column(values: Any, index: Any = ROWS) -> Any:
    return pd.Series(np.asarray(values), index=index)


def with_ids(values: Any, ids: Any = IDS) -> Any:
    return with_qid(values, ids)


def reordered() -> dict[str, Any]:
    return {name: np.array(CLEAN[name])[::-1] for name in ("y", "scores", "qid", "by")}


def frame(index: Any) -> Any:
    return pd.DataFrame(X, index=index)


def wide(values: Sequence[float], names: str) -> Any:
    """Two queries of two documents, as a frame of the columns "a" and "b" in the order of the names."""
    return pd.DataFrame([values[:2], values[3:5]], index=["q", "r"], columns=["a", "b"])[list(names)]


WIDE = ("metrics", "`evaluate`")
SPLIT_BY_GROUPS, RANK_BY_QUERY = ("splitters (`groups`)",), ("scorers", "`QueryRanker.fit`", "`QueryRanker.score`")
DISAGREE, OUT_OF_STEP, SLICES, COMPARED = "Conflicting ids", "Misaligned rows", "Slices", "Reports compared"
MASKS, MISUSE = "Masks of documents", "Other arguments"
SEED = r"random_state must be an int from 0 to 2\*\*32 - 1, a RandomState or Generator instance, or None; got"
AGREE = "must agree with the index level 'qid' of"
INDEX = "must have the same index as .*; got {}, while rows are taken by position"
REORDERED, OTHERS = INDEX.format("the same labels in different orders"), INDEX.format("different labels")
SEAMS = [
    Seam(DISAGREE, "`qid` and the index of `y`", lambda: {"y": with_ids(Y, OTHER_IDS)}, AGREE),
    Seam(DISAGREE, "`qid` and the index of `X`", lambda: {"X": frame(pd.Index(OTHER_IDS, name="qid"))}, AGREE),
    Seam(DISAGREE, "the indexes of `y` and `X`",
         lambda: {"X": frame(pd.Index(OTHER_IDS, name="qid")), "y": with_ids(Y), "qid": None}, AGREE),
    Seam(DISAGREE, "`qid` and the index of the scores",
         lambda: {"scores": column(SCORES, pd.Index(OTHER_IDS, name="qid"))}, AGREE),
    Seam(DISAGREE, "`qid` and `groups` that split a query", lambda: {"groups": OTHER_IDS},
         "groups must be constant within a query; got b and a in query 'b'", SPLIT_BY_GROUPS),
    Seam(DISAGREE, "the index of `y` and `groups` that split a query",
         lambda: {"y": with_ids(Y), "qid": None, "groups": OTHER_IDS},
         "groups must be constant within a query; got b and a in query 'b'", SPLIT_BY_GROUPS),
    Seam(DISAGREE, "different names for the same queries in `qid` and the index of `y`",
         lambda: {"y": with_ids(Y, [ord(i) for i in IDS])}),
    Seam(DISAGREE, "categories in another order in `qid` and the index of `y`",
         lambda: {"qid": pd.Categorical(IDS, ["a", "b"]), "y": with_ids(Y, pd.Categorical(IDS, ["b", "a"]))}),
    Seam(DISAGREE, "the index of `y` and `groups` of users, ranked by query",
         lambda: {"y": with_ids(Y), "qid": None, "groups": ["u"] * 7}, "", RANK_BY_QUERY),
    Seam(DISAGREE, "`groups` of users, divided by splits by query", lambda: {"groups": list("uvuvvvv")},
         "cv must keep every query and group whole; got an iterable", ("`audit_splits` (`groups`)",)),
    Seam(OUT_OF_STEP, "`y` sorted, `X` not", lambda: {"X": frame(ROWS), "y": column(Y)[::-1]}, REORDERED),
    Seam(OUT_OF_STEP, "`X` sorted, `y` with ids in its index not",
         lambda: {"X": frame(ROWS)[::-1], "y": with_ids(column(Y)), "qid": None}, REORDERED),
    Seam(OUT_OF_STEP, "`X` sorted, `y` of `with_qid` counted from 0 before it",
         lambda: {"X": frame(range(7))[::-1], "y": with_ids(pd.Series(LABELS)), "qid": None}, REORDERED),
    Seam(OUT_OF_STEP, "scores sorted, `y` of `with_qid` counted from 0 before",
         lambda: {"scores": pd.Series(SCORES, name="score")[::-1], "y": with_ids(pd.Series(LABELS)), "qid": None},
         REORDERED),
    Seam(OUT_OF_STEP, "`X` sorted, `y` not, converted to arrays by a Pipeline",
         lambda: {"X": frame(ROWS), "y": column(Y)[::-1]}, REORDERED, ("`Pipeline.fit`",)),
    Seam(OUT_OF_STEP, "`qid` sorted, `y` not", lambda: {"y": column(Y), "qid": column(IDS)[::-1]}, REORDERED),
    Seam(OUT_OF_STEP, "scores sorted, `y` not", lambda: {"y": column(Y), "scores": column(SCORES)[::-1]}, REORDERED),
    Seam(OUT_OF_STEP, "weights sorted, `y` not",
         lambda: {"y": column(Y), "sample_weight": column(np.ones(7))[::-1]}, REORDERED),
    Seam(OUT_OF_STEP, "`y` and `X` with different rows", lambda: {"X": frame(ROWS), "y": column(Y, ROWS + 1)}, OTHERS),
    Seam(OUT_OF_STEP, "scores and `y` with different rows",
         lambda: {"y": column(Y), "scores": column(SCORES, ROWS + 1)}, OTHERS),
    Seam(OUT_OF_STEP, "`qid` and `y` with different rows",
         lambda: {"y": column(Y), "qid": column(IDS, ROWS + 1)}, OTHERS),
    *(Seam(MASKS, f"`{mask}`, all True", lambda mask=mask: {mask: [True] * 7}) for mask in ("retrieved", "judged")),
    Seam(MASKS, "NaN as the label of an unjudged document",
         lambda: {"y": changed(LABELS, 3, np.nan), "judged": changed([True] * 7, 3, False)}, "",
         ("metrics", "scorers", "`evaluate`")),
    Seam(MASKS, "-1 as the label of an unjudged document, `judged` in the index of `y`",
         lambda: {"y": with_qid(changed(LABELS, 3, -1), IDS, judged=changed([True] * 7, 3, False)), "qid": None}, "",
         ("metrics", "scorers", "`evaluate`")),
    Seam(MASKS, "NaN as the label of a judged document",
         lambda: {"y": changed(LABELS, 3, np.nan), "judged": [True] * 7}, "contains NaN, first at row 3"),
    *(Seam(MASKS, f"`{mask}` of 0 and 1", lambda mask=mask: {mask: np.ones(7, dtype=int)},
           f"{mask} must be a mask of True and False; got an array of dtype int64")
      for mask in ("retrieved", "judged")),
    Seam(MASKS, "None in `judged`", lambda: {"judged": changed([True] * 7, 3, None)},
         "judged must be a mask of True and False; got an array of dtype object"),
    *(Seam(MASKS, f"`{mask}` with a different length", lambda mask=mask: {mask: [True] * 6},
           rf"{mask} must have the same shape as (y_true|y); got \(6,\) and \(7,\)")
      for mask in ("retrieved", "judged")),
    *(Seam(MASKS, f"`{mask}` sorted, `y` not", lambda mask=mask: {"y": column(Y), mask: column([True] * 7)[::-1]},
           REORDERED) for mask in ("retrieved", "judged")),
    *(Seam(MASKS, f"`{mask}` and the index of `y`",
           lambda mask=mask: {"y": with_qid(Y, IDS, **{mask: [True] * 7}), "qid": None, mask: [False] * 7},
           f"{mask} must agree with the index level '{mask}' of the labels") for mask in ("retrieved", "judged")),
    Seam(MASKS, "`sample_weight` and the index of `y`",
         lambda: {"y": with_qid(Y, IDS, sample_weight=np.ones(7)), "qid": None, "sample_weight": np.full(7, 2.0)},
         "sample_weight must agree with the index level 'sample_weight' of the labels",
         ("metrics", "scorers", "`evaluate`", "`QueryRanker.score`")),
    Seam(OUT_OF_STEP, "frames of one query per row, columns in another order",
         lambda: {"y": wide(LABELS, "ab"), "scores": wide(SCORES, "ba"), "qid": None},
         "y_score must have the same columns as y_true; got the same labels in different orders", WIDE),
    Seam(OUT_OF_STEP, "frames of one query per row, rows in another order",
         lambda: {"y": wide(LABELS, "ab"), "scores": wide(SCORES, "ab")[::-1], "qid": None}, REORDERED, WIDE),
    Seam(SLICES, "numbers, out of order", lambda: {"by": [10 if i == "a" else 9 for i in IDS]}),
    Seam(SLICES, "numbers and strings", lambda: {"by": [1 if i == "a" else "b" for i in IDS]}),
    Seam(SLICES, "dates in nanoseconds",
         lambda: {"by": np.array([f"2001-01-0{1 + (i == 'a')}" for i in IDS], dtype="M8[ns]")}),
    Seam(SLICES, "a value that varies within a query", lambda: {"by": OTHER_IDS},
         "by must be constant within a query; got b and a in query 'b'"),
    Seam(SLICES, "None", lambda: {"by": [None if i == "a" else i for i in IDS]}),
    Seam(SLICES, "NaN", lambda: {"by": [np.nan if i == "a" else 1.0 for i in IDS]}),
    Seam(SLICES, "None in some rows of a query", lambda: {"by": changed(IDS, 3, None)},
         "by must be constant within a query; got b and None in query 'b'"),
    Seam(SLICES, "unhashable", lambda: {"by": changed(IDS, 3, {})}, "by must hold hashable values"),
    Seam(SLICES, "a slice with weight 0", lambda: {"sample_weight": [float(i == "a") for i in IDS]}, "",
         ("`evaluate(by=)`",)),
    Seam(COMPARED, "in a different order", lambda: {"other": reordered()}),
    Seam(COMPARED, "query ids of a different type", lambda: {"other": {"qid": [ord(i) for i in IDS]}},
         "reports must be over the same queries; got 2 in '0' and 2 in '1', 0 of them in both"),
    Seam(COMPARED, "different labels", lambda: {"other": {"y": changed(LABELS, 3, 1)}},
         "reports must have the same documents with the same labels; '0' and '1' differ in query 'b'"),
    Seam(COMPARED, "different labels with the same sum", lambda: {"other": {"y": [2, 1, 1, 1, 1, 0, 1]}},
         "reports must have the same documents with the same labels"),
    Seam(COMPARED, "weights in only one of them", lambda: {"other": {"sample_weight": np.ones(7)}},
         "reports must have the same weights; '0' and '1' differ"),
    Seam(COMPARED, "different weights",
         lambda: {"sample_weight": np.ones(7), "other": {"sample_weight": np.full(7, 2.0)}},
         "reports must have the same weights; '0' and '1' differ"),
    Seam(COMPARED, "weights of 1e308", lambda: {"sample_weight": np.full(7, 1e308)}, "",
         ("`compare`", "`evaluate(by=)`")),
    Seam(OUT_OF_STEP, "`X` with labels, `y` and `qid` that count from 0",
         lambda: {"X": frame(ROWS), "y": pd.Series(LABELS), "qid": pd.Series(IDS)}),
    Seam(OUT_OF_STEP, "`y` with labels, scores and `qid` that count from 0",
         lambda: {"y": column(Y), "scores": pd.Series(SCORES), "qid": pd.Series(IDS)}),
    Seam(MISUSE, "a polars frame with integers around 2^60 next to floats",
         lambda: {"y": [[1, 0]] * 2, "scores": pl.DataFrame({"a": [2**60, 2**60 + 1], "b": [0.5, 1]}), "qid": None},
         r"y_score must hold integers within \+-2\*\*53", ("metrics", "`evaluate`")),
    Seam(MISUSE, "long doubles beyond the range of float64",
         lambda: {"scores": np.array(SCORES, dtype=np.longdouble) * np.longdouble("1e4000")},
         r"y_score must hold numbers within the range of float64", WIDE),
    *(Seam(MISUSE, f"None for `{name}`", lambda name=name: {name: None, "random_state": 1},
           r"(X|arrays\[\d\]) must have one row per document; got None|y must be an array .* got None",
           ways) for name, ways in (("X", ("splitters", "`query_train_test_split`")),
                                    ("y", ("`query_train_test_split`", "`audit_splits`", "`cross_evaluate`")))),
    Seam(MISUSE, "a class instead of an estimator", lambda: {"estimator": LGBMRanker},
         r"estimator must be an estimator object with fit and get_params, such as LGBMRanker\(\); got <class",
         ("`QueryRanker.fit`",)),
    Seam(MISUSE, "LGBMRanker without QueryRanker", lambda: {"estimator": LGBMRanker()},
         r"estimators must take query ids in fit; got LGBMRanker. Pass QueryRanker\(LGBMRanker",
         ("`cross_evaluate`",)),
    Seam(MISUSE, "`eval_set` for an estimator that takes none", lambda: {"further": {"eval_set": [(X, Y)]}},
         "unexpected parameter 'eval_set'; it takes .* To stop early, set validation_fraction", ("`QueryRanker.fit`",)),
    Seam(MISUSE, "`base_margin`, one row too few",
         lambda: {"estimator": XGBRanker(n_estimators=1), "further": {"base_margin": SCORES[1:]}},
         r"base_margin must hold one value per document, 7 in all; got shape \(6,\)", ("`QueryRanker.fit`",)),
    Seam(MISUSE, "a parameter that `fit` does not take", lambda: {"further": {"quid": IDS}},
         "unexpected parameter 'quid'; it takes X, y, qid, groups, sample_weight and .* Did", ("`QueryRanker.fit`",)),
    Seam(MISUSE, "`group`", lambda: {"further": {"group": [3, 4]}},
         r"unexpected parameter 'group'; it takes .* Pass query ids; qid_from_sizes\(group\)", ("`QueryRanker.fit`",)),
    *(Seam(MISUSE, f"`random_state={seed!r}`", lambda seed=seed: {"random_state": seed}, SEED)
      for seed in ("a", 1.5, -1, True, 2**32)),
]  # fmt: skip


class Recorded(BaseEstimator):
    """A model that predicts what it was given."""

    def __init__(self, scores: Any = None) -> None:
        self.scores = scores

    def fit(self, X: Any, y: Any) -> Recorded:
        self.fitted_ = True
        return self

    def predict(self, X: Any) -> Any:
        return self.scores


def split(rows: dict[str, Any], **ids: Any) -> Any:
    splitter = QueryKFold(2, shuffle=True, random_state=rows["random_state"])
    return [test.tolist() for _, test in splitter.split(rows["X"], rows["y"], **ids)]


def fit(rows: dict[str, Any]) -> Any:
    ids = {name: rows[name] for name in ("qid", "groups", "sample_weight")}
    ranker = QueryRanker(rows["estimator"], random_state=rows["random_state"])
    return ranker.fit(rows["X"], rows["y"], **ids, **rows["further"]).predict(X).round(12).tolist()


def score(rows: dict[str, Any]) -> Any:
    ids = {name: rows[name] for name in ("qid", "groups", "sample_weight")}
    return QueryRanker(Ridge()).fit(X, Y, qid=list("tuvwxyz")).score(X, rows["y"], **ids)


def train_test_split(rows: dict[str, Any]) -> Any:
    parts = query_train_test_split(rows["X"], rows["y"], qid=rows["qid"], random_state=rows["random_state"])
    return [np.asarray(part).tolist() for part in parts]


def metric(rows: dict[str, Any]) -> Any:
    return ndcg_score(rows["y"], rows["scores"], **{name: rows[name] for name in ("qid", "sample_weight", *MASK_NAMES)})


def scored(rows: dict[str, Any]) -> Any:
    names = ("qid", "groups", "sample_weight", *MASK_NAMES)
    ids = {name: rows[name] for name in names if rows[name] is not None}
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_ranking_scorer("ndcg").set_score_request(**dict.fromkeys(names, True))
        return scorer(Recorded(rows["scores"]), rows["X"], rows["y"], **ids)


def evaluated(rows: dict[str, Any]) -> Any:
    ids = {name: rows[name] for name in ("qid", "sample_weight", *MASK_NAMES)}
    return evaluate(rows["y"], rows["scores"], **ids, metrics="ndcg").mean["ndcg"]


def sliced(rows: dict[str, Any]) -> Any:
    """The mean of the slice of query "a", the only one whose weight is never 0; slices of numbers are in order."""
    given = {name: rows[name] for name in ("qid", "sample_weight", "by")}
    slices = evaluate(rows["y"], rows["scores"], **given, metrics="ndcg").slices
    if all(isinstance(name, int) for name in slices):
        assert list(slices) == sorted(slices)
    return [round(part.mean["ndcg"], 12) for part in slices.values() if "a" in part.qid]


def compared(rows: dict[str, Any]) -> Any:
    """Difference and p-value of the given scores and their negatives."""
    names = ("y", "scores", "qid", "sample_weight")
    one, other = ({name: of[name] for name in names} for of in (rows, {**rows, **rows["other"]}))
    reports = [
        evaluate(of["y"], sign * of["scores"], qid=of["qid"], sample_weight=of["sample_weight"], metrics="ndcg")
        for of, sign in ((one, 1), (other, -1))
    ]
    (pair,) = compare(reports, "ndcg").pairs()
    return [round(pair.difference, 12), pair.p_value]


def audit(rows: dict[str, Any]) -> Any:
    return audit_splits(KFold(2), rows["X"], rows["y"], qid=rows["qid"]).to_frame().to_numpy().tolist()


def crossed(rows: dict[str, Any]) -> Any:
    params = None if rows["groups"] is None else {"groups": rows["groups"]}
    masks = {name: rows[name] for name in MASK_NAMES}
    options = {"cv": QueryKFold(2), "metrics": "ndcg", "params": params, **masks}
    (report,) = cross_evaluate(rows["estimator"], rows["X"], rows["y"], qid=rows["qid"], **options).reports.values()
    return report.mean["ndcg"]


def piped(rows: dict[str, Any]) -> Any:
    pipeline = make_pipeline(StandardScaler(), QueryRanker(rows["estimator"]))
    return pipeline.fit(rows["X"], rows["y"], queryranker__qid=rows["qid"]).predict(X).round(12).tolist()


def audit_groups(rows: dict[str, Any]) -> Any:
    splits = list(QueryKFold(2).split(X, qid=IDS))
    return audit_splits(splits, rows["X"], rows["y"], qid=rows["qid"], groups=rows["groups"]).check()


# The arguments that each way takes; groups take precedence in a split, and come last in a ranking.
WAYS: dict[str, tuple[set[str], Callable[[dict[str, Any]], Any]]] = {
    "metrics": ({"y", "scores", "qid", "sample_weight", *MASK_NAMES}, metric),
    "scorers": ({"y", "scores", "qid", "groups", "sample_weight", *MASK_NAMES}, scored),
    "`evaluate`": ({"y", "scores", "qid", "sample_weight", *MASK_NAMES}, evaluated),
    "`QueryRanker.fit`": (
        {"X", "y", "qid", "groups", "sample_weight", "estimator", "further", "random_state"},
        fit,
    ),
    "`QueryRanker.score`": ({"y", "qid", "groups", "sample_weight"}, score),
    "splitters": ({"X", "y", "qid", "random_state"}, lambda rows: split(rows, qid=rows["qid"])),
    "splitters (`groups`)": (
        {"X", "y", "qid", "groups"},
        lambda rows: split(rows, qid=rows["qid"], groups=rows["groups"]),
    ),
    "`evaluate(by=)`": ({"by", "sample_weight"}, sliced),
    "`compare`": ({"other", "sample_weight"}, compared),
    "`audit_splits`": ({"X", "y", "qid"}, audit),
    "`audit_splits` (`groups`)": ({"X", "y", "qid", "groups"}, audit_groups),
    "`query_train_test_split`": ({"X", "y", "qid", "random_state"}, train_test_split),
    "`cross_evaluate`": ({"X", "y", "qid", "estimator", *MASK_NAMES}, crossed),
    "`Pipeline.fit`": (set(), piped),
}


def ways_of(seam: Seam) -> list[str]:
    """Names of the ways that the seam is tried on: all that take what is replaced, unless it names its own."""
    replaced = {name for name, value in seam.make().items() if value is not None}
    return list(seam.ways) or [name for name, (taken, _) in WAYS.items() if replaced <= taken]


def here(case: Case) -> str:
    """What NDCG does, as text."""
    passed = case.passed
    return outcome(lambda: ndcg_score(passed["labels"], passed["scores"], qid=passed["ids"], k=passed["k"]))


def seam_here(seam: Seam) -> str:
    """What the first of its ways gives, as text."""
    return outcome(lambda: WAYS[ways_of(seam)[0]][1](seam.passed))


def outcome(call: Callable[[], Any]) -> str:
    try:
        call()
    except (TypeError, ValueError) as error:
        text = str(error).partition("; got ")
        got = text[2].partition(". ")[0].rstrip(".")
        said = text[0] + (f"; got {got}" if got else "")
        said = said if len(said) <= 110 or ". " not in said[:110] else said[:110].rpartition(". ")[0]
        return f"{type(error).__name__}: {said[:110]}".replace("|", "/").split(" at 0x")[0].replace("[us]", "[ns]")
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
    "`qid` and the index of `y`",
    "the index of `y` and `groups` of users, ranked by query",
    "`X` sorted, `y` not, converted to arrays by a Pipeline",
    "scores and `y` with different rows",
    "NaN as the label of an unjudged document",
    "a value that varies within a query",
    "different labels with the same sum",
    "weights in only one of them",
    "LGBMRanker without QueryRanker",
]


def table(*, everything: bool = False) -> str:
    """What cases give here and what peers make of them, and what seams give, as Markdown: the rows shown, or all."""
    recorded = json.loads(PEERS.read_text(encoding="utf-8"))
    peers = recorded["versions"]
    cases = [case for case in CASES if everything or case.what in SHOWN_CASES[case.argument]]
    seams = [seam for seam in SEAMS if everything or seam.what in SHOWN_SEAMS]
    rows = [
        (f"{TITLES[case.argument]}: {case.what}", here(case), *(outcomes[peer] for peer in peers))
        for case in cases
        for outcomes in [recorded["outcomes"][f"{case.argument}: {case.what}"]]
    ]
    disagreeing = [(f"{seam.kind}: {seam.what}", seam_here(seam)) for seam in seams]
    return "\n\n".join(
        [
            f"Measured with {', '.join(f'{peer} {version}' for peer, version in peers.items())}.",
            markdown(("input", "here", *peers), rows),
            "Arguments that do not belong together:",
            markdown(("input", "here"), disagreeing),
        ]
    )


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows))


if __name__ == "__main__":
    print(table(everything="--all" in sys.argv))
