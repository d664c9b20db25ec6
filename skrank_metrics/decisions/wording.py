"""Tables and notes of comparisons, from their outcomes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from skrank_metrics._output.result import Column, Section, Table, as_text, counted, p_text, signed
from skrank_metrics.decisions.outcome import Outcome, Standing
from skrank_metrics.decisions.planning import detectable
from skrank_metrics.decisions.verdict import (
    best_of,
    by_verdict,
    leaders_of,
    listed,
    queries_of,
    some_of,
)
from skrank_metrics.reports.facts import note_on_largest
from skrank_metrics.reports.mean_intervals import weighting
from skrank_metrics.reports.ranking_report import RankingReport

# Number of rankings whose means in slices are side by side; of more, only that of the leader is shown.
BESIDE = 5
# Longer names would take the room of other columns.
LONGEST_IN_HEAD = 16
# What pages say about columns.
_INTERVAL = (
    "The difference over all queries of this kind is probably between these numbers. "
    "If 0 is not, the rankings differ significantly."
)
_STATUSES = (
    "What these queries show about the ranking. If it leads, may be best or is undecided, they are "
    "too few to decide."
)
_AGAINST = "The baseline that says least in favour of the ranking."
# What some rankings have, by the first word of a finding of their reports.
_HAVE = {
    "have tied scores": "tied scores",
    "has tied scores": "tied scores",
    "the same score for": "queries with equal scores only",
    "Nobody judged": "ranked documents that nobody judged",
}


# The table


def table_of_rankings(outcomes: Sequence[Outcome]) -> Table:
    """One row per ranking: means, how far behind the leader or from the baseline, and what is known about it."""
    first, *others = outcomes
    columns = [Column("", str), Column(first.metric)]
    if first.tested:
        columns += _columns_of_test(first)
    columns += [Column(other.metric, _marked) for other in others]
    rows = []
    for standing in first.standings:
        cells: list[object] = [standing.name, standing.mean]
        if first.tested:
            cells += _cells_of_test(first, standing)
        for other in others:
            leads = standing.name in _leaders_instead(other, first)
            cells.append((other.by_name(other.means.tolist())[standing.name], leads))
        rows.append(cells)
    return Table(columns, rows)


def _leaders_instead(other: Outcome, first: Outcome) -> list[str]:
    """The rankings that lead by another metric, which have a mark, unless the leader by the first is among them."""
    return [] if first.ranked[0] in leaders_of(other) else leaders_of(other)


def _columns_of_test(outcome: Outcome) -> list[Column]:
    baselines = outcome.plan.baselines
    text = signed
    rival = Column(None)  # said by the status, or known
    head, meaning = "minus baseline", "The mean minus that of the baseline."
    if len(baselines) > 1:
        rival = Column("baseline", str, meaning=_AGAINST)
    elif not baselines:
        head = f"minus {outcome.ranked[0]}"
        meaning = "The mean minus that of the leader."
    elif len(baselines[0]) <= LONGEST_IN_HEAD:
        head = f"minus {baselines[0]}"
    return [
        Column(head, text, meaning=meaning),
        rival,
        Column(f"{100 * outcome.plan.confidence:g}% interval", text, meaning=_INTERVAL),
        Column("status", str, meaning=_STATUSES),
    ]


def _cells_of_test(outcome: Outcome, row: Standing) -> list[object]:
    """Distance, rival, interval, and status of a ranking."""
    baselines, status = outcome.plan.baselines, status_of(row)
    if row.name in (baselines or outcome.ranked[:1]):
        return [None, None, None, status]
    return [row.difference, row.reference, row.interval, status]


def status_of(row: Standing) -> str:
    """The status in words."""
    return f"{row.status} than {row.worse_than}" if row.worse_than else row.status


def _marked(cell: tuple[float, bool]) -> str:
    mean, is_marked = cell
    return f"{'*' * is_marked}{as_text(mean)}"


# Slices


def slices(outcomes: Mapping[str, Outcome], n_slices: int) -> Iterator[Section]:
    """One row per slice that is shown, by its name."""
    if not outcomes:
        return
    first = next(iter(outcomes.values()))
    are_beside = len(first.names) <= BESIDE
    heads = first.names if are_beside else [f"leader's {first.metric}"]
    known = "status" if first.plan.baselines else "best"
    columns = [Column("slice", str), Column("queries"), *map(Column, heads), Column(known, str)]
    rows = []
    for value, outcome in outcomes.items():
        names = first.names if are_beside else outcome.ranked[:1]
        of_names = outcome.by_name(outcome.means.tolist())
        means = [of_names[name] for name in names]
        rows.append((value, outcome.n_queries, *means, _known_in_slice(outcome)))
    yield Table(columns, rows)
    n_tests = counted(first.decision.n_tests, "comparison")
    yield f"Slices are compared by {first.metric}, with {n_tests} tested together."
    yield from note_on_largest(len(outcomes), n_slices, ".slices")


def _known_in_slice(outcome: Outcome) -> str:
    """The rankings that may be the best of a slice, or what is known beside baselines."""
    if not outcome.plan.baselines:
        return some_of(best_of(outcome), "or")
    known = by_verdict(outcome).items()
    return "; ".join(f"{some_of(names)} {verdict}" for verdict, names in known if names)


# Notes


def notes(outcomes: Sequence[Outcome], reports: Mapping[str, RankingReport]) -> Iterator[str]:
    """What to keep in mind, the most important first."""
    first, *others = outcomes
    marked = [other.metric for other in others if _leaders_instead(other, first)]
    if marked:
        yield f"* leads by {listed(marked)}."
    if first.tested:
        yield from _left_out(first)
    yield from _folds(first)
    if first.tested:
        yield from _about_queries(first)
    yield from findings(reports)
    for outcome in outcomes:
        if outcome.margin:
            yield f"Margin of {outcome.metric}: losses below {outcome.margin:g} do not matter."
    if first.tested:
        yield _how(first)
    yield from weighting(next(iter(reports.values())).weights)


def _left_out(outcome: Outcome) -> Iterator[str]:
    if outcome.n_undefined:
        queries = queries_of(outcome)
        yield f"Rankings are compared on {queries} with a value of {outcome.metric} in each."


def _folds(outcome: Outcome) -> Iterator[str]:
    """How many folds the leader won, and whether folds widen the intervals."""
    won, folds, leader = outcome.folds_won(), outcome.queries.folds, outcome.ranked[0]
    if folds is None:
        return
    n_folds = len(np.unique(folds))
    if not outcome.tested:
        yield f"Cross-validated in {n_folds} folds."
        return
    allows = "The verdict allows for training on other data."
    if outcome.decision.folds_vary:
        allows = "The folds disagree more than the queries do, so the intervals were widened."
    yield f"Cross-validated: {leader} is best in {won[leader]} of {n_folds} folds. {allows}"


def _about_queries(outcome: Outcome) -> Iterator[str]:
    """What so many queries can show, how many each of two rankings wins, and which depend on each other."""
    queries, difference = queries_of(outcome), detectable(outcome.decision)
    if len(best_of(outcome)) > 1 and not math.isnan(difference):
        digits = np.format_float_positional(difference, 2, fractional=False, trim="-")
        yield f"{queries} can show differences of {digits} or more."
    if len(outcome.names) == 2:
        pair = outcome.pair(*outcome.ranked)
        yield f"{pair.first} is better on {pair.wins} of {queries}, {pair.second} on {pair.losses}."
    if outcome.queries.groups is not None:
        groups = counted(outcome.decision.n_units, "group")
        yield f"Queries of a group are not independent, so the tests are over {groups}."


def _how(outcome: Outcome) -> str:
    """The test, and the comparisons that it was corrected for."""
    if outcome.decision.is_too_few:
        return (
            "Too few queries differ for a test. Intervals follow from wins and losses, if at all."
        )
    comparisons = counted(outcome.decision.n_tests, "comparison")
    return f"Intervals are from a paired permutation test, and hold together for {comparisons}."


def findings(reports: Mapping[str, RankingReport]) -> Iterator[str]:
    """Findings about the data of all rankings, then those about some."""
    by_name = {name: report.health.findings for name, report in reports.items()}
    of_all = set.intersection(*map(set, by_name.values()))
    yield from (finding for finding in next(iter(by_name.values())) if finding in of_all)
    names_of: dict[str, list[str]] = {}
    for name, found in by_name.items():
        for finding in found:
            if finding in of_all:
                continue
            kinds = (kind for words, kind in _HAVE.items() if words in finding)
            what = next(kinds, finding)
            names = names_of.setdefault(what, [])
            # A ranking has ties once, however many findings say so.
            if name not in names:
                names.append(name)
    for what, names in names_of.items():
        if what in _HAVE.values():
            have = "has" if len(names) == 1 else "have"
            yield f"{some_of(names)} {have} {what}; see the report of {names[0]}."
        else:
            yield f"{some_of(names)}: {what}"


# Details


def details(outcomes: Sequence[Outcome]) -> Iterator[Section]:
    """Per metric, what the table leaves out: p-values, letters and regret."""
    tested = [outcome for outcome in outcomes if outcome.tested]
    for outcome in tested:
        yield _table_of_details(outcome)
    if tested:
        yield (
            "p: how likely a gap this large is between equal rankings. Rankings that share a letter are not "
            "significantly different. regret: the most that choosing a ranking loses."
        )


def _table_of_details(outcome: Outcome) -> Table:
    columns = (
        Column("", str),
        Column(outcome.metric),
        Column("p", p_text),
        Column("letters", str),
        Column("regret"),
        Column("status", str),
    )
    letters_of = outcome.by_name(outcome.decision.letters)
    rows = []
    for row in outcome.standings:
        p = None if math.isnan(row.p_value) else row.p_value
        rows.append((row.name, row.mean, p, letters_of[row.name], row.regret, row.status))
    return Table(columns, rows)
