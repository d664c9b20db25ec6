"""Tables, as text of at most 80 columns, as HTML, and as the columns of a frame."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import chain, takewhile, zip_longest
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T", bound=tuple[Any, ...])

WIDTH = 80
GAP = "  "
# Names and words of heads are broken at these widths if there is no room, and names beyond the longest are cut.
NARROWEST_NAME, NARROWEST_HEAD, LONGEST_NAME = 20, 36, 240
_LONG_WORDS = re.compile(rf"(\S{{{LONGEST_NAME - 3}}})\S{{4,}}")
# Characters that are not shown as they are, since a terminal or browser may act on them: control characters, formats
# such as the order of writing, surrogates, and separators of lines. Joiners are part of words in many scripts.
_HIDDEN, _JOINERS = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"}), "\u200c\u200d"

# No colours of its own, so that the notebook's light or dark theme is inherited.
_TABLE = "border-collapse:collapse;border:0;background:transparent;color:inherit;font:inherit;margin:.4em 0;width:auto"
_RULE = (
    "border:0;border-bottom:1px solid;border-color:color-mix(in srgb,currentColor 35%,transparent)"
)
_CELL = "padding:.2em .8em .2em 0;background:transparent;color:inherit"


def visible(text: str) -> str:
    r"""Replace control characters by escapes such as ``\x1b``, which no terminal interprets."""
    if text.isprintable():  # the usual case
        return text
    return "".join(map(_visible_character, text))


def readable(text: str) -> str:
    """Make a sentence visible, with words beyond the longest cut, such as names of rankings that are whole files."""
    return visible(_LONG_WORDS.sub(r"\1...", text))


def _visible_character(character: str) -> str:
    if unicodedata.category(character) not in _HIDDEN or character in _JOINERS:
        return character
    return repr(character)[1:-1]


def as_text(value: Any, spec: str = "z.4f") -> str:
    """Format floats and both ends of an interval with four decimals, and anything else as it prints."""
    if isinstance(value, tuple):
        low, high = value
        return "none" if np.isnan(low) else f"[{low:{spec}}, {high:{spec}}]"
    if isinstance(value, float):
        return format(value, spec)
    return str(value)


def signed(value: Any) -> str:
    """Format a difference, or its interval, with signs."""
    return as_text(value, "+z.4f")


def plus_minus(value: tuple[float, float]) -> str:
    """Format a mean and its spread; a mean of NaN is shown as none."""
    mean, spread = value
    return "none" if np.isnan(mean) else f"{mean:z.4f} ± {spread:.4f}"


def p_text(p: float) -> str:
    """Format a p-value with four decimals, or as "<0.0001"; NaN means not tested."""
    if np.isnan(p):
        return "none"
    return f"{p:.4f}" if p >= 5e-5 else "<0.0001"


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

    @cached_property
    def _by_column(self) -> list[tuple[Column, list[Any]]]:
        columns = [Column(column) if isinstance(column, str) else column for column in self.columns]
        return [
            (column, [row[number] for row in self.rows]) for number, column in enumerate(columns)
        ]

    @cached_property
    def _shown(self) -> list[_Shown]:
        return [
            _as_shown(column.head, column.text, values)
            for column, values in self._by_column
            if column.head is not None
        ]

    @property
    def meanings(self) -> dict[str, str]:
        """What columns mean, by their heads."""
        return {
            column.head: column.meaning
            for column, _ in self._by_column
            if column.head and column.meaning
        }

    def for_frame(self) -> dict[str, list[Any]]:
        """Values by the names of a frame's columns."""
        return {column.name or column.head or "": values for column, values in self._by_column}

    def as_text(self) -> str:
        """Lines of at most 80 characters; columns that do not fit follow below, beside the names again."""
        names = list(takewhile(lambda column: column.is_name, self._shown))[:2] or self._shown[:1]
        others = self._shown[len(names) :]
        lines: list[str] = []
        # Once even if there are names only.
        while others or not lines:
            n = 1
            while n < len(others) and _fit([*names, *others[: n + 1]]):
                n += 1
            lines += _beside([*names, *others[:n]])
            others = others[n:]
        return "\n".join(lines)

    def as_html(self, *, inline: bool = True) -> str:
        """A table with inline styles, since notebooks drop style sheets, or one that scrolls, for a page."""
        head = "".join(_cell("th", column.head, column, inline=inline) for column in self._shown)
        body = ""
        for row in range(len(self.rows)):
            cells = (_cell("td", one.cells[row], one, inline=inline) for one in self._shown)
            body += f"<tr>{''.join(cells)}</tr>"
        style = f' style="{_TABLE}"' if inline else ""
        table = f"<table{style}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        if inline:
            return table
        return f'<div class="wide" tabindex="0">{table}</div>'


