"""Tables, as text of at most 80 columns, as HTML, and as the columns of a frame."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import chain, takewhile, zip_longest
from typing import Any, NamedTuple, TypeVar

import numpy as np

T = TypeVar("T", bound=tuple[Any, ...])

WIDTH = 80
GAP = "  "
# Smaller numbers print as 0.0000.
ROUNDED_TO_0 = 5e-5
# Names and words of heads are broken at these widths if there is no room, and names beyond the longest are cut.
NARROWEST_NAME, NARROWEST_HEAD, LONGEST_NAME = 20, 36, 240
_LONG_WORDS = re.compile(rf"(\S{{{LONGEST_NAME - 3}}})\S{{4,}}")
# Characters that are not printable are not shown as they are, since a terminal or browser may act on them. But these
# are text: joiners, which are part of words in many scripts, and the blanks that are not broken or of full width.
_TEXT = "\u200c\u200d\xa0\u3000"

# No colours of its own, so that the notebook's light or dark theme is inherited.
_TABLE = "border-collapse:collapse;border:0;background:transparent;color:inherit;font:inherit;margin:.4em 0;width:auto"
_RULE = (
    "border:0;border-bottom:1px solid;border-color:color-mix(in srgb,currentColor 35%,transparent)"
)
_CELL = "padding:.2em .8em .2em 0;background:transparent;color:inherit"
# Of numbers, which are not broken, and of names.
_ALIGN = (
    "text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap",
    "text-align:left;max-width:24em;overflow-wrap:break-word",
)
# Heads may take several lines.
_OF_TAG = {
    "th": "font-weight:600;vertical-align:bottom;white-space:normal",
    "td": "vertical-align:top",
}


def visible(text: str) -> str:
    r"""Replace control characters by escapes such as ``\x1b``, which no terminal interprets."""
    if text.isprintable():  # the usual case
        return text
    return "".join(map(_visible_character, text))


def _visible_character(character: str) -> str:
    if character.isprintable() or character in _TEXT:
        return character
    return repr(character)[1:-1]


def readable(text: str) -> str:
    """Make a text visible, with words beyond the longest cut, such as names of rankings that are whole files."""
    return visible(_LONG_WORDS.sub(r"\1...", text))


# With z, a negative number that rounds to 0 prints as 0.0000 and not as -0.0000.
def as_text(value: Any, spec: str = "z.4f") -> str:
    """Format floats and both ends of an interval with four decimals, and anything else as it prints."""
    if isinstance(value, tuple):
        low, high = (_end_as_text(end, spec) for end in value)
        return "none" if low.endswith("nan") else f"[{low}, {high}]"
    if isinstance(value, float):
        return format(value, spec)
    return str(value)


def _end_as_text(end: float, spec: str) -> str:
    """An end of an interval, which shows whether 0 is inside, however near it is."""
    if 0 < abs(end) < ROUNDED_TO_0:
        return ">0" if end > 0 else "<0"
    return format(end, spec)


def signed(value: Any) -> str:
    """Format a difference, or its interval, with signs."""
    return as_text(value, "+z.4f")


def plus_minus(value: tuple[float, float]) -> str:
    """Format a mean and its spread; a mean of NaN is shown as none."""
    mean, spread = value
    if np.isnan(mean):
        return "none"
    return f"{mean:z.4f} ± {spread:.4f}"


def p_text(p: float) -> str:
    """Format a p-value with four decimals, or as "<0.0001"; NaN means not tested."""
    if np.isnan(p):
        return "none"
    # No p-value is 0.
    if p < ROUNDED_TO_0:
        return "<0.0001"
    return f"{p:.4f}"


@dataclass(frozen=True)
class Column:
    """The head of a column, the format of its values, its name in a frame, and what pages say that it means."""

    head: str | None  # None: in frames only
    text: Callable[[Any], str] = as_text
    name: str | None = None  # None: the head
    meaning: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of values under columns; a string is a column with this head, and None an empty cell."""

    columns: Sequence[str | Column]
    rows: Sequence[Sequence[Any]]

    @property
    def _declared(self) -> list[Column]:
        return [Column(column) if isinstance(column, str) else column for column in self.columns]

    @cached_property
    def _shown(self) -> list[_Shown]:
        shown = []
        for number, column in enumerate(self._declared):
            # Columns without a head are in frames only.
            if column.head is not None:
                values = [row[number] for row in self.rows]
                cells = ["" if value is None else readable(column.text(value)) for value in values]
                is_name = all(value is None or isinstance(value, str) for value in values)
                shown.append(_Shown(readable(column.head), cells, is_name))
        return shown

    @property
    def meanings(self) -> dict[str, str]:
        """What columns mean, by their heads."""
        return {str(column.head): column.meaning for column in self._declared if column.meaning}

    def for_frame(self) -> dict[str, list[Any]]:
        """Values by the names of a frame's columns."""
        columns = {}
        for number, column in enumerate(self._declared):
            columns[column.name or column.head or ""] = [row[number] for row in self.rows]
        return columns

    def as_text(self) -> str:
        """Lines of at most 80 characters; columns that do not fit follow below, beside the names again."""
        # They are repeated beside each block of columns, so more than two would leave little room.
        names = list(takewhile(lambda column: column.is_name, self._shown))[:2] or self._shown[:1]
        lines, block = [], names
        for column in self._shown[len(names) :]:
            if len(block) > len(names) and _room_beside([*block, column]) < 0:
                lines += _beside(block)
                block = names
            block = [*block, column]
        return "\n".join([*lines, *_beside(block)])

    def as_html(self) -> str:
        """A table with inline styles, since notebooks drop style sheets."""
        rows = zip(*(column.cells for column in self._shown), strict=True)
        head = self._row("th", [column.head for column in self._shown])
        body = "".join(self._row("td", row) for row in rows)
        return f'<table style="{_TABLE}"><thead>{head}</thead><tbody>{body}</tbody></table>'

    def _row(self, tag: str, cells: Iterable[str]) -> str:
        row = ""
        for column, text in zip(self._shown, cells, strict=True):
            style = ";".join((_CELL, _RULE, _ALIGN[column.is_name], _OF_TAG[tag]))
            row += f'<{tag} style="{style}">{escape(text)}</{tag}>'
        return f"<tr>{row}</tr>"


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
    """Named tuples of one kind."""

    def _table(self) -> Table:
        names: tuple[str, ...] = getattr(self[0], "_fields", ())
        return Table(names, self)


