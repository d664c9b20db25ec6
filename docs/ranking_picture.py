"""A small ranking as a table that is a picture: shapes for relevance, bars for grades and terms, arcs for pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from html import escape

import numpy as np
from worked_case import Case, Pairs, Ranking, Terms, leading_fraction, worked_case

from skrank_metrics.metrics._record import MetricFunction

# Numbers with at most this many decimals are written as decimals, others as fractions with at most this denominator.
DECIMALS, LARGEST_DENOMINATOR = 3, 1000
# Units of a row and of the space that arcs of pairs at a distance of one rank need.
ROW, ARC = 24, 16
MINUS, TIMES = "\u2212", "\u00d7"
# LaTeX of formulas as text.
AS_TEXT = [
    (r"\\sqrt\{(.*)\}$", r"√(\1)"),
    (r"\\(?:text|mathrm|operatorname)\{(.*?)\}", r"\1"),
    (r"\\cdot", "·"),
    (r"\\min", "min"),
    (" - ", f" {MINUS} "),
    ("  +", " "),
]


def one_case(function: MetricFunction) -> str:
    """Make the text of the section: the sentence of the docstring's example, and a picture of it."""
    case = worked_case(function)
    figures = "".join(_figure(case, ranking) for ranking in case.rankings)
    html = f'<div class="case">{figures}{_mean(case)}</div>'
    return f"{case.text}\n\n.. raw:: html\n\n   {html}"


def _figure(case: Case, ranking: Ranking) -> str:
    words = f"<figcaption>{_arithmetic(case, ranking)}</figcaption>"
    legend = _legend(ranking.terms) if isinstance(ranking.terms, Pairs) else ""
    return f"<figure>{_table(case, ranking)}{legend}{words}</figure>"


def _mean(case: Case) -> str:
    """What the call returns for several queries, unless that is their values."""
    if len(case.rankings) == 1 or isinstance(case.value, np.ndarray):
        return ""
    values = [number(ranking.documents.value) for ranking in case.rankings]
    mean = f"({' + '.join(values)}) / {len(values)} = <strong>{decimal(case.value)}</strong>"
    return f'<p class="mean">Mean: {mean}</p>'


# --- The table


def _table(case: Case, ranking: Ranking) -> str:
    caption = (
        escape(ranking.name) if ranking.name else '<span class="visually-hidden">The ranking</span>'
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in _heads(ranking))
    return (
        f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(_rows(case, ranking))}"
        f"</tbody><tfoot>{''.join(_sums(case, ranking))}</tfoot></table>"
    )


def _heads(ranking: Ranking) -> list[str]:
    last = (
        ["pairs"]
        if isinstance(ranking.terms, Pairs)
        else ["adds"] + ["ideal"] * (ranking.ideal is not None)
    )
    return ["rank", "label", "score", *(column.head for column in ranking.columns), *last]


def _rows(case: Case, ranking: Ranking) -> Iterator[str]:
    labels, scores = ranking.documents.columns["label"], ranking.documents.columns["score"]
    largest = np.nanmax(labels) if case.metric.record.graded else np.nan
    symbol = "R" if case.metric.record.depth_is_relevant else "k" if case.metric.k else ""
    for place, label in enumerate(labels):
        cells = [_rank(ranking, place), _label(label, bool(ranking.relevant[place]), largest)]
        cells += [f"<td>{number(scores[place])}</td>", *_numbers(ranking, place)]
        if isinstance(ranking.terms, Pairs) and not place:
            cells.append(
                f'<td class="pairs" rowspan="{len(labels)}">{_arcs(ranking.terms, len(labels))}</td>'
            )
        kinds = ["behind"] * (place >= ranking.depth) + ["joined"] * (
            scores[place] in scores[place + 1 :]
        )
        yield f'<tr class="{" ".join(kinds)}">{"".join(cells)}</tr>'
        if symbol and place + 1 == ranking.depth:
            line = f"{symbol} = {ranking.symbols[symbol]}"
            yield f'<tr class="cutoff"><td colspan="{len(_heads(ranking))}">{line}</td></tr>'


