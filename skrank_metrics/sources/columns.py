"""Names of the columns of tables, and the values that are valid in each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import LARGEST_EXACT_INTEGER
from skrank_metrics._input.interface import argument
from skrank_metrics._input.parameters import nearest

NUMBERS, MASKS = ("label", "score", "sample_weight"), ("retrieved", "judged")
# In a text, "07" and "7" are different queries, slices and groups.
NAMING = ("qid", "by", "groups")
# The kinds of NumPy's types that a column may have, and what it should hold.
KINDS = {
    **dict.fromkeys(NUMBERS, ("iuf", "numbers")),
    **dict.fromkeys(MASKS, ("b", "True and False")),
}
# The order of the columns in tuples.
ARGUMENTS = (
    *("label", "score", "qid", "sample_weight"),
    *("retrieved", "judged", "documents", "by", "groups"),
)
# Arguments that may name several columns.
SEVERAL = ("score", "documents", "by")
# Arguments whose columns may have a second role.
SHARED = ("documents", "by", "groups")


@dataclass(frozen=True)
class Columns:
    """Names of columns, by the arguments that name them."""

    label: str | None
    score: str | Sequence[str] | None
    qid: str
    sample_weight: str | None = None
    retrieved: str | None = None
    judged: str | None = None
    documents: str | Sequence[str] | None = None
    by: str | Sequence[str] | None = None
    groups: str | None = None

    def __post_init__(self) -> None:
        named: dict[str, str] = {}
        for role in ARGUMENTS:
            names = self.of(role)
            if not all(isinstance(name, str) for name in names):
                more = " or a list of names" if role in SEVERAL else ""
                given = getattr(self, role)
                raise TypeError(f"{role} must be the name of a column{more}; got {given!r}.")
            if len(set(names)) < len(names):
                raise ValueError(f"{role} must name different columns; got {names}.")
            # What rows are sliced or grouped by, and columns of documents, may have another role, too.
            for name in names if role not in SHARED else ():
                other = named.setdefault(name, role)
                if other != role:
                    raise ValueError(
                        f"{argument(other)} and {argument(role)} must name different columns; both name {name!r}."
                    )

    def of(self, argument: str) -> list[Any]:
        """The names that an argument gives."""
        given = getattr(self, argument)
        if given is None and argument != "qid":
            return []
        if argument in SEVERAL and isinstance(given, list | tuple):
            return list(given)
        return [given]

    def take(self, argument: str, arrays: Mapping[str, Any]) -> Any:
        """The column that an argument names, a dict of them if it names several, or None."""
        given = getattr(self, argument)
        if given is None:
            return None
        if isinstance(given, str):
            return arrays[given]
        return {name: arrays[name] for name in given}

    @property
    def by_argument(self) -> list[tuple[str, str]]:
        """The argument and the name of each column."""
        return [(argument, name) for argument in ARGUMENTS for name in self.of(argument)]

    @property
    def names(self) -> list[str]:
        """All columns, each once."""
        return list(dict.fromkeys(name for _, name in self.by_argument))

    def _check_types(self, table: Any) -> None:
        """Refuse columns of other types than numbers and masks."""
        for role, name in self.by_argument:
            kinds, what = KINDS.get(role, ("", ""))
            # Without its rows, a column tells its type without a copy.
            if kinds and table[name].slice(0, 0).to_numpy().dtype.kind not in kinds:
                kind = table[name].type
                raise TypeError(
                    f"{argument(role)} must be a column of {what}; {name!r} is of type {kind}."
                )

    def bad_cell(self, table: Any, *, signed: bool) -> tuple[int, str] | None:
        """The row of the first null or invalid number, and what is wrong with it; None if all cells are valid.

        ``signed`` is whether labels may be negative.
        """
        for name in self.names:
            if table[name].null_count:
                row = int(np.argmax(table[name].is_null().to_numpy()))
                return row, f"column {name!r} must not hold nulls; got one"
        self._check_types(table)
        # What a mask leaves out is ignored.
        masks = {"label": self.judged, "score": self.retrieved}
        for role, name in self.by_argument:
            if role not in NUMBERS:
                continue
            values = table[name].to_numpy()
            if values.dtype.kind != "f":
                largest: float = LARGEST_EXACT_INTEGER
            elif role == "score":
                largest = np.inf
            else:
                largest = float(np.finfo(values.dtype).max)
            lowest = 0.0
            if role == "score" or (role == "label" and signed):
                lowest = -largest
            # NaN fails both comparisons.
            valid = (values >= lowest) & (values <= largest)
            mask = masks.get(role)
            if mask is not None:
                valid |= ~table[mask].to_numpy()
            if not valid.all():
                row = int(np.argmin(valid))
                expected = f"numbers from {lowest:.16g} to {largest:.16g}"
                return row, f"column {name!r} must hold {expected}; got {values[row]}"
        return None


def check_column_names(named: Iterable[tuple[str, str]], names: Sequence[Any], holder: str) -> None:
    """Refuse arguments that do not name exactly one column."""
    for role, name in named:
        check_column_name(name, names, holder, f" for {argument(role)}")


def check_column_name(name: str, names: Sequence[Any], holder: str, way_out: str = "") -> None:
    """Refuse the name of no column, or of several ones."""
    times = list(names).count(name)
    if times == 1:
        return
    found = f"has {times} columns {name!r}"
    hint = ""
    if not times:
        found = f"has no column {name!r}{way_out}"
        hint = nearest(name, names)
    raise ValueError(f"{holder} {found}. Columns: {', '.join(map(repr, names[:20]))}.{hint}")
