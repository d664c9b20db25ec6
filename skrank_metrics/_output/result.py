"""What results print: sentences and tables, as text of at most 80 columns, in notebooks, and as pages and frames."""

from __future__ import annotations

import importlib
import re
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import chain, takewhile, zip_longest
from os import PathLike
from typing import Any, ClassVar, NamedTuple, NoReturn, TypeAlias, TypeVar

import numpy as np

from skrank_metrics._input.parameters import check_choice
from skrank_metrics._output.page import html_table, page, write_whole

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
# Sentences below a table; more would hide the important ones.
MOST_NOTES = 4
_BOX = "max-width:100%;overflow-x:auto;color:inherit;background:transparent;font-size:90%;line-height:1.4"
LIBRARIES = ("pandas", "polars")


# Values and names as text


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


def counted(number: int, noun: str) -> str:
    """Put a number before its noun: "1 query", "2 queries"."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        noun = noun[:-1] + "ie"
    return f"{number} {noun}s"


# Tables


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
        """A table that takes its colours from what surrounds it."""
        texts = [[column.head, *column.cells] for column in self._shown]
        return html_table(texts, [column.is_name for column in self._shown])


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


# Results


Section: TypeAlias = str | Table


class Result(ABC):
    """Sentences and tables, which subclasses provide, printed as text and in notebooks."""

    _index: ClassVar[str | None] = None  # the column that is the index of a pandas.DataFrame
    _display: ClassVar[str | None] = None  # class of the picture, in skrank_metrics.displays

    @abstractmethod
    def _sections(self) -> Sequence[Section]:
        """The title, then tables and sentences."""

    def _columns(self) -> Mapping[str, Any]:
        """Columns of the frame by name, by default those of the first table."""
        return next(
            section for section in self._sections() if isinstance(section, Table)
        ).for_frame()

    def _brief(self) -> str:
        """What the result is about, in a few words that need no computation."""
        return ""

    def _headline(self) -> str:
        """The heading of the page, in plain words; by default the title."""
        return ""

    def _explanations(self) -> Sequence[str]:
        """Sentences for readers of the page who do not know the words, such as one on each metric."""
        return ()

    def __repr__(self) -> str:
        return visible(f"<{type(self).__name__}: {self._brief()}>".replace(": >", ">"))

    def __str__(self) -> str:
        return text_of(self._sections())

    def _repr_html_(self) -> str:
        title, *sections = self._sections()
        shown = "".join(map(_section_as_html, sections))
        return f'<div style="{_BOX}"><div style="font-weight:600">{_html(str(title))}</div>{shown}</div>'

    def plot(self, **options: Any) -> Any:
        """Draw the result with matplotlib; returns the display, with the attributes ``ax_`` and ``figure_``.

        Options, such as ``ax``, are those of the display of the result in ``skrank_metrics.displays``.
        """
        if self._display is None:
            raise TypeError(
                f"There is no picture of a {type(self).__name__}; print it, or see to_html and to_frame."
            )
        # By name, as only displays may import matplotlib, which takes a second to load.
        displays = importlib.import_module("skrank_metrics.displays")
        return getattr(displays, self._display).from_result(self, **options)

    def to_html(self, path: str | PathLike[str], *, title: str | None = None) -> None:
        """Write a self-contained HTML page, to send or to archive; ``title`` replaces its heading.

        The page has the tables and sentences that the result prints, the date, and the versions of the libraries; if
        matplotlib is installed, also a picture. It loads nothing, runs no scripts, and follows the reader's light or
        dark theme. An existing file is replaced only once the new one is complete.
        """
        write_whole(self._page(title), path)

    def _page(self, title: str | None = None) -> str:
        first, *sections = self._sections()
        headline = title or self._headline()
        if headline:
            sections = [first, *sections]
        tables = [section for section in sections if isinstance(section, Table)]
        blocks = list(map(_section_as_html, sections))
        # Below the first table.
        place = sections.index(tables[0]) + 1 if tables else 0
        displays = importlib.import_module("skrank_metrics.displays")
        blocks.insert(place, displays.page_picture(self))
        # What every reader needs comes first, and is darker.
        meanings: dict[str, str] = {}
        for table in tables:
            meanings |= table.meanings
        notes = [f"{head}: {meaning}" for head, meaning in meanings.items()]
        notes += self._explanations()
        blocks += [f'<p class="note">{_html(note)}</p>' for note in notes]
        return page(readable(headline or str(first)), blocks)

    def to_frame(self, library: str = "pandas") -> Any:
        """Put the values into a data frame of "pandas" or "polars", with rows and columns as described in the class."""
        return make_frame(library, self._columns(), self._index)


class Sections(Result):
    """Tables and sentences that are given, and the heading of their page."""

    def __init__(self, sections: Sequence[Section], heading: str = "") -> None:
        self._all = sections
        self._heading = heading

    def _sections(self) -> Sequence[Section]:
        return self._all

    def _headline(self) -> str:
        return self._heading


def make_frame(library: str, columns: Mapping[str, Any], index: str | None) -> Any:
    """A data frame of pandas or polars; only pandas has an index."""
    check_choice(library, "library", LIBRARIES)
    try:
        module = importlib.import_module(library)  # neither is a dependency
    except ImportError:
        message = f"to_frame needs {library}: pip install {library}, or read the attributes, which hold the same."
        raise ImportError(message) from None
    frame = module.DataFrame(dict(columns))
    if library == "polars" or index is None:
        return frame
    return frame.set_index(index)


def rows_of(columns: Mapping[str, Any], keys: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of columns, each after the same keys."""
    rows = zip(*columns.values(), strict=True)
    return [{**keys, **dict(zip(columns, row, strict=True))} for row in rows]


def most_important(notes: Iterable[str], everywhere: str) -> list[str]:
    """The first four notes, and in which attribute of the result all are."""
    sentences = list(notes)
    n_more = len(sentences) - MOST_NOTES
    if n_more <= 0:
        return sentences
    return [*sentences[:MOST_NOTES], f"For {counted(n_more, 'further note')}, see {everywhere}."]


def extended(result: Result, *further: Section) -> Sections:
    """A result with further tables and sentences below."""
    return Sections([*result._sections(), *further], result._headline())


def columns_of(result: Result) -> Mapping[str, Any]:
    """The columns of the frame of a result by name."""
    return result._columns()


def page_of(result: Result) -> str:
    """The page of a result."""
    return result._page()


def _html(text: str) -> str:
    return escape(readable(text))


def _section_as_html(section: Section) -> str:
    if isinstance(section, Table):
        # With a tabindex, a table that is too wide can be scrolled by keyboard, too.
        return f'<div class="wide" tabindex="0">{section.as_html()}</div>'
    return f'<div style="margin:.3em 0;max-width:46rem">{_html(section)}</div>'


def text_of(sections: Iterable[Section]) -> str:
    """Join tables and sentences into lines of at most 80 characters."""
    return "\n".join(map(_section_as_text, sections))


def _section_as_text(section: Section) -> str:
    if isinstance(section, Table):
        return section.as_text()
    return textwrap.fill(readable(section), WIDTH, break_on_hyphens=False)


# Lists and dicts that print as tables.

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


K = TypeVar("K")
V = TypeVar("V")


class ReadOnly(dict[K, V]):
    """A dict of a result, which others read, too."""

    def _refuse(self, *args: Any, **keywords: Any) -> NoReturn:
        raise TypeError("A dict of a report is read-only; change a copy, dict(...).")

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = setdefault = pop = popitem = clear = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return ReadOnly, (dict(self),)
