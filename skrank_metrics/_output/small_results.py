"""Lists and dicts that print as tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from skrank_metrics._output.result import Column, Table

T = TypeVar("T", bound=tuple[Any, ...])


class _Small:
    """A list or dict that prints as a table."""

    def _table(self) -> Table:
        raise NotImplementedError

    def __repr__(self) -> str:
        if not self:
            return super().__repr__()
        return self._table().as_text()

    def _repr_html_(self) -> str:
        if not self:
            return super().__repr__()
        return self._table().as_html()


class Rows(_Small, list[T]):
    """Named tuples of one kind, which begin with the id of a query."""

    def _table(self) -> Table:
        names: tuple[str, ...] = getattr(self[0], "_fields", ())
        return Table((Column("qid", str), *names[1:]), self)


class QueryValues(_Small, dict[Any, float]):
    """Values of a metric by query id."""

    def __init__(self, values: Iterable[tuple[Any, float]] = (), *, name: str = "") -> None:
        super().__init__(values)
        self._name = name

    def _table(self) -> Table:
        return Table((Column("qid", str), self._name), list(self.items()))
