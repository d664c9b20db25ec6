"""The base class of all results: text, HTML and a frame from one description."""

from __future__ import annotations

import importlib
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, ClassVar, TypeAlias

from skrank_metrics._input.arrays import check_choice
from skrank_metrics._output.table import WIDTH, Table

_BOX = "max-width:100%;overflow-x:auto;color:inherit;background:transparent;font-size:90%;line-height:1.4"
LIBRARIES = ("pandas", "polars")

Part: TypeAlias = str | Table


class Result(ABC):
    """A title, tables and sentences, which subclasses provide, printed as text and in notebooks."""

    _index: ClassVar[str | None] = None  # the column that is the index of a pandas.DataFrame

    @abstractmethod
    def _parts(self) -> Sequence[Part]:
        """The title, then tables and sentences."""

    def _columns(self) -> Mapping[str, Any]:
        """Columns of the frame by name, by default those of the first table."""
        return next(part for part in self._parts() if isinstance(part, Table)).for_frame()

    def __str__(self) -> str:
        return text_of(self._parts())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        title, *parts = self._parts()
        shown = [part.as_html() if isinstance(part, Table) else f"<div>{escape(part)}</div>" for part in parts]
        return f'<div style="{_BOX}"><div style="font-weight:600">{escape(str(title))}</div>{"".join(shown)}</div>'

    def to_frame(self, library: str = "pandas") -> Any:
        """Put the values into a data frame.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
            Library of the frame.

        Returns
        -------
        frame : pandas.DataFrame or polars.DataFrame
            Rows and columns are described in the class.

        Raises
        ------
        ImportError
            If the library is not installed.
        """
        check_choice(library, "library", LIBRARIES)
        try:
            module = importlib.import_module(library)
        except ImportError:
            message = f"to_frame needs {library}: pip install {library}, or read the attributes, which hold the same."
            raise ImportError(message) from None
        frame = module.DataFrame(dict(self._columns()))
        return frame if library == "polars" or self._index is None else frame.set_index(self._index)


def text_of(parts: Iterable[Part]) -> str:
    """Join tables and sentences to lines of at most 80 characters."""
    return "\n".join(
        part.as_text() if isinstance(part, Table) else textwrap.fill(part, WIDTH, break_on_hyphens=False)
        for part in parts
    )


def counted(number: int, noun: str) -> str:
    """Put a number before its noun: "1 query", "2 queries"."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number} {noun if number == 1 else plural}"
