"""Names, numbers and statuses in sentences, what queries can show, and notes, from decisions and names alone.

Differences are always a ranking minus its reference: the baseline, or without one the leader. Tables show them with
their sign; sentences have verbs instead.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from skrank_metrics._output.result import (
    WIDTH,
    Note,
    Section,
    counted,
    exact_end,
)
from skrank_metrics.decisions.outcome import Outcome, Standing, gate_of
from skrank_metrics.decisions.planning import detectable, queries_to_decide
from skrank_metrics.reports.health import NOT_CHECKED
from skrank_metrics.reports.mean_intervals import weighting
from skrank_metrics.reports.ranking_report import RankingReport

MOST_NAMED = 4  # more names in a sentence are counted
LONGEST_MORE = WIDTH - len("More: ")
# Statuses beside several baselines, which they name.
_AGAINST = {
    "better": "better than {}",
    "equivalent": "equivalent to {}",
    "not worse": "not worse than {}",
    "small loss": "small loss against {}",
    "undecided": "undecided against {}",
    "worse": "worse than {}",
}
# What some rankings have, by words of a finding of their reports; with the number of queries, if it is given.
_HAVE = {
    "tied scores": "tied scores",
    "the same score for": "the same score for all documents",
    "Nobody judged": "documents that nobody judged",
}

# Names and numbers


def some_of(names: Sequence[str], word: str = "and") -> str:
    """Names in a sentence; only the first ones and the number of the others if there are many."""
    if len(names) > MOST_NAMED:
        return listed([*names[:1], f"{len(names) - 1} others"], word)
    return listed(names, word)


def listed(names: Sequence[str], word: str = "and") -> str:
    """Names in a sentence: "a", "a and b", "a, b and c"; with semicolons if names have commas."""
    *front, last = names
    if not front:
        return last
    comma = "; " if any(", " in name for name in names) else ", "
    return f"{comma.join(front)} {word} {last}"


def with_verb(names: Sequence[str], verb: str = "are") -> str:
    """Names with their verb, of which one is "is" or ends in "s"."""
    if len(names) == 1:
        verb = "is" if verb == "are" else f"{verb}s"
    return f"{some_of(names)} {verb}"


def confidence_of(outcome: Outcome, n_metrics: int = 1) -> str:
    """The level at which a sentence, or one about each of several metrics, holds."""
    each = ", each" if n_metrics > 1 else ""
    return f"({100 * outcome.plan.confidence:g}% confidence{each})"


def margin_of(outcome: Outcome) -> str:
    """The margin as it was typed."""
    return f"{outcome.margin:g}"


def amount_of(outcome: Outcome, number: float) -> str:
    """The size of a gain or a loss, which shows on which side of the margin it is."""
    return exact_end(abs(number), limits=(0.0, outcome.margin or 0.0))


def amounts_of(outcome: Outcome, i: int, j: int) -> str:
    """How much better or worse a ranking is than another one."""
    ends = sorted((abs(outcome.decision.low[i, j]), abs(outcome.decision.high[i, j])))
    return " to ".join(amount_of(outcome, end) for end in ends)


def units_of(outcome: Outcome, number: float) -> str:
    """A number of what is independent: queries, or groups of them."""
    return counted(int(number), "query" if outcome.queries.groups is None else "group")


def n_folds_of(outcome: Outcome) -> int:
    """Number of folds; 0 if rankings are not out of fold."""
    folds = outcome.queries.folds
    return 0 if folds is None else len(np.unique(folds))


# Statuses


def is_open(outcome: Outcome) -> bool:
    """Whether more queries may show more."""
    return bool({"highest", "may be as good", "undecided"} & set(outcome.decision.statuses))


def status_of(outcome: Outcome, row: Standing) -> str:
    """The status in words, which name the other ranking where that is not clear."""
    if row.worse_than:
        return f"worse than {row.worse_than}"
    if row.status == "highest" and not outcome.bound.greater_is_better:
        return "lowest"
    if len(outcome.plan.baselines) > 1 and row.status in _AGAINST:
        return _AGAINST[row.status].format(row.reference)
    return row.status


def with_status(outcome: Outcome, *statuses: str) -> list[str]:
    """Names of the rankings with one of these statuses, best first."""
    return [row.name for row in outcome.standings if row.status in statuses]


def contradicts(outcome: Outcome, leader: str) -> list[str]:
    """The rankings that are better than the leader by another metric, best first."""
    i = outcome.names.index(leader)
    return [outcome.names[j] for j in outcome.order if outcome.decision.better[j, i]]


def guards_of(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes that decide about a release."""
    return [outcome for outcome in outcomes if outcome.tested and outcome.margin is not None]


