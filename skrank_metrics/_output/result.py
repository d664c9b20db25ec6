"""Results as text and as HTML, from one description of what they say."""

from __future__ import annotations

import importlib
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, ClassVar, TypeAlias

from skrank_metrics._input.arrays import check_choice

# No colours of its own: the notebook's theme, light or dark, is inherited.
_FRAME = "max-width:100%;overflow-x:auto;color:inherit;background:transparent;font-size:90%;line-height:1.4"
_TABLE = "border-collapse:collapse;border:0;background:transparent;color:inherit;font:inherit;margin:.4em 0;width:auto"
_RULE = "border:0;border-bottom:1px solid;border-color:color-mix(in srgb,currentColor 35%,transparent)"
_CELL = "padding:.2em .8em .2em 0;background:transparent;color:inherit"


@dataclass(frozen=True)
class Table:
    """Cells as text: names in the first columns, numbers in the others."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    n_names: int = 1

    def as_text(self) -> str:
        """Columns padded to their widest cells, numbers to the right."""
        lines = [self.heads, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        align = [str.ljust if number < self.n_names else str.rjust for number in range(len(widths))]
        return "\n".join(
            "  ".join(a(cell, width) for a, cell, width in zip(align, line, widths, strict=True)).rstrip()
            for line in lines
        )

    def as_html(self) -> str:
        """A table styled by its elements alone, as notebooks show HTML without its head."""
        head = "".join(self._cell("th", text, number) for number, text in enumerate(self.heads))
        body = "".join(
            f"<tr>{''.join(self._cell('td', text, number) for number, text in enumerate(row))}</tr>"
            for row in self.rows
        )
        return f'<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'

    def _cell(self, tag: str, text: str, number: int) -> str:
        align = "left" if number < self.n_names else "right;font-variant-numeric:tabular-nums"
        # Heads may take several lines; numbers stay whole.
        rest = "font-weight:600;vertical-align:bottom" if tag == "th" else "white-space:nowrap"
        return f'<{tag} style="{_CELL};{_RULE};text-align:{align};{rest}">{escape(text)}</{tag}>'


Part: TypeAlias = str | Table


class Printed:
    """What prints as lines and tables; subclasses say which."""

    @abstractmethod
    def _parts(self) -> Sequence[Part]:
        """Lines and tables, the first line being the title."""

    def __str__(self) -> str:
        return "\n".join(part if isinstance(part, str) else part.as_text() for part in self._parts())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        title, *parts = self._parts()
        shown = [part.as_html() if isinstance(part, Table) else f"<div>{escape(part)}</div>" for part in parts]
        return f'<div style="{_FRAME}"><div style="font-weight:600">{escape(str(title))}</div>{"".join(shown)}</div>'


def interval_text(interval: tuple[float, float], sign: str = "") -> str:
    """Both ends of an interval, or that there is none."""
    low, high = interval
    return "none" if low != low else f"[{low:{sign}.4f}, {high:{sign}.4f}]"


def p_text(p: float) -> str:
    """A p-value with four decimals, or that it is below them."""
    return f"{p:.4f}" if p >= 5e-5 else "<0.0001"


def counted(number: int, noun: str) -> str:
    """A number with its noun: "1 query", "2 queries"."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number} {noun if number == 1 else plural}"


LIBRARIES = ("pandas", "polars")


class Framed:
    """What can be put into a table; subclasses say what is in it."""

    _index: ClassVar[str | None] = None  # the column that is the index of a pandas.DataFrame
    _same_as: ClassVar[str]  # the attribute that holds the same

    @abstractmethod
    def _columns(self) -> Mapping[str, Any]:
        """Columns of the table by name."""

    def to_frame(self, library: str = "pandas") -> Any:
        """Put the values into a table.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
            Of which library.

        Returns
        -------
        frame : DataFrame
            What the class says.

        Raises
        ------
        ImportError
            Where the library is not installed.
        """
        check_choice(library, "library", LIBRARIES)
        try:
            module = importlib.import_module(library)
        except ImportError:
            message = f"to_frame needs {library} (pip install {library}); {self._same_as} holds the same."
            raise ImportError(message) from None
        table = module.DataFrame(dict(self._columns()))
        return table if library == "polars" or self._index is None else table.set_index(self._index)


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Turn rows with the same names into columns."""
    return {name: [row[name] for row in rows] for name in rows[0]}
