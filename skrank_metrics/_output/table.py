"""A table described once: as text of at most 80 columns, as HTML, and as the columns of a frame."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import chain, takewhile
from typing import Any

import numpy as np

WIDTH = 80
GAP = "  "
# A name of more lines is easier to read on a line of its own.
NAME_LINES = 3
# Narrower columns of broken words cannot be read.
NARROWEST_NAME = 12

# No colours of its own: the notebook's theme, light or dark, is inherited.
_TABLE = "border-collapse:collapse;border:0;background:transparent;color:inherit;font:inherit;margin:.4em 0;width:auto"
_RULE = "border:0;border-bottom:1px solid;border-color:color-mix(in srgb,currentColor 35%,transparent)"
_CELL = "padding:.2em .8em .2em 0;background:transparent;color:inherit"


def as_text(value: Any, spec: str = ".4f") -> str:
    """A float with four decimals, both ends of an interval or that there is none; anything else as it prints."""
    if isinstance(value, tuple):
        low, high = value
        return "none" if np.isnan(low) else f"[{low:{spec}}, {high:{spec}}]"
    return format(value, spec) if isinstance(value, float) else str(value)


def signed(value: Any) -> str:
    """A difference, or its interval, with signs."""
    return as_text(value, "+.4f")


def plus_minus(value: tuple[float, float]) -> str:
    """A mean and its spread."""
    return "{:.4f} ± {:.4f}".format(*value)


def p_text(p: float) -> str:
    """A p-value with four decimals, or that it is below them."""
    return f"{p:.4f}" if p >= 5e-5 else "<0.0001"


@dataclass(frozen=True)
class Column:
    """What a column is called, how its values are spelled, and what a frame calls them."""

    head: str | None  # None: in frames only
    text: Callable[[Any], str] = as_text
    names: tuple[str, ...] | None = None  # in a frame; several if values are tuples, () if it is not in frames

    def for_frame(self, values: Sequence[Any]) -> dict[str, Sequence[Any]]:
        """The values by name, an empty cell of a column of numbers being NaN."""
        names = (self.head or "",) if self.names is None else self.names
        if self.head is not None and not _are_names(values):
            empty = np.nan if len(names) < 2 else (np.nan,) * len(names)
            values = [empty if value is None else value for value in values]
        parts = [values] if len(names) < 2 else list(zip(*values, strict=True))
        return dict(zip(names, parts, strict=False))


def _are_names(values: Sequence[Any]) -> bool:
    return all(value is None or isinstance(value, str) for value in values)


@dataclass(frozen=True)
class Table:
    """Rows of values under columns; a plain string is a column of that name."""

    columns: Sequence[str | Column]
    rows: Sequence[Sequence[Any]]

    @cached_property
    def _by_column(self) -> list[tuple[Column, list[Any]]]:
        columns = [Column(column) if isinstance(column, str) else column for column in self.columns]
        return [(column, [row[number] for row in self.rows]) for number, column in enumerate(columns)]

    @cached_property
    def _shown(self) -> list[_Shown]:
        return [
            _Shown(column.head, ["" if value is None else column.text(value) for value in values], _are_names(values))
            for column, values in self._by_column
            if column.head is not None
        ]

    def only(self, *columns: Column) -> Table:
        """Some of the columns, without rows that hold nothing but the first of them."""
        places = [self.columns.index(column) for column in columns]
        rows = [[row[place] for place in places] for row in self.rows]
        return Table(columns, [row for row in rows if any(value is not None for value in row[1:])])

    def for_frame(self) -> dict[str, Sequence[Any]]:
        """Values by the names of a frame's columns."""
        return {name: part for column, values in self._by_column for name, part in column.for_frame(values).items()}

    def as_text(self) -> str:
        """Lines of at most 80 characters."""
        return "\n".join(_lines(self._shown))

    def as_html(self) -> str:
        """A table styled by its elements alone, as notebooks show HTML without its head."""
        head = "".join(_html_cell("th", column.head, column) for column in self._shown)
        rows = zip(*(column.cells for column in self._shown), strict=True)
        body = "".join(f"<tr>{''.join(map(_html_cell, ['td'] * len(row), row, self._shown))}</tr>" for row in rows)
        return f'<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _html_cell(tag: str, text: str, column: _Shown) -> str:
    align = "left" if column.is_name else "right;font-variant-numeric:tabular-nums"
    # Heads may take several lines; numbers stay whole.
    rest = "font-weight:600;vertical-align:bottom" if tag == "th" else "white-space:nowrap"
    return f'<{tag} style="{_CELL};{_RULE};text-align:{align};{rest}">{escape(text)}</{tag}>'


