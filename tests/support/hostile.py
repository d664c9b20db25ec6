"""Input as it should not be, case by case, with what each has to give.

In tests/, ``python -m support.hostile`` prints the table of the documentation.

A case replaces one argument of a small clean problem. It gives the number that clean float64 arrays give, which
tests/support/reference.py computes, or an error of which a part is written here.
"""

from __future__ import annotations

import decimal
import fractions
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
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
    """One argument replaced: ``make`` gives what is passed, ``clean`` what it means or the error that it gets."""

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
        """The clean arguments that a right number is of."""
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


def read_only(values: list[Any]) -> Any:
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array


NUMERIC = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "longdouble"]
CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    **{dtype: (lambda values, dtype=dtype: np.array(values, dtype=dtype)) for dtype in NUMERIC},
    "big-endian": lambda values: np.array(values, dtype=">f8"),
    "every second cell of an array": lambda values: np.repeat(np.array(values, dtype=float), 2)[::2],
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
ACCEPTED_IDS: dict[str, Any] = {
    "integers": lambda: [2, 1, 2, 1, 1, 2, 1],
    "integers around 2^60, one apart": lambda: np.array([2, 1, 2, 1, 1, 2, 1]) + 2**60,
    "Python integers beyond 64 bits": lambda: [2**70 + (i == "a") for i in IDS],
    "uint64 near the largest": lambda: np.uint64(2**64 - 1) - np.array([2, 1, 2, 1, 1, 2, 1], dtype=np.uint64),
    "floats": lambda: [0.5, 0.25, 0.5, 0.25, 0.25, 0.5, 0.25],
    "bool": lambda: [i == "a" for i in IDS],
    "bytes": lambda: np.array(IDS, dtype="S1"),
    "strings and integers that look alike": lambda: ["1", 1, "1", 1, 1, "1", 1],
    "tuples": lambda: pd.Series([(i, 0) for i in IDS]),
    "dates": lambda: pd.to_datetime([f"2001-01-0{1 + (i == 'a')}" for i in IDS]),
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
    "a scalar": (3, "must be an array .*got int|must be 1-D", "must be 1-D"),
    "a dict": ({"a": 1}, "must be an array .*got dict|must be 1-D", "must be 1-D"),
    "sparse": (lambda: sparse.csr_array([LABELS]), "must be an array .*got csr_array|must be 1-D", "must be 1-D"),
    "ragged": ([[1, 0], [2], [1], [0], [1], [0], [1]], "must be a rectangular array", "must be 1-D|rectangular|hash"),
    "masked": (np.ma.array(LABELS, mask=[0, 1, 0, 0, 0, 0, 0]), "must not be masked", "must not be masked"),
}  # fmt: skip


def not_numbers(argument: str, values: list[float]) -> list[Case]:
    real = "must hold real numbers; got"
    return [
        fails(argument, "NaN", changed(values, 3, np.nan), "got nan at row 3"),
        fails(argument, "None among numbers", changed(values, 3, None), "real numbers; got None .*at row 3"),
        fails(argument, "strings", [str(value) for value in values], f"{real} (an array of dtype <U|'.*at row 0)"),
        fails(argument, "complex", np.array(values) + 0j, f"{real} an array of dtype complex"),
        fails(argument, "dates", lambda: pd.to_datetime(["2001"] * 7), f"{real} an array of dtype datetime"),
        fails(argument, "object junk", changed(values, 3, object()), f"{real} <object .*at row 3"),
        fails(argument, "Decimal", [decimal.Decimal(v) for v in values], rf"{real} Decimal\('.'\) .*at row 0"),
        fails(argument, "pandas Float64 with NA", lambda: pd.array(changed(values, 3, None), dtype="Float64"),
              r"got (nan|<NA>) .*at row 3|got nan at row 3"),
        fails(argument, "pyarrow-backed with NA",
              lambda: pd.Series(changed(values, 3, None), dtype=pd.ArrowDtype(pa.float64())),
              r"got (nan|<NA>) .*at row 3|got nan at row 3"),
    ]  # fmt: skip


CASES = [
    *(Case("labels", what, lambda make=make: make(LABELS), LABELS) for what, make in CONTAINERS.items()),
    Case("labels", "bool", lambda: [label > 0 for label in LABELS], [int(label > 0) for label in LABELS]),
    Case("labels", "0.25, 0.5, ...", lambda: [v / 4 for v in LABELS], [v / 4 for v in LABELS]),
    *not_numbers("labels", LABELS),
    fails("labels", "infinite", changed(LABELS, 3, np.inf), "must be finite and >= 0; got inf at row 3"),
    fails("labels", "negative", changed(LABELS, 3, -1), "must be finite and >= 0; got -1.0 at row 3"),
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
    fails("scores", "integers around 2^60, one apart", [2**60 + int(s) for s in SCORES], r"integers within \+-2\*\*53"),
    fails("scores", "one score a class", np.zeros((7, 3)), "Pass one score per document|must hold one score"),
    *(fails("scores", what, value, error) for what, (value, error, _) in NO_COLUMN.items()),
    *(Case("ids", what, make, IDS) for what, make in ACCEPTED_IDS.items()),
    fails("ids", "none at all", None, r"\(qid\), and got none|qid must hold one query id per document"),
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


def here(case: Case) -> str:
    """What NDCG does, as text."""
    from skrank_metrics import ndcg_score

    passed = case.passed
    try:
        ndcg_score(passed["labels"], passed["scores"], qid=passed["ids"], k=passed["k"])
    except (TypeError, ValueError) as error:
        text = str(error).partition("; got ")
        got = text[2].partition(". ")[0].rstrip(".")
        said = text[0] + (f"; got {got}" if got else "")
        return f"{type(error).__name__}: {said[:110]}".replace("|", "/").split(" at 0x")[0].replace("[us]", "[ns]")
    return "right"


def table() -> str:
    """Every case, what it gives here and what peers make of it, as Markdown."""
    recorded = json.loads(PEERS.read_text(encoding="utf-8"))
    head = ["argument", "input", "here", *recorded["versions"]]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for case in CASES:
        found = recorded["outcomes"][f"{case.argument}: {case.what}"]
        cells = [case.argument, case.what, here(case), *(found[peer] for peer in recorded["versions"])]
        lines.append("| " + " | ".join(cells) + " |")
    versions = ", ".join(f"{peer} {version}" for peer, version in recorded["versions"].items())
    return f"Measured with {versions}.\n\n" + "\n".join(lines)


if __name__ == "__main__":
    print(table())