def _rank(ranking: Ranking, place: int) -> str:
    """A rank, with a bracket if another document has the same score."""
    if not ranking.documents.columns["tied"][place]:
        return f'<th scope="row">{place + 1}</th>'
    return (
        f'<th scope="row" class="tied">{place + 1}<span class="visually-hidden">, tied</span></th>'
    )


def _label(label: float, relevant: bool, largest: float) -> str:
    """A label with its shape, a filled square or an empty circle, and a bar if it is a grade."""
    kind, text = ("yes", "relevant") if relevant else ("no", "not relevant")
    kind, text = ("unknown", "not judged") if np.isnan(label) else (kind, text)
    shape = f'<span class="shape {kind}" title="{text}"></span><span class="visually-hidden">{text}, </span>'
    bar = "" if np.isnan(largest) else _bar(label / (largest or 1.0))
    return f"<td{bar}>{shape}{'?' if np.isnan(label) else number(label)}</td>"


def _numbers(ranking: Ranking, place: int) -> Iterator[str]:
    """What is known of a rank, and what it adds; nothing behind the cutoff."""
    counts = place < ranking.depth
    for column in ranking.columns:
        yield f"<td>{number(column.values[place])}</td>" if counts else "<td></td>"
    parts = [terms.added for terms in (ranking.terms, ranking.ideal) if isinstance(terms, Terms)]
    longest = max((float(np.abs(added).max()) for added in parts), default=0.0) or 1.0
    for added in parts:
        shown = counts and ranking.documents.is_defined
        yield (
            f"<td{_bar(abs(added[place]) / longest)}>{decimal(added[place])}</td>"
            if shown
            else "<td></td>"
        )


def _bar(share: float) -> str:
    return f' class="bar" style="--share: {share:.0%}"'


def _sums(case: Case, ranking: Ranking) -> Iterator[str]:
    """The sum of what the ranks add, its divisor, and the value."""
    ends = "<td></td>" * (ranking.ideal is not None)  # the sum is below what the ranks add
    head = f'<th scope="row" colspan="{len(_heads(ranking)) - 1 - bool(ends)}"><span>'
    labelled = _labelled(case, ranking)
    if labelled and ranking.documents.is_defined:
        above, below = map(escape, labelled)
        yield f"<tr>{head}{above}</span></th><td>{decimal(ranking.numerator)}</td>{ends}</tr>"
        yield f"<tr>{head}÷ {below}</span></th><td>{decimal(ranking.denominator)}</td>{ends}</tr>"
    value = decimal(ranking.documents.value)
    yield f'<tr class="value">{head}{_name(case)}</span></th><td>{value}</td>{ends}</tr>'


def _labelled(case: Case, ranking: Ranking) -> tuple[str, str] | None:
    """What the numerator and the denominator are called in the formula; None if there is no denominator."""
    fraction = leading_fraction(case.metric.record.formula)
    if fraction is None:
        return None
    at_k = "" if case.metric.k is None else f"@{case.metric.k}"
    above, below = (_as_text(part).replace("@k", at_k) for part in fraction)
    if re.fullmatch(r"[kRnN, +()min]{2,}", below):
        below += " = " + re.sub(r"\b[kRnN]\b", lambda found: str(ranking.symbols[found[0]]), below)
    if above.startswith("cov"):  # where both are means over the documents
        below = f"n {below}"
    return above if " pairs" in above or ranking.ideal else "sum", below


def _as_text(latex: str) -> str:
    for pattern, text in AS_TEXT:
        latex = re.sub(pattern, text, latex)
    return latex


def _name(case: Case) -> str:
    return f"<code>{escape(str(case.metric))}</code>"


# --- Pairs


