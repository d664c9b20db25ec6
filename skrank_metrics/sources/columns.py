"""The columns of tables of rows: their names by role, and the types that they must have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skrank_metrics._input.arrays import nearest

NUMBERS = ("label", "score", "sample_weight")


@dataclass(frozen=True)
class Columns:
    """Names of the columns by role."""

    label: str
    scores: tuple[str, ...]
    qid: str
    others: Mapping[str, str]  # by argument: sample_weight, retrieved, judged, by, groups
    documents: tuple[str, ...] = ()  # columns for own metrics
    signed: bool = False  # whether labels may be negative

    @property
    def names(self) -> list[str]:
        """All columns, each once."""
        return list(dict.fromkeys(name for _, name in self.by_argument))

    @property
    def numbers(self) -> list[str]:
        """Columns of labels, scores and weights."""
        return [name for argument, name in self.by_argument if argument in NUMBERS]

    @property
    def by_argument(self) -> list[tuple[str, str]]:
        """The argument and the name of each column, in the order of tuples in batches."""
        scores = [("score", name) for name in self.scores]
        own = [("documents", name) for name in self.documents]
        return [("label", self.label), *scores, ("qid", self.qid), *self.others.items(), *own]

    def check_names(self, names: list[Any], holder: str) -> None:
        """Refuse columns that are missing."""
        for argument, name in self.by_argument:
            if (times := names.count(name)) != 1:
                got = f"got {times} of them" if times else f"it has {', '.join(map(repr, names[:20]))}"
                hint = "" if times else nearest(name, names)
                raise ValueError(f"{argument} must be a column of {holder}; {name!r} is not: {got}.{hint}")

    def check(self, schema: Any, holder: str) -> None:
        """Refuse columns that are missing or have the wrong type."""
        from pyarrow import types

        self.check_names(schema.names, holder)
        for argument, name in self.by_argument:
            kind, what = schema.field(name).type, ""
            if types.is_null(kind):  # as in a file without rows
                continue
            if argument in NUMBERS:
                number = types.is_integer(kind) or types.is_floating(kind)
                what = "" if number or (argument == "label" and types.is_boolean(kind)) else "numbers"
            elif argument in ("retrieved", "judged"):
                what = "" if types.is_boolean(kind) else "True and False"
            elif types.is_nested(kind):
                what = "integers, strings or other ids"
            if what:
                raise TypeError(f"{argument} must be a column of {what}; {name!r} is of type {kind}.")


def columns_of(label: Any, score: Any, qid: Any, others: Mapping[str, Any], documents: Any = None) -> Columns:
    """Columns with the names passed by users; those in ``others`` may be None."""
    scores, own = _listed(score, "score"), () if documents is None else _listed(documents, "documents")
    given = {argument: name for argument, name in others.items() if name is not None}
    for argument, name in {"label": label, "qid": qid, **given}.items():
        if not isinstance(name, str):
            raise TypeError(f"{argument} must be the name of a column; got {name!r}.")
    if not scores:
        raise ValueError("score must name at least one column; got none.")
    for argument, names in {"score": scores, "documents": own}.items():
        if len(set(names)) < len(names):
            raise ValueError(f"{argument} must name different columns; got {list(names)}.")
    return Columns(label, scores, qid, given, own)


def _listed(names: Any, argument: str) -> tuple[str, ...]:
    listed = (names,) if isinstance(names, str) else names
    if not isinstance(listed, list | tuple) or not all(isinstance(name, str) for name in listed):
        raise TypeError(f"{argument} must be the name of a column or a list of names; got {names!r}.")
    return tuple(listed)
