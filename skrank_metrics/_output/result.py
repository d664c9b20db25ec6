"""The base class of all results: text, HTML, a frame and a picture from one description."""

from __future__ import annotations

import importlib
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from os import PathLike
from typing import Any, ClassVar, TypeAlias

from skrank_metrics._input.interface import on_command_line
from skrank_metrics._input.parameters import check_choice
from skrank_metrics._output.page import page, write_whole
from skrank_metrics._output.table import WIDTH, Table, readable, visible

# Sentences below a table; more would hide the important ones.
MOST_NOTES = 4
_BOX = "max-width:100%;overflow-x:auto;color:inherit;background:transparent;font-size:90%;line-height:1.4"
LIBRARIES = ("pandas", "polars")

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
    """The first notes, and in which attribute of the result, or output of a command, all are."""
    sentences = list(notes)
    n_more = len(sentences) - MOST_NOTES
    if n_more <= 0:
        return sentences
    if on_command_line():
        everywhere = "--output json"
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


def counted(number: int, noun: str) -> str:
    """Put a number before its noun: "1 query", "2 queries"."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        noun = noun[:-1] + "ie"
    return f"{number} {noun}s"
