"""The base class of all results: text, HTML and a frame from one description."""

from __future__ import annotations

import importlib
import re
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from os import PathLike
from typing import Any, ClassVar, Protocol, TypeAlias

from skrank_metrics._input.arrays import check_choice
from skrank_metrics._output.chart import Chart
from skrank_metrics._output.page import page, write_whole
from skrank_metrics._output.table import WIDTH, Table

_BOX = "max-width:100%;overflow-x:auto;color:inherit;background:transparent;font-size:90%;line-height:1.4"
LIBRARIES = ("pandas", "polars")


class Block(Protocol):
    """A block between sentences, such as a table."""

    def as_text(self) -> str:
        """Lines of at most 80 characters."""

    def as_html(self, *, inline: bool = True) -> str:
        """With inline styles for a notebook, or with the classes of a page."""


Part: TypeAlias = str | Block


class Result(ABC):
    """A title, tables and sentences, which subclasses provide, printed as text and in notebooks."""

    _index: ClassVar[str | None] = None  # the column that is the index of a pandas.DataFrame

    @abstractmethod
    def _parts(self) -> Sequence[Part]:
        """The title, then tables and sentences."""

    def _columns(self) -> Mapping[str, Any]:
        """Columns of the frame by name, by default those of the first table."""
        return next(part for part in self._parts() if isinstance(part, Table)).for_frame()

    def _charts(self) -> Sequence[Chart]:
        """Pictures for the page, placed below the first table."""
        return ()

    def __str__(self) -> str:
        return text_of(self._parts())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        title, *parts = self._parts()
        shown = [f"<div>{escape(part)}</div>" if isinstance(part, str) else part.as_html() for part in parts]
        return f'<div style="{_BOX}"><div style="font-weight:600">{escape(str(title))}</div>{"".join(shown)}</div>'

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write a self-contained HTML page, to send or to archive.

        The page has the tables and sentences that the result prints, pictures of them, and the versions of the
        libraries. It loads nothing, runs no scripts, and follows the reader's light or dark theme.

        Parameters
        ----------
        path : str or path-like
            File to write. An existing file is replaced only once the new one is complete.

        Raises
        ------
        TypeError
            If the path is not a file name.
        OSError
            If the file cannot be written. An existing file is left unchanged.
        """
        title, *parts = self._parts()
        kind = re.sub("(?<=[a-z])(?=[A-Z])", " ", type(self).__name__).capitalize()
        write_whole(page(f"{kind}: {title}", self._blocks(parts)), path)

    def _blocks(self, parts: Sequence[Part]) -> list[str]:
        """HTML of the page."""
        blocks = [
            f"<p>{escape(part)}</p>"
            if isinstance(part, str)
            else f'<div class="wide">{part.as_html(inline=False)}</div>'
            for part in parts
        ]
        first = next((place for place, part in enumerate(parts) if isinstance(part, Table)), -1)
        blocks[first + 1 : first + 1] = [chart.as_html() for chart in self._charts()]
        return blocks

    def to_frame(self, library: str = "pandas") -> Any:
        """Put the values into a data frame.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
            Library of the frame.

        Returns
        -------
        frame : pandas.DataFrame or polars.DataFrame
            Rows and columns as described in the class.

        Raises
        ------
        ImportError
            If the library is not installed.
        """
        return self._frame(library, self._columns(), self._index)

    @staticmethod
    def _frame(library: str, columns: Mapping[str, Any], index: str | None) -> Any:
        check_choice(library, "library", LIBRARIES)
        try:
            module = importlib.import_module(library)
        except ImportError:
            message = f"to_frame needs {library}: pip install {library}, or read the attributes, which hold the same."
            raise ImportError(message) from None
        frame = module.DataFrame(dict(columns))
        return frame if library == "polars" or index is None else frame.set_index(index)


def text_of(parts: Iterable[Part]) -> str:
    """Join tables and sentences into lines of at most 80 characters."""
    return "\n".join(
        textwrap.fill(part, WIDTH, break_on_hyphens=False) if isinstance(part, str) else part.as_text()
        for part in parts
    )


def counted(number: int, noun: str) -> str:
    """Put a number before its noun: "1 query", "2 queries"."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number} {noun if number == 1 else plural}"
