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
from itertools import takewhile, zip_longest
from os import PathLike
from typing import Any, ClassVar, NamedTuple, NoReturn, TypeAlias, TypeVar

import numpy as np

from skrank_metrics._input.parameters import check_choice
from skrank_metrics._output.page import html_table, page, write_whole

WIDTH = 80
GAP = "  "
# Smaller numbers print as 0.0000.
ROUNDED_TO_0 = 5e-5
# Names in tables, and heads, that do not fit are cut in the middle to these widths, and words beyond the longest are.
LONGEST_NAME, NARROWEST_HEAD, LONGEST_WORD = 24, 16, 240
_LONG_WORDS = re.compile(rf"(\S{{{LONGEST_WORD - 3}}})\S{{4,}}")
# Characters that are not printable are not shown as they are, since a terminal or browser may act on them. But these
# are text: joiners, which are part of words in many scripts, and the blanks that are not broken or of full width.
_TEXT = "\u200c\u200d\xa0\u3000"
# Sentences below a table; more would hide the important ones.
MOST_NOTES = 4
_BOX = "max-width:100%;overflow-x:auto;color:inherit;background:transparent;font-size:90%;line-height:1.4"
_BOLD = "font-weight:600"
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
        low, high = value
        if np.isnan(low):
            return "none"
        sign = "+" if spec.startswith("+") else ""
        return f"[{exact_end(low, sign)}, {exact_end(high, sign)}]"
    if isinstance(value, float):
        return format(value, spec)
    return str(value)


def exact_end(end: float, sign: str = "", limits: Sequence[float] = (0.0,)) -> str:
    """Format an end of an interval with four decimals, or as many as show on which side of each limit it is."""
    for decimals in range(4, 16):
        text = format(end, f"{sign}z.{decimals}f")
        rounded = float(text)
        if np.isinf(end) or all(
            np.sign(rounded - limit) == np.sign(end - limit) for limit in limits
        ):
            return text
    return format(end, f"{sign}.1e")


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
    """Format a p-value with four decimals, at least 0.0001, since none is 0; NaN means not tested."""
    if np.isnan(p):
        return "none"
    return f"{max(p, 0.0001):.4f}"


def counted(number: int, noun: str) -> str:
    """Put a number before its noun: "1 query", "2,940 queries"."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        noun = noun[:-1] + "ie"
    return f"{number:,} {noun}s"


def cut(text: str, width: int) -> str:
    """Cut a text in the middle if it is longer than the width."""
    if len(text) <= width:
        return text
    n_last = (width - 3) * 3 // 7
    return f"{text[: width - 3 - n_last]}...{text[len(text) - n_last :]}"


def cut_names(names: Sequence[str], width: int) -> list[str]:
    """Cut names to a width, or to twice as much if different ones would become the same."""
    for times in (1, 2):
        short = [cut(name, times * width) for name in names]
        if len(set(short)) == len(set(names)):
            break
    return short


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
    """Rows of values under columns, and a title; a string is a column with this head, and None an empty cell."""

    columns: Sequence[str | Column]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    wraps: bool = False  # names that are too long; by default, they are cut

    @property
    def _declared(self) -> list[Column]:
        return [Column(column) if isinstance(column, str) else column for column in self.columns]

    @cached_property
    def shown(self) -> list[ShownColumn]:
        """The columns that have a head, as text."""
        shown = []
        for number, column in enumerate(self._declared):
            # Columns without a head are in frames only.
            if column.head is not None:
                values = [row[number] for row in self.rows]
                cells = ["" if value is None else readable(column.text(value)) for value in values]
                is_name = all(value is None or isinstance(value, str) for value in values)
                shown.append(ShownColumn(readable(column.head), cells, is_name))
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
        names = list(takewhile(lambda column: column.is_name, self.shown))[:2] or self.shown[:1]
        others = self.shown[len(names) :]
        if self.wraps:
            width = max(2 * LONGEST_NAME, WIDTH - _width([*names[1:], *others]) - len(GAP))
            names = [names[0].wrapped(width), *names[1:]]
        elif _width([*names, *others]) > WIDTH:
            names = [column.cut(LONGEST_NAME) for column in names]
        room = WIDTH - _width(names) - len(GAP)
        blocks = [names]
        for column in others:
            column = column.cut(room)
            is_first = len(blocks[-1]) == len(names)
            if not is_first and _width([*blocks[-1], column]) > WIDTH:
                blocks.append(names)
            blocks[-1] = [*blocks[-1], column]
        lines = []
        if self.title:
            lines.append(textwrap.fill(readable(self.title), WIDTH))
        for block in blocks:
            lines += _beside(block)
        return "\n".join(lines)

    def as_html(self) -> str:
        """A table that takes its colours from what surrounds it."""
        texts = [[column.head, *column.cells] for column in self.shown]
        return html_table(texts, [column.is_name for column in self.shown])

    def as_markdown(self) -> str:
        """A table of GitHub's Markdown, whose first head is the title."""
        heads = [column.head for column in self.shown]
        heads[0] = heads[0] or self.title
        rules = ["---" if column.is_name else "--:" for column in self.shown]
        lines = [f"| {' | '.join(map(_markdown, heads))} |", f"|{'|'.join(rules)}|"]
        rows = zip(*(column.cells for column in self.shown), strict=True)
        lines += [f"| {' | '.join(map(_markdown, cells))} |" for cells in rows]
        return "\n".join(lines)