class Rows(list[T]):
    """Named tuples of one kind, a list that prints as a table."""

    def _table(self) -> Table:
        names: tuple[str, ...] = getattr(self[0], "_fields", ()) if self else ()
        return Table(names, [tuple(row) for row in self])

    def __repr__(self) -> str:
        return self._table().as_text() if self else "[]"

    def _repr_html_(self) -> str:
        return self._table().as_html() if self else "[]"


class QueryValues(dict[Any, float]):
    """Values of a metric by query id, a dict that prints as a table."""

    def __init__(self, values: Iterable[tuple[Any, float]] = (), *, name: str = "") -> None:
        super().__init__(values)
        self._name = name

    def _table(self) -> Table:
        return Table((Column("qid", str), self._name), list(self.items()))

    def __repr__(self) -> str:
        return self._table().as_text() if self else "{}"

    def _repr_html_(self) -> str:
        return self._table().as_html() if self else "{}"


@dataclass(frozen=True)
class _Shown:
    """A column as text."""

    head: str
    cells: list[str]
    is_name: bool


def _as_shown(head: str, text: Callable[[Any], str], values: Sequence[Any]) -> _Shown:
    texts = ["" if value is None else text(value) for value in values]
    is_name = all(value is None or isinstance(value, str) for value in values)
    return _Shown(_shortened(head), list(map(_shortened, texts)), is_name)


def _shortened(text: str) -> str:
    if len(text) > LONGEST_NAME:
        text = text[: LONGEST_NAME - 3] + "..."
    return visible(text)


def _cell(tag: str, text: str, column: _Shown, *, inline: bool) -> str:
    if not inline:
        kind = "" if column.is_name else ' class="n"'
        return f"<{tag}{kind}>{escape(text)}</{tag}>"
    align = "left" if column.is_name else "right;font-variant-numeric:tabular-nums"
    # Heads may take several lines; numbers are not broken.
    rest = "font-weight:600;vertical-align:bottom" if tag == "th" else "white-space:nowrap"
    return f'<{tag} style="{_CELL};{_RULE};text-align:{align};{rest}">{escape(text)}</{tag}>'


class _Wrapper(textwrap.TextWrapper):
    # Class names may also break between their words.
    wordsep_simple_re = re.compile(r"(\s+|(?<=[a-z])(?=[A-Z]))")


def _wrapped(text: str, width: int, **options: Any) -> list[str]:
    return _Wrapper(width, break_on_hyphens=False, **options).wrap(text)


def _longest(texts: Sequence[str]) -> int:
    return max([1, *map(len, texts)])


def _narrowest(column: _Shown) -> int:
    """Width with a wrapped head and, in a column of names, wrapped cells; numbers are not broken."""
    words = _wrapped(column.head, 1, break_long_words=False)
    narrowest_cell = NARROWEST_NAME if column.is_name else LONGEST_NAME
    return max(min(_longest(words), NARROWEST_HEAD), min(_longest(column.cells), narrowest_cell))


def _width(widths: Sequence[int]) -> int:
    """Width of columns with the gaps between them."""
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _fit(columns: Sequence[_Shown]) -> bool:
    """Whether the columns fit beside each other."""
    return _width(list(map(_narrowest, columns))) <= WIDTH


def _beside(columns: Sequence[_Shown]) -> list[str]:
    """Lines of the heads and of each row.

    Columns get their narrowest width first; what is left goes to cells from left to right, then to heads.
    """
    widths = list(map(_narrowest, columns))
    left = max(0, WIDTH - _width(widths))
    of_cells = [_longest(column.cells) for column in columns]
    of_heads = [len(column.head) for column in columns]
    for wanted in (of_cells, of_heads):
        for place, width in enumerate(wanted):
            more = min(max(0, width - widths[place]), left)
            widths[place] += more
            left -= more
    formats, wrapped = [], []
    for column, width in zip(columns, widths, strict=True):
        texts = [column.head, *column.cells]
        broken = [[text] if len(text) <= width else _wrapped(text, width) for text in texts]
        widest = _longest(list(chain.from_iterable(broken)))
        align = "<" if column.is_name else ">"
        formats.append(f"{{:{align}{widest}}}")
        wrapped.append(broken)
    line_format = GAP.join(formats)
    heads, *rows = zip(*wrapped, strict=True)
    # Heads are aligned at the bottom.
    upside_down = list(zip_longest(*map(reversed, heads), fillvalue=""))
    lines = upside_down[::-1]
    for cells in rows:
        lines += zip_longest(*cells, fillvalue="")
    return [line_format.format(*line).rstrip() for line in lines]