def _arcs(pairs: Pairs, n: int) -> str:
    """Draw an arc for each pair, from one row to the other, the wider the more ranks are between them."""
    arcs, spelled = [], []
    for kind, members in _kinds(pairs):
        spelled.append(
            f"{kind.replace('-', ' ')}: {', '.join(f'ranks {i + 1} and {j + 1}' for i, j in members)}"
        )
        for i, j in members:
            reach, start, end = 4 * ARC * (j - i) // 3, _middle(i), _middle(j)
            arcs.append(
                f'<path class="{kind}" d="M2 {start}C{reach} {start} {reach} {end} 2 {end}"/>'
            )
    size = f'viewBox="0 0 {ARC * n} {ROW * n}" style="--rows: {n}"'
    return f'<svg role="img" aria-label="{"; ".join(spelled)}" {size}>{"".join(arcs)}</svg>'


def _middle(place: int) -> int:
    return ROW * place + ROW // 2


def _kinds(pairs: Pairs) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    for kind, members in (
        ("in-order", pairs.in_order),
        ("inverted", pairs.inverted),
        ("tied", pairs.tied),
    ):
        if members:
            yield kind, members


def _legend(pairs: Pairs) -> str:
    line = '<svg class="key" aria-hidden="true" viewBox="0 0 24 8"><path class="{}" d="M0 4H24"/></svg>'
    parts = [
        f"{line.format(kind)} {len(members)} {kind.replace('-', ' ')}"
        for kind, members in _kinds(pairs)
    ]
    return f'<p class="legend">Pairs that count: {", ".join(parts)}</p>'


# --- The arithmetic in one line


def _arithmetic(case: Case, ranking: Ranking) -> str:
    value = decimal(ranking.documents.value)
    if not ranking.documents.is_defined:
        return f"With {case.metric.undefined}, {_name(case)} is undefined and counts as <strong>{value}</strong>"
    above = (
        _of_pairs(ranking.terms, ranking.numerator)
        if isinstance(ranking.terms, Pairs)
        else _sum_of(ranking.terms)
    )
    below = number(ranking.denominator) if ranking.ideal is None else _sum_of(ranking.ideal)
    ratio = (
        above
        if below == "1" and ranking.ideal is None
        else f"{_grouped(above)} / {_grouped(below)}"
    )
    steps = [_name(case), *([] if ratio == value else [ratio]), f"<strong>{value}</strong>"]
    return " = ".join(steps)


def _of_pairs(pairs: Pairs, numerator: float) -> str:
    """The numerator in numbers of pairs."""
    half = len(pairs.tied) / 2
    good, bad = len(pairs.in_order) + half, len(pairs.inverted) + half
    ways = {
        number(good): good,
        number(bad): bad,
        f"{number(good)} {MINUS} {number(bad)}": good - bad,
    }
    return next(text for text, value in ways.items() if np.isclose(value, numerator))


def _sum_of(terms: Terms) -> str:
    spelled = [_term(terms, place) for place, added in enumerate(terms.added) if added]
    return " + ".join(spelled) or "0"


def _term(terms: Terms, place: int) -> str:
    """What a rank adds, as a product of its factors over its divisor."""
    if not terms.factors:
        return number(terms.added[place])
    factors = [
        number(factor.values[place]) for factor in terms.factors if factor.values[place] != 1
    ] or ["1"]
    product = f" {TIMES} ".join(
        f"({factor})" if factor.startswith(MINUS) else factor for factor in factors
    )
    if terms.divisor is None or terms.divisor.values[place] == 1:
        return product
    between = "/" if product.isdigit() else " / "
    return f"{product}{between}{number(terms.divisor.values[place])}"


def _grouped(text: str) -> str:
    return f"({text})" if " " in text or "/" in text else text


def number(value: float) -> str:
    """A number as it is written by hand: 3, 0.51, 15/16, or 1.585 rounded."""
    fraction = Fraction(float(value)).limit_denominator(LARGEST_DENOMINATOR)
    is_decimal = np.isclose(round(value, DECIMALS), value, rtol=1e-12, atol=0)
    is_fraction = np.isclose(float(fraction), value, rtol=1e-12, atol=0)
    return decimal(value) if is_decimal or not is_fraction else _minus(str(fraction))


def decimal(value: float) -> str:
    """At most four digits after the decimal point."""
    return _minus(f"{value:z.4f}".rstrip("0").rstrip("."))


def _minus(text: str) -> str:
    return text.replace("-", MINUS)
