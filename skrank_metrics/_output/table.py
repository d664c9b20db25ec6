"""Tables, as text of at most 80 columns, as HTML, and as the columns of a frame."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import chain, takewhile
from typing import Any

import numpy as np

WIDTH = 80
GAP = "  "
# Names with less room than this are easier to read on a line of their own, and names beyond the longest are cut.
NARROWEST_NAME, LONGEST_NAME = 20, 240
# Characters that are not shown as they are, since a terminal or browser may act on them: control characters, formats
# such as the order of writing, surrogates, and separators of lines. Joiners are part of words in many scripts.
_HIDDEN, _JOINERS = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"}), "\u200c\u200d"

# No colours of its own, so that the notebook's light or dark theme is inherited.
_TABLE = "border-collapse:collapse;border:0;background:transparent;color:inherit;font:inherit;margin:.4em 0;width:auto"
_RULE = "border:0;border-bottom:1px solid;border-color:color-mix(in srgb,currentColor 35%,transparent)"
_CELL = "padding:.2em .8em .2em 0;background:transparent;color:inherit"


def visible(text: str) -> str:
    r"""Replace control characters by escapes such as ``\x1b``, which no terminal interprets."""
    if text.isprintable():  # the usual case
        return text
    return "".join(
        repr(one)[1:-1] if unicodedata.category(one) in _HIDDEN and one not in _JOINERS else one for one in text
    )


def as_text(value: Any, spec: str = "z.4f") -> str:
    """Format floats and both ends of an interval with four decimals, and anything else as it prints."""
    if isinstance(value, tuple):
        low, high = value
        return "none" if np.isnan(low) else f"[{low:{spec}}, {high:{spec}}]"
    return format(value, spec) if isinstance(value, float) else str(value)


def signed(value: Any) -> str:
    """Format a difference, or its interval, with signs."""
    return as_text(value, "+z.4f")


def plus_minus(value: tuple[float, float]) -> str:
    """Format a mean and its spread; a mean of NaN is shown as none."""
    return "none" if np.isnan(value[0]) else "{:z.4f} ± {:.4f}".format(*value)


def p_text(p: float) -> str:
    """Format a p-value with four decimals, or as "<0.0001"; NaN means not tested."""
    return "none" if np.isnan(p) else f"{p:.4f}" if p >= 5e-5 else "<0.0001"


@dataclass(frozen=True)
class Column:
    """The head of a column, the format of its values, and their names in a frame."""

    head: str | None  # None: in frames only
    text: Callable[[Any], str] = as_text
    names: tuple[str, ...] | None = None  # in frames: several if values are tuples, () to leave the column out

    def for_frame(self, values: Sequence[Any]) -> dict[str, Sequence[Any]]:
        """Values by name; an empty cell among numbers is NaN."""
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
    """Rows of values under columns; a string is a column with this head."""

    columns: Sequence[str | Column]
    rows: Sequence[Sequence[Any]]

    @cached_property
    def _by_column(self) -> list[tuple[Column, list[Any]]]:
        columns = [Column(column) if isinstance(column, str) else column for column in self.columns]
        return [(column, [row[number] for row in self.rows]) for number, column in enumerate(columns)]

    @cached_property
    def _shown(self) -> list[_Shown]:
        return [
            _Shown(
                _cut(column.head),
                [_cut("" if value is None else column.text(value)) for value in values],
                _are_names(values),
            )
            for column, values in self._by_column
            if column.head is not None
        ]

    def for_frame(self) -> dict[str, Sequence[Any]]:
        """Values by the names of a frame's columns."""
        return {name: part for column, values in self._by_column for name, part in column.for_frame(values).items()}

    def as_text(self) -> str:
        """Lines of at most 80 characters."""
        return "\n".join(_layout(self._shown))

    def as_html(self, *, inline: bool = True) -> str:
        """A table with inline styles, since notebooks drop style sheets, or one that scrolls, for a page."""
        cell = _inline_cell if inline else _cell
        head = "".join(cell("th", column.head, column) for column in self._shown)
        rows = zip(*(column.cells for column in self._shown), strict=True)
        body = "".join(f"<tr>{''.join(map(cell, ['td'] * len(row), row, self._shown))}</tr>" for row in rows)
        style = f' style="{_TABLE}"' if inline else ""
        table = f"<table{style}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return table if inline else f'<div class="wide" tabindex="0">{table}</div>'