class QueryValues(_Small, dict[Any, float]):
    """Values of a metric by query id."""

    def __init__(self, values: Iterable[tuple[Any, float]] = (), *, name: str = "") -> None:
        super().__init__(values)
        self._name = name

    def _table(self) -> Table:
        return Table((Column("qid", str), self._name), list(self.items()))


class _Shown(NamedTuple):
    """A column as text."""

    head: str
    cells: list[str]
    is_name: bool

    @property
    def narrowest(self) -> int:
        """Width with a wrapped head and, in a column of names, wrapped cells; numbers are not broken."""
        words = wrapped(self.head, 1, break_long_words=False)
        longest_cell = _longest(self.cells)
        if self.is_name:
            longest_cell = min(longest_cell, NARROWEST_NAME)
        return max(min(_longest(words), NARROWEST_HEAD), longest_cell)


class _Wrapper(textwrap.TextWrapper):
    # Class names may also break between their words.
    wordsep_simple_re = re.compile(r"(\s+|(?<=[a-z])(?=[A-Z]))")


def wrapped(text: str, width: int, **options: Any) -> list[str]:
    """Lines of a text; words that are longer are broken."""
    return _Wrapper(width, break_on_hyphens=False, **options).wrap(text)


def _longest(texts: Sequence[str]) -> int:
    return max([1, *map(len, texts)])


def _room_beside(columns: Sequence[_Shown]) -> int:
    """How much of the line columns leave if they are as narrow as possible."""
    widths = [column.narrowest for column in columns]
    return WIDTH - sum(widths) - len(GAP) * (len(widths) - 1)


def _beside(columns: Sequence[_Shown]) -> list[str]:
    """Lines of the heads and of each row.

    Columns get their narrowest width first; what is left goes to cells from left to right, then to heads.
    """
    widths = [column.narrowest for column in columns]
    left = max(0, _room_beside(columns))
    of_cells = [_longest(column.cells) for column in columns]
    of_heads = [len(column.head) for column in columns]
    for wanted in (of_cells, of_heads):
        for place, width in enumerate(wanted):
            more = min(max(0, width - widths[place]), left)
            widths[place] += more
            left -= more
    formats, columns_of_lines = [], []
    for column, width in zip(columns, widths, strict=True):
        # The lines of each cell; a short one is not changed in its blanks.
        texts = [column.head, *column.cells]
        cells = [[text] if len(text) <= width else wrapped(text, width) for text in texts]
        align = "<" if column.is_name else ">"
        formats.append(f"{{:{align}{_longest(list(chain.from_iterable(cells)))}}}")
        columns_of_lines.append(cells)
    line_format = GAP.join(formats)
    heads, *rows = zip(*columns_of_lines, strict=True)
    # Heads are aligned at the bottom.
    upside_down = list(zip_longest(*map(reversed, heads), fillvalue=""))
    lines = upside_down[::-1]
    for row in rows:
        lines += zip_longest(*row, fillvalue="")
    return [line_format.format(*line).rstrip() for line in lines]