class ShownColumn(NamedTuple):
    """A column as text."""

    head: str
    cells: list[str]
    is_name: bool

    @property
    def width(self) -> int:
        """Characters of the longest line."""
        return max(len(line) for text in [self.head, *self.cells] for line in text.split("\n"))

    def wrapped(self, width: int) -> ShownColumn:
        """The column with texts on several lines."""
        cells = [
            "\n".join(textwrap.wrap(cell, width, break_on_hyphens=False)) for cell in self.cells
        ]
        return ShownColumn(self.head, cells, self.is_name)

    def cut(self, width: int) -> ShownColumn:
        """The column with shorter texts; numbers are not cut."""
        cells = self.cells
        if self.is_name:
            cells = cut_names(cells, width)
        return ShownColumn(cut(self.head, max(width, NARROWEST_HEAD)), cells, self.is_name)


def _width(columns: Sequence[ShownColumn]) -> int:
    """Characters of a line."""
    return sum(column.width for column in columns) + len(GAP) * (len(columns) - 1)


def _beside(columns: Sequence[ShownColumn]) -> list[str]:
    """Lines of the heads and of each row."""
    formats = []
    for column in columns:
        align = "<" if column.is_name else ">"
        formats.append(f"{{:{align}{column.width}}}")
    line_format = GAP.join(formats)
    lines = []
    for cells in zip(*([column.head, *column.cells] for column in columns), strict=True):
        parts = zip_longest(*(cell.split("\n") for cell in cells), fillvalue="")
        lines += [line_format.format(*part).rstrip() for part in parts]
    return lines


# Results


class Terms(NamedTuple):
    """Decisions, each with what it is about, one below the other."""

    items: Sequence[tuple[str, str]]
    width: int  # of the longest decision that there may be


class Note(NamedTuple):
    """A sentence, and what to call in Python to know more; pages and Markdown have the sentence alone."""

    text: str  # without its full stop; empty if there is nothing but the hint
    hint: str

    @property
    def sentence(self) -> str:
        """The sentence without the hint."""
        if not self.text:
            return ""
        return f"{self.text}."

    def __str__(self) -> str:
        if not self.text:
            return self.hint
        return f"{self.text}; {self.hint}."


Section: TypeAlias = str | Table | Terms | Note


class Result(ABC):
    """Sentences and tables, which subclasses provide, printed as text and in notebooks."""

    _index: ClassVar[str | None] = None  # the column that is the index of a pandas.DataFrame
    _display: ClassVar[str | None] = None  # class of the picture, in skrank_metrics.displays

    @abstractmethod
    def _sections(self) -> Sequence[Section]:
        """What is printed: the title or verdict, then tables and sentences."""

    def _whole(self) -> Sequence[Section]:
        """What pages and Markdown show, by default the same."""
        return self._sections()

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
        first, *sections = self._sections()
        shown = "".join(_section_as_html(section, str(section)) for section in sections)
        return f'<div style="{_BOX}">{_section_as_html(first, str(first), _BOLD)}{shown}</div>'

    def plot(self, **options: Any) -> Any:
        """Draw the result with matplotlib; returns the display, with the attributes ``ax_`` and ``figure_``.

        Options, such as ``ax``, are those of the display of the result in ``skrank_metrics.displays``.
        """
        if self._display is None:
            raise TypeError(
                f"There is no picture of a {type(self).__name__}; print it, or see to_html and to_frame."
            )
        # Only displays may import matplotlib, which takes a second.
        from skrank_metrics import displays

        return getattr(displays, self._display).from_result(self, **options)

    def to_html(self, path: str | PathLike[str], *, title: str | None = None) -> None:
        """Write a self-contained HTML page, to send or to archive; ``title`` replaces its heading.

        The page has the tables and sentences that the result prints, the date, and the versions of the libraries; if
        matplotlib is installed, also a picture. It loads nothing, runs no scripts, and follows the reader's light or
        dark theme. An existing file is replaced only once the new one is complete.
        """
        write_whole(self._page(title), path)

    def to_markdown(self) -> str:
        """The tables and sentences that the result prints as GitHub's Markdown, such as for the summary of a job."""
        return markdown_of(self._whole())

    def _sections_of_page(self) -> Sequence[Section]:
        """What a page shows, by default the same as Markdown."""
        return self._whole()

    def _page(self, title: str | None = None) -> str:
        from skrank_metrics.displays import page_picture

        first, *sections = self._sections_of_page()
        headline = title or self._headline()
        if headline or not isinstance(first, str):
            sections = [first, *sections]
        tables = [section for section in sections if isinstance(section, Table)]
        blocks = [_section_as_html(section, _sentence(section)) for section in sections]
        # The picture is below the first table.
        place = sections.index(tables[0]) + 1 if tables else 0
        blocks.insert(place, page_picture(self))
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


