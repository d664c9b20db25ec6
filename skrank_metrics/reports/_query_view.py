"""The rankings of one query side by side, as text and as HTML."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import chain, zip_longest
from typing import Any

import numpy as np

from skrank_metrics._output.result import counted
from skrank_metrics._output.table import GAP, WIDTH, Column, Table, as_text, signed
from skrank_metrics.reports._ranked_query import RankedQuery

# Characters of a bar.
BAR = 10
# Parts of the bars in a notebook.
FULL, MISSING = "\u2588", "\u2591"
# Number of ranks of missed documents that are listed.
MOST_MISSED = 5

# Attributes of tags: styles in a notebook, which has no style sheet, and classes on a page. There are many cells, so
# most have none.
_NOTEBOOK = {
    "beside": ' style="display:flex;flex-wrap:wrap;gap:0 2.5em"',
    "summary": ' style="font-weight:600;cursor:pointer"',
    "table": ' cellpadding="3" style="border-collapse:collapse;text-align:right;color:inherit;margin:.4em 0"',
    "text": ' style="text-align:left"',
    "tied": "",
}
_PAGE = {
    "beside": ' class="beside"',
    "summary": "",
    "table": ' class="ranks"',
    "text": ' class="text"',
    "tied": ' class="tied"',
}


@dataclass(frozen=True)
class Sums:
    """Explanation of the columns of sums and of their bars."""

    metric: str
    alone: bool  # as text, rankings side by side have fewer columns
    has_ideal: bool = True

    def as_text(self) -> str:
        """Lines of at most 80 characters."""
        return textwrap.fill(self._words("#", ".", whole=self.alone), WIDTH, break_on_hyphens=False)

    def as_html(self, *, inline: bool = True) -> str:
        """The explanation for a page, which always has all columns."""
        words = self._words(*(FULL, MISSING) if inline else ("the first colour", "the second"), whole=True)
        return f"<div>{escape(words)}</div>"

    def _words(self, added: str, missing: str, *, whole: bool) -> str:
        adds = f"adds: what a rank adds to {self.metric}"
        if not whole:
            return f"{adds}."
        if not self.has_ideal:
            return f"{adds}, also drawn as bars. Labels define no ideal order for this metric."
        return (
            f"{adds}; ideal: what it adds in the ideal order; share: what it adds, as a share of the ideal value. In "
            f"the bars, {added} is what the rank adds, and {missing} what it would add on top in the ideal order."
        )


@dataclass(frozen=True)
class QueryView:
    """The rankings of one query side by side."""

    rankings: Sequence[RankedQuery]
    is_open: bool

    def as_text(self) -> str:
        """Tables side by side if they fit, else one below the other."""
        head, alone = textwrap.wrap(self._head, WIDTH), len(self.rankings) == 1
        blocks = [self._text_of(ranking, alone=alone) for ranking in self.rankings]
        widths = [max(map(len, block)) for block in blocks]
        between = next((gap for gap in (2 * GAP, GAP) if sum(widths) + len(gap) * (len(widths) - 1) <= WIDTH), None)
        if between and not alone:
            rows = zip_longest(*blocks, fillvalue="")
            joined = (between.join(map(str.ljust, row, widths)).rstrip() for row in rows)
            return "\n".join([*head, *joined, ""])
        return "\n".join([*head, *chain.from_iterable(blocks), ""])

    @property
    def _head(self) -> str:
        first, *others = self.rankings
        relevant = counted(first.n_relevant, "relevant document")
        if not others:
            return f"Query {first.qid}: {_value(first)}; {counted(first.n_ranked, 'ranked document')}, {relevant}"
        values = [f"{ranking.ranking} {ranking.value:z.4f}" for ranking in self.rankings]
        differences = [f"difference {signed(first.value - other.value)}" for other in others if len(others) == 1]
        return f"Query {first.qid}: {', '.join(values + differences)}; {relevant}"

    @cached_property
    def _longest(self) -> float:
        """The value of the longest bar."""
        parts = [part for ranking in self.rankings for part in (ranking.added, ranking.ideal)]
        return float(np.nanmax(np.concatenate([*parts, [0.0]]))) or 1.0

    def _text_of(self, ranking: RankedQuery, *, alone: bool) -> list[str]:
        room = WIDTH if alone or ranking.documents else (WIDTH - len(GAP)) // 2
        names = ("row", "label", "score", *(("discount", "adds", "ideal", "share") if alone else ("adds",)))
        ranks = (Column("rank"), _ranks(ranking))
        columns = [ranks, *_columns_of(ranking, names)]
        if alone and _adds_up(ranking):
            columns.append((Column(""), list(self._bars(ranking))))
        lines = _lines(columns)
        if ranking.documents:  # long ones leave no room beside them
            lines += _lines([ranks, (Column("document"), ranking.documents)])
        caption = [] if alone else textwrap.wrap(f"{ranking.ranking}: {_value(ranking)}", room)
        return [*caption, *lines, *chain.from_iterable(textwrap.wrap(line, room) for line in _below(ranking))]

    def _bars(self, ranking: RankedQuery, full: str = "#", missing: str = ".") -> Iterator[str]:
        for ends in _ends(ranking):
            added, ideal = (round(BAR * end / self._longest) for end in ends)
            yield full * added + missing * (ideal - added)

    def as_html(self, *, inline: bool = True) -> str:
        """Folded unless it is one of the first; rankings are side by side if the window is wide enough."""
        how = _NOTEBOOK if inline else _PAGE
        tables = "".join(self._html_of(ranking, how) for ranking in self.rankings)
        return (
            f"<details{' open' if self.is_open else ''}><summary{how['summary']}>{escape(self._head)}</summary>"
            f"<div{how['beside']}>{tables}</div></details>"
        )

    def _html_of(self, ranking: RankedQuery, how: dict[str, str]) -> str:
        # HTML allows cells and rows without closing tags, which would make up a third of a page.
        columns = [(Column("rank"), _ranks(ranking)), *_columns_of(ranking, ("row", "label", "score"))]
        cells = [[f"<td>{column.text(value)}" for value in values] for column, values in columns]
        if _adds_up(ranking):
            # Bars come before the numbers, so that a narrow window shows them.
            cells.append(list(self._html_bars(ranking, inline=how is _NOTEBOOK)))
            numbers = _columns_of(ranking, ("adds", "ideal", "share", "discount"))
            cells += [[f"<td>{column.text(value)}" for value in values] for column, values in numbers]
            columns += [(Column(""), []), *numbers]
        heads = [f"<th>{column.head}" for column, _ in columns]
        if ranking.documents:  # below the numbers, so that both fit into a narrow window
            span = f'<tr{{}}><td colspan="{len(columns)}"{how["text"]}>'
            tied_ones = zip(ranking.documents, _tied_with_next(ranking), strict=True)
            tags = [span.format(how["tied"] if tied else "") + self._document(one, how) for one, tied in tied_ones]
            cells.append(tags)
        joins = [bool(ranking.documents) or tied for tied in _tied_with_next(ranking)]
        rows = zip(joins, zip(*cells, strict=True), strict=True)
        body = "".join(f"<tr{how['tied'] if joined else ''}>{''.join(row)}" for joined, row in rows)
        caption = f"<div><b>{escape(ranking.ranking)}</b>: {_value(ranking)}</div>" if ranking.ranking else ""
        below = "".join(f"<div>{line}</div>" for line in _below(ranking))
        table = f"<table{how['table']}><tr>{''.join(heads)}{body}</table>" if body else ""
        return f"<div>{caption}{table}{below}</div>"

    @staticmethod
    def _document(text: str, how: dict[str, str]) -> str:
        # On a page, long texts must not widen the table.
        return escape(text) if how is _NOTEBOOK else f"<div>{escape(text)}</div>"

    def _html_bars(self, ranking: RankedQuery, *, inline: bool) -> Iterator[str]:
        if inline:
            for bar in self._bars(ranking, FULL, MISSING):
                yield f'<td style="text-align:left">{bar}'
            return
        for ends in _ends(ranking):
            added, ideal = (f"{100 * end / self._longest:.3g}%" for end in ends)
            yield f'<td class="bar" style="--a:{added};--i:{ideal}">'


def _lines(columns: Sequence[tuple[Column, Sequence[Any]]]) -> list[str]:
    rows = list(zip(*(values for _, values in columns), strict=True))
    return Table([column for column, _ in columns], rows).as_text().splitlines() if rows else []


def _columns_of(ranking: RankedQuery, names: Sequence[str]) -> list[tuple[Column, list[Any]]]:
    """The named columns, as far as the ranking has them."""
    found: dict[str, tuple[Column, Any]] = {
        "row": (Column("row"), ranking.rows),
        "label": (Column("label", _label), ranking.labels),
        "score": (Column("score", "{:z.4g}".format), ranking.scores),
        "discount": (Column("discount"), ranking.discounts if _adds_up(ranking) else None),
    }
    if _adds_up(ranking):
        found["adds"] = Column("adds", as_text), ranking.added
    if _has_ideal(ranking):
        found["ideal"] = Column("ideal"), ranking.ideal
        found["share"] = Column("share", "{:.0%}".format), ranking.added / (ranking.ideal_value or 1.0)
    given = [(found[name][0], found[name][1]) for name in names if name in found]
    return [
        (column, values if isinstance(values, list) else values.tolist())
        for column, values in given
        if values is not None
    ]


def _adds_up(ranking: RankedQuery) -> bool:
    return not np.isnan(ranking.rest)


def _has_ideal(ranking: RankedQuery) -> bool:
    return not np.isnan(ranking.ideal_value)


def _ends(ranking: RankedQuery) -> Iterator[tuple[float, float]]:
    """The ends of the two parts of each bar, at least 0; without an ideal order, there is only the first part."""
    parts = (np.nan_to_num(part).clip(min=0.0).tolist() for part in (ranking.added, ranking.ideal))
    return zip(*parts, strict=True)


def _ranks(ranking: RankedQuery) -> list[str]:
    return [f"{rank}{'=' if tied else ''}" for rank, tied in enumerate(ranking.tied.tolist(), start=1)]


def _tied_with_next(ranking: RankedQuery) -> list[bool]:
    return [*(ranking.scores[1:] == ranking.scores[:-1]).tolist(), False][: len(ranking.scores)]


def _label(label: float) -> str:
    return "?" if np.isnan(label) else f"{label:g}"


def _value(ranking: RankedQuery) -> str:
    if not ranking.is_defined:
        left_out = np.isnan(ranking.value)
        return "undefined, left out of the mean" if left_out else f"undefined, counted as {ranking.value:g}"
    share = f", {ranking.value / ranking.ideal_value:.0%} of the ideal" if ranking.ideal_value > 0 else ""
    return f"{ranking.value:z.4f}{share}"


def _below(ranking: RankedQuery) -> Iterator[str]:
    """Lines on what the ranks shown leave out."""
    n_shown = len(ranking.labels)
    if not n_shown:
        yield "No documents are ranked"
    if abs(ranking.rest) >= 5e-5:
        yield f"Ranks below {n_shown} add {ranking.rest:.4f}"
    if ranking.missed:
        ranks = ", ".join(map(str, ranking.missed[:MOST_MISSED])) + ", ..." * (len(ranking.missed) > MOST_MISSED)
        yield f"{counted(len(ranking.missed), 'relevant document')} below, at rank {ranks}"
    if ranking.n_unranked:
        yield f"{counted(ranking.n_unranked, 'relevant document')} not ranked"