class _Wrapper(textwrap.TextWrapper):
    # Names of classes may also break between their words.
    wordsep_simple_re = re.compile(r"(\s+|(?<=[a-z])(?=[A-Z]))")


def _wrap(text: str, width: int, *, anywhere: bool = False) -> list[str]:
    return _Wrapper(width, break_on_hyphens=False, break_long_words=anywhere).wrap(text) or [""]


@dataclass(frozen=True)
class _Shown:
    """A column as text."""

    head: str
    cells: list[str]
    is_name: bool

    def wrapped(self, width: int = sys.maxsize, *, anywhere: bool = False) -> list[list[str]]:
        """Lines of the head and of each cell; numbers stay whole."""
        cells = [_wrap(cell, width, anywhere=anywhere) if self.is_name else [cell] for cell in self.cells]
        return [_wrap(self.head, width), *cells]


def _lines(columns: list[_Shown]) -> list[str]:
    """Lay a table out: in one piece if it fits, else names on lines of their own, else numbers in several pieces."""
    if lines := _one_piece(columns):
        return lines
    n_keys = max(1, sum(1 for _ in takewhile(lambda column: column.is_name, columns)))
    for end in range(len(columns) - 1, n_keys, -1):
        if lines := _one_piece(columns[:end]):
            return [*lines, *_lines(columns[:n_keys] + columns[end:])]
    return list(chain.from_iterable(_fit(columns, sys.maxsize)))


def _one_piece(columns: list[_Shown]) -> list[str]:
    first, *others = columns
    rows = _fit(columns, WIDTH)
    if not rows and first.is_name:
        rows = _fit(others, WIDTH - len(GAP)) or _fit(others, WIDTH - len(GAP), anywhere=True)
        rows = list(_below_names(first, rows))
    return list(chain.from_iterable(rows or _fit(columns, WIDTH, anywhere=True)))


def _below_names(names: _Shown, rows: list[list[str]]) -> Iterator[list[str]]:
    """Put rows below the names of the first column, each name once for the rows that share it."""
    above = None
    for number, (name, row) in enumerate(zip([names.head, *names.cells], rows, strict=False)):
        yield [*(textwrap.wrap(name, WIDTH) if name != above else []), *(GAP + line for line in row)]
        above = name if number else None


def _fit(columns: list[_Shown], room: int, *, anywhere: bool = False) -> list[list[str]]:
    """Lines of the heads and of each row, heads being wrapped before names; none if there is no room."""
    cells = [column.wrapped() for column in columns]
    while sum(map(_width, cells)) + len(GAP) * (len(cells) - 1) > room:
        widths = [_width(lines) for lines in cells]
        breaks_names = [
            c.is_name and _width(lines[1:]) == w for c, lines, w in zip(columns, cells, widths, strict=True)
        ]
        for number in sorted(range(len(cells)), key=lambda i: (breaks_names[i], -widths[i])):
            width = widths[number]
            narrower = columns[number].wrapped(max(width - 1, 1), anywhere=anywhere)
            readable = width > NARROWEST_NAME if anywhere else max(map(len, narrower[1:]), default=1) <= NAME_LINES
            if _width(narrower) < width and (readable or not columns[number].is_name):
                cells[number] = narrower
                break
        else:
            return []
    aligned = [_align(column, lines) for column, lines in zip(columns, cells, strict=True)]
    return [_join(row, top=number == 0) for number, row in enumerate(zip(*aligned, strict=True))]


def _width(cells: list[list[str]]) -> int:
    return max((len(line) for cell in cells for line in cell), default=0)


def _align(column: _Shown, cells: list[list[str]]) -> list[list[str]]:
    """Pad all lines to the widest one, numbers to the right."""
    pad, width = str.ljust if column.is_name else str.rjust, _width(cells)
    return [[pad(line, width) for line in cell] for cell in cells]


def _join(row: Sequence[list[str]], *, top: bool) -> list[str]:
    """Lines of a row from those of its cells: heads stand at the bottom, others at the top."""
    height = max(map(len, row))
    blank = [[" " * len(cell[0])] * (height - len(cell)) for cell in row]
    full = [[*b, *cell] if top else [*cell, *b] for b, cell in zip(blank, row, strict=True)]
    return [GAP.join(line).rstrip() for line in zip(*full, strict=True)]