def extended(result: Result, *further: Section) -> Sections:
    """A result with further tables and sentences below."""
    return Sections([*result._sections(), *further], result._headline())


def columns_of(result: Result) -> Mapping[str, Any]:
    """The columns of the frame of a result by name."""
    return result._columns()


def page_of(result: Result) -> str:
    """The page of a result."""
    return result._page()


def sections_on_command_line(
    result: Result, spelled: Callable[[str], str], *, whole: bool
) -> list[Section]:
    """What a result prints without what to call in Python; sentences are spelled for whoever typed a command."""
    sections: list[Section] = []
    for section in result._whole() if whole else result._sections():
        if isinstance(section, str | Note):
            sections.append(spelled(_sentence(section)))
        else:
            sections.append(section)
    return sections


def text_of(sections: Iterable[Section]) -> str:
    """Join tables and sentences into lines of at most 80 characters."""
    blocks: list[str] = []
    before: Section = ""
    for section in sections:
        text = _section_as_text(section)
        # An empty line is above a table that has a title, or that follows another one.
        if isinstance(section, Table) and before and (section.title or isinstance(before, Table)):
            text = f"\n{text}"
        if text:
            blocks.append(text)
        before = section
    return "\n".join(blocks)


def _section_as_text(section: Section) -> str:
    if isinstance(section, Table):
        return section.as_text()
    if isinstance(section, Terms):
        indent = " " * (section.width + len(GAP))
        lines = []
        for term, text in section.items:
            line = f"{term:<{section.width}}{GAP}{readable(text)}"
            lines.append(
                textwrap.fill(line, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
            )
        return "\n".join(lines)
    return textwrap.fill(readable(str(section)), WIDTH, break_on_hyphens=False)


def _sentence(section: Section) -> str:
    """A section as it is where nothing can be called."""
    if isinstance(section, Note):
        return section.sentence
    return str(section)


def _html(text: str) -> str:
    return escape(readable(text))


def _section_as_html(
    section: Section, text: str, style: str = "margin:.3em 0;max-width:46rem"
) -> str:
    """A section as HTML; sentences are given as text."""
    if isinstance(section, Table):
        title = ""
        if section.title:
            title = f'<div style="{_BOLD}">{_html(section.title)}</div>'
        # With a tabindex, a table that is too wide can be scrolled by keyboard, too.
        return f'{title}<div class="wide" tabindex="0">{section.as_html()}</div>'
    if isinstance(section, Terms):
        return "".join(
            f"<div><strong>{term}</strong> {_html(text)}</div>" for term, text in section.items
        )
    if not text:
        return ""
    return f'<div style="{style}">{_html(text)}</div>'


def _markdown(text: str) -> str:
    """A text in which Markdown formats nothing."""
    return re.sub(r"[\\`*|<>~]|\](?=[(\[])", r"\\\g<0>", readable(text))


def markdown_of(sections: Iterable[Section]) -> str:
    """GitHub's Markdown: the first sentence in bold, tables, and what follows them as a list."""
    first, *others = sections
    blocks = [_section_as_markdown(first)]
    if not isinstance(first, Table):
        blocks = [f"**{blocks[0]}**"]
    tables = [place for place, section in enumerate(others) if isinstance(section, Table)]
    last = max(tables, default=-1)
    for place, section in enumerate(others):
        text = _section_as_markdown(section)
        if text and place > last:
            text = f"- {text}"
        blocks.append(text)
    return "\n\n".join(filter(None, blocks)) + "\n"


def _section_as_markdown(section: Section) -> str:
    if isinstance(section, Table):
        title = section.title if section.shown and section.shown[0].head else ""
        return f"{_markdown(title)}\n\n{section.as_markdown()}".lstrip()
    if isinstance(section, Terms):
        return "\n".join(f"- **{term}**: {_markdown(text)}" for term, text in section.items)
    return _markdown(_sentence(section))


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
    """Named tuples of one kind, which begin with the id of a query; they print below heads, or else their fields."""

    def __init__(self, values: Iterable[T] = (), *, heads: Sequence[str] = ()) -> None:
        super().__init__(values)
        self._heads = heads

    def _table(self) -> Table:
        fields: tuple[str, ...] = getattr(self[0], "_fields", ())
        return Table((Column("qid", str), *(self._heads or fields[1:])), self)


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