def _inline_cell(tag: str, text: str, column: _Shown) -> str:
    align = "left" if column.is_name else "right;font-variant-numeric:tabular-nums"
    # Heads may take several lines; numbers are not broken.
    rest = "font-weight:600;vertical-align:bottom" if tag == "th" else "white-space:nowrap"
    return f'<{tag} style="{_CELL};{_RULE};text-align:{align};{rest}">{escape(text)}</{tag}>'


def _cell(tag: str, text: str, column: _Shown) -> str:
    kind = "" if column.is_name else ' class="n"'
    return f"<{tag}{kind}>{escape(text)}</{tag}>"


def _cut(text: str) -> str:
    return visible(text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 3] + "...")


class _Wrapper(textwrap.TextWrapper):
    # Class names may also break between their words.
    wordsep_simple_re = re.compile(r"(\s+|(?<=[a-z])(?=[A-Z]))")


@dataclass(frozen=True)
class _Shown:
    """A column as text."""

    head: str
    cells: list[str]
    is_name: bool

    @cached_property
    def cell_width(self) -> int:
        """Width of the longest cell."""
        return max([1, *map(len, self.cells)])

    @cached_property
    def narrowest(self) -> int:
        """Width with a wrapped head and, in a column of names, wrapped cells; numbers are not broken."""
        width = min(self.cell_width, NARROWEST_NAME) if self.is_name else self.cell_width
        return max([width, *map(len, _Wrapper(width, break_on_hyphens=False, break_long_words=False).wrap(self.head))])

    def lines(self, width: int) -> list[list[str]]:
        """Lines of the head and of each cell, padded to the widest."""
        wrap = _Wrapper(width, break_on_hyphens=False).wrap
        lines = [wrap(self.head) or [""], *(wrap(cell) or [""] if len(cell) > width else [cell] for cell in self.cells)]
        pad, widest = str.ljust if self.is_name else str.rjust, max(map(len, chain.from_iterable(lines)))
        return [[pad(line, widest) for line in cell] for cell in lines]


def _layout(columns: list[_Shown]) -> list[str]:
    """Place columns side by side, with names above their rows if necessary; other columns follow below."""
    n_names = max(1, sum(1 for _ in takewhile(lambda column: column.is_name, columns)))
    for end in range(len(columns), min(n_names, len(columns) - 1), -1):
        rows = _beside(columns[:end], WIDTH)
        if not rows and columns[0].is_name:
            rows = list(_below_names(columns[0], _beside(columns[1:end], WIDTH - len(GAP))))
        if rows:
            rest = _layout(columns[:n_names] + columns[end:]) if end < len(columns) else []
            return [*chain.from_iterable(rows), *rest]
    return list(chain.from_iterable(_beside(columns, None)))


def _beside(columns: list[_Shown], room: int | None) -> list[list[str]]:
    """Lines of the heads and of each row; empty if there is no room.

    Columns get their narrowest width first; what is left goes to cells from left to right, then to heads.
    """
    widths = [column.narrowest for column in columns]
    left = (room or sum(widths) + WIDTH) - sum(widths) - len(GAP) * (len(widths) - 1)
    if left < 0 or not columns:
        return []
    for wanted in ([column.cell_width for column in columns], [len(column.head) for column in columns]):
        for place, width in enumerate(wanted):
            more = min(max(0, width - widths[place]), left)
            widths[place], left = widths[place] + more, left - more
    cells = zip(*(column.lines(width) for column, width in zip(columns, widths, strict=True)), strict=True)
    return [_join(row, top=number == 0) for number, row in enumerate(cells)]


def _below_names(names: _Shown, rows: list[list[str]]) -> Iterator[list[str]]:
    """Put rows below the names of the first column, with each name once above the rows that share it."""
    above = None
    for number, (name, row) in enumerate(zip([names.head, *names.cells], rows, strict=False)):
        yield [*(textwrap.wrap(name, WIDTH) if name != above else []), *(GAP + line for line in row)]
        above = name if number else None


def _join(row: Sequence[list[str]], *, top: bool) -> list[str]:
    """Join the lines of the cells of a row; heads are aligned at the bottom, other cells at the top."""
    height = max(map(len, row))
    blank = [[" " * len(cell[0])] * (height - len(cell)) for cell in row]
    full = [[*b, *cell] if top else [*cell, *b] for b, cell in zip(blank, row, strict=True)]
    return [GAP.join(line).rstrip() for line in zip(*full, strict=True)]
