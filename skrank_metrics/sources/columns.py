"""Names of the columns of tables, and the values that are valid in each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict

import numpy as np

from skrank_metrics._input.arrays import LARGEST_EXACT_INTEGER
from skrank_metrics._input.columns import USUAL, ColumnNames, check_column_name, find_column
from skrank_metrics._input.parameters import check_choice
from skrank_metrics._input.types import Order
from skrank_metrics.metrics._record import Metrics
from skrank_metrics.metrics.conventions import ConventionName

NUMBERS, MASKS = ("label", "score", "sample_weight"), ("retrieved", "judged")
# In a text, "07" and "7" are different queries, slices and groups.
NAMING = ("qid", "by", "groups")
# The kinds of NumPy's types that a column may have, and what it should hold.
CELL_KINDS = {
    **dict.fromkeys(NUMBERS, ("iuf", "numbers")),
    **dict.fromkeys(MASKS, ("b", "True and False")),
}
# The order of the columns in tuples.
COLUMN_ARGUMENTS = (
    *("label", "score", "qid", "sample_weight"),
    *("retrieved", "judged", "documents", "by", "groups"),
)
# Arguments that may name several columns.
SEVERAL = ("score", "documents", "by")
# Arguments whose columns may have a second role.
WITH_SECOND_ROLE = ("documents", "by", "groups")


@dataclass(frozen=True)
class TableColumns:
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
        for role in COLUMN_ARGUMENTS:
            names = self.of(role)
            if not all(isinstance(name, str) for name in names):
                more = " or a list of names" if role in SEVERAL else ""
                given = getattr(self, role)
                raise TypeError(f"{role} must be the name of a column{more}; got {given!r}.")
            if len(set(names)) < len(names):
                raise ValueError(f"{role} must name different columns; got {names}.")
            # What rows are sliced or grouped by, and columns of documents, may have another role, too.
            for name in names if role not in WITH_SECOND_ROLE else ():
                other = named.setdefault(name, role)
                if other != role:
                    raise ValueError(
                        f"{other} and {role} must name different columns; both name {name!r}."
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
        return [(argument, name) for argument in COLUMN_ARGUMENTS for name in self.of(argument)]

    @property
    def names(self) -> list[str]:
        """All columns, each once."""
        return list(dict.fromkeys(name for _, name in self.by_argument))

    def _check_types(self, table: Any) -> None:
        """Refuse columns of other types than numbers and masks."""
        for role, name in self.by_argument:
            kinds, what = CELL_KINDS.get(role, ("", ""))
            # Without its rows, a column tells its type without a copy.
            if kinds and table[name].slice(0, 0).to_numpy().dtype.kind not in kinds:
                kind = table[name].type
                raise TypeError(f"{role} must be a column of {what}; {name!r} is of type {kind}.")

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
        check_column_name(name, names, holder, f" for {role}")


# Which column of a frame or a file holds queries, documents, labels, scores or ranks.

_IDS = ("query", "document")
_OF_ARGUMENT = {
    "qrels": (*_IDS, "label"),
    "run": (*_IDS, "score", "rank"),
    "exclude": _IDS,
    "documents": ("document",),
}


class Roles(NamedTuple):
    """Names of columns."""

    query: str
    document: str
    value: str | None  # of labels or scores
    rank: str | None = None
    value_role: str = "label"

    @property
    def in_words(self) -> str:
        """The roles, with the names of their columns if these are others."""
        roles = ("query", "document", self.value_role, "rank")
        named = [(role, name) for role, name in zip(roles, self, strict=False) if name is not None]
        return ", ".join(role if role == name else f"{role} {name!r}" for role, name in named)


def columns_by_argument(columns: Any) -> dict[str, ColumnNames]:
    """The names that ``columns`` gives to the frames of each argument."""
    given = {} if columns is None else columns
    if not isinstance(given, Mapping):
        raise TypeError(
            f"columns must be a dict such as {{'query': 'customer_id'}}; got {columns!r}."
        )
    for key in given:
        check_choice(key, "a key of columns", (*USUAL, *_OF_ARGUMENT))
    found: dict[str, ColumnNames] = {}
    for side, roles in _OF_ARGUMENT.items():
        own = given.get(side, {})
        if not isinstance(own, Mapping):
            raise TypeError(f"columns[{side!r}] must be a dict of names by role; got {own!r}.")
        for role in own:
            check_choice(role, f"a key of columns[{side!r}]", roles)
        shared = {role: name for role, name in given.items() if role in roles}
        found[side] = {**shared, **own}
        _check_different(found[side])
    return found


def _check_different(given: ColumnNames) -> None:
    """Refuse a column that is named for two roles."""
    role_by_name: dict[str, str] = {}
    for role, name in given.items():
        other = role_by_name.setdefault(name, role)
        if other != role:
            raise ValueError(
                f"columns must name different columns for {other} and {role}; both are {name!r}."
            )


def find_roles(names: Sequence[Any], argument: str, given: ColumnNames, holder: str) -> Roles:
    """The columns of judgments, of a run or of exclusions, as named or by their usual names."""
    query, document = (_needed(role, names, given, holder) for role in _IDS)
    if argument == "exclude":
        return Roles(query, document, None)
    if argument == "qrels":
        label = find_column("label", names, given, holder)
        if label is None and document == "corpus-id":
            # BEIR's judgments have scores.
            label = find_column("score", names, given, holder)
        if label is None:
            # Interactions of RecTools have weights.
            label = find_column("weight", names, given, holder)
        # Two columns hold relevant documents. pandas writes its index under these names.
        others = [name for name in names if name and not str(name).startswith("__index_level_")]
        if label is None and len(others) > 2:
            label = _needed("label", names, given, holder)
        return Roles(query, document, label)
    # Of two columns, the one that is named orders the documents.
    named = {role for role in ("score", "rank") if role in given}
    score, rank = (
        find_column(role, names, given, holder) if role in named or not named else None
        for role in ("score", "rank")
    )
    if score is None and rank is None:
        _needed("score", names, given, holder)
    return Roles(query, document, score, rank, "score")


def _needed(role: str, names: Sequence[Any], given: ColumnNames, holder: str) -> Any:
    found = find_column(role, names, given, holder)
    if found is None:
        way_out = f"; name it with columns={ {role: '...'} }"
        if role == "label":
            way_out += ", or pass only the queries and documents if all of them are relevant"
        free = [name for name in names if name not in given.values()]
        check_column_name(role, free, holder, way_out)
    return found


def has_columns(source: Any) -> bool:
    """Whether a source is a frame or a table."""
    return hasattr(source, "columns") or hasattr(source, "column_names")


# Types of the options that functions of columns share.


class TableOptions(TypedDict, total=False):
    """Options of a function that evaluates columns of a table."""

    metrics: Metrics
    convention: ConventionName
    sample_weight: str | None
    retrieved: str | None
    judged: str | None
    condense: bool
    documents: str | Sequence[str] | None
    by: str | Sequence[str] | None
    groups: str | None
    order: Order


class BatchOptions(TableOptions, total=False):
    """Options of evaluate_batches."""

    batch_rows: int
    n_threads: int
    verbose: int | None