def queries_needed_by(guards: Sequence[Outcome], names: Sequence[str]) -> str:
    """How many queries would show that rankings are not worse, if they are as good; nothing if that is not known."""
    needed = []
    for guard in guards:
        decision = guard.decision
        for name in names:
            i = guard.names.index(name)
            if decision.statuses[i] == "undecided":
                needed.append(queries_to_decide(decision, i, int(decision.references[i])))
    known = [number for number in needed if number is not None]
    # A number for some of them would be taken for all.
    if not known or len(known) < len(needed):
        return ""
    is_one = len(names) == 1
    baselines = some_of(guards[0].plan.baselines)
    who = "it" if is_one and len(guards[0].names) == 2 else some_of(names)
    are = "is" if is_one else "are"
    number = math.ceil(max(known) / 10) * 10
    return f"If {who} {are} as good as {baselines}, about {number:,} queries are needed to show it."


# Metrics that decide


def blocks_of(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes that have a block: the first, those with a margin, and those that say otherwise."""
    first, *others = outcomes
    blocks = [first]
    if not first.tested:
        return blocks
    for other in others:
        decides = other.margin is not None or (other.tested and _says_otherwise(first, other))
        blocks += [other] * (other.tested and decides)
    return blocks


def _says_otherwise(first: Outcome, other: Outcome) -> bool:
    """Whether a ranking is better by one metric and worse by the other, or better than the leader by the first."""
    if not first.plan.baselines:
        return bool(contradicts(other, first.ranked[0]))
    both = zip(first.decision.statuses, other.decision.statuses, strict=True)
    return any({"better", "worse"} == set(statuses) for statuses in both)


# What these queries can show, and notes


def read_of(reports: Mapping[str, RankingReport]) -> list[str]:
    """How the files of all rankings were read, in a sentence; nothing without files."""
    names_of: dict[str, list[str]] = {}
    for report in reports.values():
        for file in report.origin.files:
            names = names_of.setdefault(file.form, [])
            name = os.path.basename(file.name)
            if name not in names:
                names.append(name)
    if not names_of:
        return []
    parts = []
    for form, names in names_of.items():
        what = f"{form.removeprefix('a ')}s" if len(names) > 1 and form.startswith("a ") else form
        parts.append(f"{some_of(names)} as {what}")
    return [f"Read: {', '.join(parts)}."]


def can_show(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """How large a difference these queries detect, or how many are needed, if something is open."""
    first = outcomes[0]
    guards = guards_of(outcomes)
    if guards:
        n_challengers = len(first.names) - len(first.plan.baselines)
        undecided = [
            row.name
            for row in first.standings
            if gate_of([row.name], guards)[row.name] == "undecided"
        ]
        undecided = [name for name in undecided if name not in first.plan.baselines]
        needed = queries_needed_by(guards, undecided) if undecided else ""
        if needed and (n_challengers > 1 or len(first.plan.baselines) > 1):
            yield needed
        # The verdict on a single challenger has it.
        if needed or not undecided:
            return
    for outcome in blocks_of(outcomes):
        if not is_open(outcome):
            continue
        size = detectable(outcome.decision)
        if math.isnan(size):
            continue
        digits = np.format_float_positional(size, 2, unique=False, fractional=False, trim="k")
        what = units_of(outcome, outcome.decision.n_units)
        if n_folds_of(outcome) > 1:
            what = "These folds"
        yield f"{what} usually detect a true difference of {digits.rstrip('.')} (4 times in 5)."
        return


def notes_of(
    outcomes: Sequence[Outcome], reports: Mapping[str, RankingReport], *, has_slices: bool
) -> Iterator[Section]:
    """What to keep in mind: first what weakens the verdict, then what is so in all rankings, then in some."""
    first = outcomes[0]
    if first.tested:
        if len(first.plan.baselines) > 1:
            yield Note("Each row shows the baseline against which it does worst", ".pairs has all")
        decision = first.decision
        if decision.is_too_few and decision.n_changed.any():
            uses = "interval uses" if len(first.names) == 2 else "intervals use"
            yield f"Few queries differ, so the {uses} only the counts of wins and losses."
        if not decision.is_too_few and len(blocks_of(outcomes)) == 1:
            yield from _wins(first)
        yield from _folds(first)
        if first.queries.groups is not None:
            yield "Queries of a group are not independent, so groups count, not queries."
        if has_slices and first.plan.margin is not None:
            yield "Slices change neither the decision nor the exit code."
        if first.n_undefined:
            have, are = ("has", "is") if first.n_undefined == 1 else ("have", "are")
            queries = counted(first.n_undefined, "query")
            yield f"{queries} {have} no value of {first.metric} in some ranking and {are} left out."
    yield from weighting(next(iter(reports.values())).weights)
    yield from findings(reports)


def _wins(outcome: Outcome) -> Iterator[str]:
    """On how many queries each of two rankings is better, and in how many folds the leader is."""
    folds = outcome.folds_won()
    leader = outcome.ranked[0]
    n_folds = n_folds_of(outcome)
    best = f"{leader} is best in {folds[leader]} of {n_folds} folds" if n_folds > 1 else ""
    if len(outcome.names) != 2 or outcome.plan.baselines:
        if best:
            yield f"{best}. {_allows(outcome, n_folds)}"
        return
    pair = outcome.pair(*outcome.ranked)
    if not pair.wins and not pair.losses:
        return
    queries = f"{pair.wins} of {counted(len(pair.qid), 'query')}"
    won = f"{best}, and on {queries}; " if best else f"{pair.first} is better on {queries}, "
    equal = f"; they are equal on {pair.ties}" if pair.ties and not best else ""
    yield f"{won}{pair.second} on {pair.losses}{equal}."


def _folds(outcome: Outcome) -> Iterator[str]:
    """Whether intervals allow for training on other data, and what to do if not."""
    n_folds = n_folds_of(outcome)
    if n_folds == 1:
        these = {2: "these two fitted models"}.get(len(outcome.names), "these fitted models")
        yield (
            f"This is about new queries for {these}. After training on other data, the order may change; "
            "cv=QueryKFold(5) allows for that."
        )
    elif n_folds and len(outcome.names) == 2 and not outcome.plan.baselines:
        yield _allows(outcome, n_folds)


def _allows(outcome: Outcome, n_folds: int) -> str:
    is_one = len(outcome.names) == 2
    text = "The interval allows" if is_one else "The intervals allow"
    text += " for training on other data."
    if outcome.decision.folds_vary:
        wider = "it is wider" if is_one else "they are wider"
        text += f" Results vary more between folds than chance explains, so {wider}."
    return text


def findings(reports: Mapping[str, RankingReport]) -> Iterator[Section]:
    """Findings about the data of all rankings, then those about some."""
    by_name = {}
    for name, report in reports.items():
        by_name[name] = [finding for finding in report.health.findings if finding != NOT_CHECKED]
    of_all = set.intersection(*map(set, by_name.values()))
    yield from (finding for finding in next(iter(by_name.values())) if finding in of_all)
    names_of: dict[str, dict[str, str]] = {}
    for name, found in by_name.items():
        for finding in found:
            if finding in of_all:
                continue
            kinds = [what for words, what in _HAVE.items() if words in finding]
            queries = finding.partition(" ha")[0] if finding[0].isdigit() else ""
            # A ranking has ties once, however many findings say so.
            names_of.setdefault(kinds[0] if kinds else finding, {}).setdefault(name, queries)
    for what, queries_of in names_of.items():
        names = list(queries_of)
        if what not in _HAVE.values():
            yield f"{some_of(names)}: {what}"
            continue
        on = f" on {queries_of[names[0]]}" if len(names) == 1 and queries_of[names[0]] else ""
        have = "has" if len(names) == 1 else "have"
        yield Note(f"{some_of(names)} {have} {what}{on}", f'see .reports["{names[0]}"]')


def more_of(outcomes: Sequence[Outcome], *, can_inspect: bool) -> str:
    """The calls that this result makes useful."""
    first = outcomes[0]
    if not first.tested:
        return ""
    ahead = [outcome for outcome in blocks_of(outcomes)[1:] if outcome.margin is None]
    if ahead:
        return f'name the metric that matters to you first; .by_metric("{ahead[0].metric}")'
    if first.plan.baselines:
        undecided = with_status(first, "undecided")
        if first.plan.margin is None and undecided:
            return f"pass margin=, the loss you would accept, to decide on {some_of(undecided)}"
        return ""
    if len(first.names) != 2 or first.decision.is_too_few:
        return ""
    one, other = first.ranked
    if first.decision.inside.sum() == 1:
        return ".worst(), .inspect(), .details()" if can_inspect else ".worst(), .details()"
    call = f'compare(result, baseline="{other}", margin=...)'
    purpose = f" says whether {one} may replace {other}"
    return call + purpose if len(call + purpose) <= LONGEST_MORE else call
