"""What is said about rankings: verdict, statuses, notes, tables and details, from decisions and names alone.

Differences are always a ranking minus its reference: the baseline, or without one the leader. Tables show them with
their sign; sentences have verbs instead.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from skrank_metrics._output.result import (
    WIDTH,
    Column,
    Note,
    Section,
    Table,
    Terms,
    as_text,
    counted,
    exact_end,
    p_text,
    signed,
)
from skrank_metrics.decisions.outcome import Gate, Outcome, Standing, gate_of
from skrank_metrics.decisions.planning import detectable, queries_to_decide
from skrank_metrics.decisions.signs import MOST_ENUMERATED, N_SIGNS
from skrank_metrics.reports.health import NOT_CHECKED
from skrank_metrics.reports.mean_intervals import AVERAGES_WITHOUT_INTERVAL, weighting
from skrank_metrics.reports.ranking_report import RankingReport

# More names in a sentence, and more rankings or slices in a table, are counted.
MOST_NAMED, MOST_ROWS, MOST_SLICES = 4, 12, 12
ROWS_OF_MANY = 10
LONGEST_MORE = WIDTH - len("More: ")
# Longer names would take the room of other columns.
LONGEST_IN_HEAD = 16
# Means in slices are side by side for so many rankings.
BESIDE = 5
_INTERVAL = (
    "The difference over all queries of this kind is probably between these numbers, for all rows at once. "
    "If 0 is not, the rankings differ."
)
_STATUS = "What these queries show about the ranking."
_DIFFERENCE = "The mean minus that of the ranking in the head."
_TERMS: dict[Gate, str] = {"ship": "Ship", "undecided": "Not yet", "do not ship": "Do not ship"}
_RELEASES: dict[Gate, str] = {
    "ship": "Ship {}",
    "undecided": "Do not ship {} yet",
    "do not ship": "Do not ship {}",
}
# Statuses beside several baselines, which they name.
_AGAINST = {
    "better": "better than {}",
    "equivalent": "equivalent to {}",
    "not worse": "not worse than {}",
    "small loss": "small loss against {}",
    "undecided": "undecided against {}",
    "worse": "worse than {}",
}
# What several rankings are.
_ARE = {"highest": "score highest", "lowest": "score lowest", "may be as good": "may be as good"}
# What some rankings have, by words of a finding of their reports; with the number of queries, if it is given.
_HAVE = {
    "tied scores": "tied scores",
    "the same score for": "the same score for all documents",
    "Nobody judged": "documents that nobody judged",
}


# Names and numbers in sentences


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


def _are(names: Sequence[str], verb: str = "are") -> str:
    """Names with their verb, of which one is "is" or ends in "s"."""
    if len(names) == 1:
        verb = "is" if verb == "are" else f"{verb}s"
    return f"{some_of(names)} {verb}"


def _confidence(outcome: Outcome, n_metrics: int = 1) -> str:
    """The level at which a sentence, or one about each of several metrics, holds."""
    each = ", each" if n_metrics > 1 else ""
    return f"({100 * outcome.plan.confidence:g}% confidence{each})"


def _margin(outcome: Outcome) -> str:
    return f"{outcome.margin:g}"


def _amount(outcome: Outcome, number: float) -> str:
    """The size of a gain or a loss, which shows on which side of the margin it is."""
    return exact_end(abs(number), limits=(0.0, outcome.margin or 0.0))


def _amounts(outcome: Outcome, i: int, j: int) -> str:
    """How much better or worse a ranking is than another one."""
    ends = sorted((abs(outcome.decision.low[i, j]), abs(outcome.decision.high[i, j])))
    return " to ".join(_amount(outcome, end) for end in ends)


def _units(outcome: Outcome, number: float) -> str:
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


def _with_status(outcome: Outcome, *statuses: str) -> list[str]:
    return [row.name for row in outcome.standings if row.status in statuses]


def contradicts(outcome: Outcome, leader: str) -> list[str]:
    """The rankings that are better than the leader by another metric, best first."""
    i = outcome.names.index(leader)
    return [outcome.names[j] for j in outcome.order if outcome.decision.better[j, i]]


# The verdict


def verdict_of(
    outcomes: Sequence[Outcome], slices: Mapping[str, Outcome], noun: str
) -> list[Section]:
    """What to do, then what is known: by the first metric, and by those that have margins or say otherwise."""
    first, *others = outcomes
    if len(first.names) < 2:
        return []
    if not first.tested:
        best = first.means[first.order[0]]
        leaders = [first.names[i] for i in first.order if first.means[i] == best]
        highest = (
            f"{_are(leaders, 'score')} {_highest(first)}" if leaders else "No ranking has a value"
        )
        return [f"{highest} by {first.metric}. This is no mean over queries, so nothing is tested."]
    tested = [first, *(outcome for outcome in others if outcome.tested)]
    if all(map(_is_too_few, blocks_of(outcomes))):
        return [_too_few(first, noun)]
    if first.plan.margin is not None:
        sections = _gate(tested)
    elif first.plan.baselines:
        sections = [_beside_baseline(tested)]
    else:
        sections = [_about_the_best(tested)]
    further = [*_skew(first, noun), *_in_slices(first, slices)]
    if isinstance(sections[-1], str):
        return [*sections[:-1], " ".join([sections[-1], *further])]
    return [*sections, *further]


def _highest(outcome: Outcome) -> str:
    return "highest" if outcome.bound.greater_is_better else "lowest"


def _is_too_few(outcome: Outcome) -> bool:
    """Whether so few queries differ that nothing can be shown."""
    is_open = {"highest", "may be as good", "undecided", "baseline"}.issuperset
    # Equal rankings pass a gate once there are enough queries.
    is_gate = outcome.margin is not None and not outcome.decision.n_changed.any()
    return not is_gate and outcome.decision.is_too_few and is_open(outcome.decision.statuses)


def _too_few(outcome: Outcome, noun: str) -> str:
    """Why there is no verdict if so few queries differ that nothing can be shown."""
    decision = outcome.decision
    changed = np.where(np.isnan(decision.p_adjusted), 0.0, decision.n_changed)
    most = int(changed.max())
    if most == 0:
        return f"No verdict: the {noun}s are the same on every query."
    is_one = len(outcome.names) == 2
    at_most = "" if is_one else "at most "
    text = (
        f"No verdict: the {noun}s differ on {at_most}{_units(outcome, most)}, and at least {decision.least_units} are "
        "needed."
    )
    leader, other = decision.order[:2]
    if is_one and decision.n_won[leader, other] == most:
        higher = "higher" if outcome.bound.greater_is_better else "lower"
        which = "it" if most == 1 else f"all {most}"
        text += f" {outcome.names[leader]} scores {higher} on {which}."
    return text


def _about_the_best(outcomes: Sequence[Outcome]) -> str:
    first, *others = outcomes
    leader = first.ranked[0]
    claims = [_best(first)]
    is_claimed = bool(_with_status(first, "best", "worse"))
    ahead: dict[tuple[str, ...], list[Outcome]] = {}
    for other in others:
        names = tuple(contradicts(other, leader))
        if names:
            ahead.setdefault(names, []).append(other)
    for names, by in ahead.items():
        better = f"by {listed([other.metric for other in by])}, {_are(names)} better than {leader}"
        if len(names) == len(by) == 1:
            i, j = map(by[0].names.index, (names[0], leader))
            better += f", by {_amounts(by[0], i, j)}"
        claims.append(better)
    text = "; ".join(claims)
    if others:
        text = f"By {first.metric}, {text}"
    elif not is_claimed:
        text = f"Too close to call: {text}"
    level = _confidence(first, 1 + len(ahead))
    loss = _loss_of_the_leader(first)
    if loss:
        # One statement covers all that is said.
        return f"{text}. {loss} {level}."
    return f"{text} {level}." if is_claimed or ahead else f"{text}."


def _best(outcome: Outcome) -> str:
    """What is known by one metric, such as "a scores highest; b may be as good; c is worse"."""
    ranked, decision = outcome.ranked, outcome.decision
    if decision.inside.sum() == 1:
        leader, *others = ranked
        text = f"{leader} is better than {some_of(others)}"
        if len(others) == 1:
            i, j = decision.order[:2]
            text += f", by {_amounts(outcome, i, j)}"
        return text
    highest = _with_status(outcome, "highest")
    text = _are(highest, "score") + f" {_highest(outcome)}"
    if len(highest) > 1 and _are_the_same(outcome, highest):
        text += ", the same on every query"
    as_good = _with_status(outcome, "may be as good")
    worse = _with_status(outcome, "worse")
    if not as_good and not worse:
        return text
    if as_good and len(ranked) == 2:
        return f"{text}, {as_good[0]} may be as good"
    parts = [text]
    if as_good:
        parts.append(f"{some_of(as_good)} may be as good")
    if worse:
        n_worse = worse if len(worse) <= MOST_NAMED else [str(len(worse))] * 2
        parts.append(
            f"{n_worse[0]} are worse" if len(worse) > MOST_NAMED else f"{_are(worse)} worse"
        )
    return "; ".join(parts)


def _are_the_same(outcome: Outcome, names: Sequence[str]) -> bool:
    numbers = [outcome.names.index(name) for name in names]
    return not outcome.decision.n_changed[np.ix_(numbers, numbers)].any()


def _loss_of_the_leader(outcome: Outcome) -> str:
    """The most that choosing the leader loses; nothing if it alone may be the best, or if that is not known."""
    leader = int(outcome.decision.order[0])
    regret = float(outcome.decision.regret[leader])
    if regret == 0 or not math.isfinite(regret):
        return ""
    choice = f"If you choose {outcome.names[leader]}, "
    if outcome.bound.greater_is_better:
        return f"{choice}you lose at most {_amount(outcome, regret)}"
    return f"{choice}it is worse by at most {_amount(outcome, regret)}"


def _beside_baseline(outcomes: Sequence[Outcome]) -> str:
    """What is known about all others and a baseline without a margin."""
    first, *others = outcomes
    blocks = blocks_of(outcomes)
    claims = [_known_beside(outcome) for outcome in blocks]
    if others:
        claims = [f"by {own.metric}, {claim}" for own, claim in zip(blocks, claims, strict=True)]
    text = "; ".join(claims)
    is_claimed = any(_with_status(outcome, "better", "worse") for outcome in blocks)
    if is_claimed or len(first.names) == 2:
        text += f" {_confidence(first, len(blocks))}"
    if others or text.startswith("none is"):
        text = text[0].upper() + text[1:]
    return f"{text}."


def _known_beside(outcome: Outcome) -> str:
    """What is known by one metric, such as "a is better than b; c is undecided"."""
    baselines = outcome.plan.baselines
    names = [name for name in outcome.ranked if name not in baselines]
    if len(names) == len(baselines) == 1:
        return f"{names[0]} {_claim(outcome, outcome.names.index(names[0]))}"
    baseline = some_of(baselines) if len(baselines) == 1 else f"each of {some_of(baselines)}"
    better, undecided, worse = (
        _with_status(outcome, status) for status in ("better", "undecided", "worse")
    )
    rest = []
    if undecided:
        rest.append(f"{_are(undecided)} undecided")
    if worse:
        rest.append(f"{_are(worse)} worse")
    if not better:
        return f"none is shown to be better than {baseline}: {', '.join(rest)}"
    return "; ".join([f"{_are(better)} better than {baseline}", *rest])


# Gates


def _guards(outcomes: Sequence[Outcome]) -> list[Outcome]:
    return [outcome for outcome in outcomes if outcome.tested and outcome.margin is not None]


def _gate(outcomes: Sequence[Outcome]) -> list[Section]:
    """What to ship, by all metrics that have a margin."""
    first, guards = outcomes[0], _guards(outcomes)
    names = [name for name in first.ranked if name not in first.plan.baselines]
    gates = gate_of(names, guards)
    if len(names) == 1 and len(first.plan.baselines) == 1:
        return [_one_gate(names[0], gates[names[0]], guards)]
    which = some_of(first.plan.baselines)
    if len(first.plan.baselines) > 1:
        which = f"each of {which}"
    margins = {_margin(guard) for guard in guards}
    margin = f"a margin of {margins.pop()}"
    if margins:
        margin = (
            f"margins of {', '.join(f'{_margin(guard)} for {guard.metric}' for guard in guards)}"
        )
    items = []
    for gate, term in _TERMS.items():
        texts = [_reason(name, gate, guards) for name in names if gates[name] == gate]
        if len(texts) > MOST_NAMED:
            texts = [f"{texts[0]} and {len(texts) - 1} others"]
        if texts:
            items.append((term, ", ".join(texts)))
    return [
        f"Against {which}, with {margin} {_confidence(first, len(guards))}:",
        Terms(items, max(map(len, _TERMS.values()))),
    ]


def _reason(name: str, gate: Gate, guards: Sequence[Outcome]) -> str:
    """A ranking with its status by all metrics, or by those that stop it."""
    stops = {"undecided": "undecided", "do not ship": "worse"}.get(gate)
    reasons = []
    for guard in guards:
        row = next(row for row in guard.standings if row.name == name)
        if stops and row.status != stops:
            continue
        i, j = guard.names.index(name), guard.names.index(row.reference)
        text = status_of(guard, row)
        if row.status == "small loss":
            text += f": {_amounts(guard, i, j)}"
        elif row.status == "undecided":
            text += f": {_may_lose(guard, i, j)}"
        reasons.append(f"{guard.metric} {text}" if len(guards) > 1 else text)
    return f"{name} ({', '.join(reasons)})"


def _may_lose(outcome: Outcome, i: int, j: int) -> str:
    low = outcome.decision.low[i, j]
    loss = f"up to {_amount(outcome, low)}" if math.isfinite(low) else "any amount"
    if outcome.bound.greater_is_better:
        return f"may lose {loss}"
    return f"may be worse by {loss}"


def _one_gate(name: str, gate: Gate, guards: Sequence[Outcome]) -> str:
    """The decision on the only challenger, and why, with what is good first."""
    number = guards[0].names.index(name)
    good: list[str] = []
    bad: list[str] = []
    for guard in guards:
        is_first = guard is guards[0]
        by = f"by {guard.metric} " if len(guards) > 1 else ""
        known = _claim(guard, number, names_baseline=is_first)
        if by and guard.decision.statuses[number] == "better":
            known = known.partition(",")[0]
        claim = f"{by}it {known}"
        stops = guard.decision.statuses[number] in ("undecided", "worse")
        (bad if stops else good).append(claim)
    reasons = " and ".join(good)
    if bad:
        reasons = ", but ".join(filter(None, [reasons, " and ".join(bad)]))
    release = _RELEASES[gate].format(name)
    text = f"{release}: {reasons} {_confidence(guards[0], len(guards))}."
    needed = _queries_needed(guards, [name]) if gate == "undecided" else ""
    return f"{text} {needed}".rstrip(" .") + (
        f"; these are {guards[0].n_queries:,}." if needed else "."
    )


def _claim(outcome: Outcome, i: int, *, names_baseline: bool = True) -> str:
    """What is known about a ranking and its baseline, after its name."""
    decision = outcome.decision
    j, status = int(decision.references[i]), decision.statuses[i]
    baseline = outcome.names[j]
    if status == "better":
        return f"is better than {baseline}, by {_amounts(outcome, i, j)}"
    if status == "not worse":
        return f"is not worse than {baseline} by more than {_margin(outcome)}"
    if status == "equivalent":
        return f"is equivalent to {baseline} within {_margin(outcome)}"
    against = f" against {baseline}" if names_baseline and outcome.bound.greater_is_better else ""
    if status == "undecided":
        return f"{_may_lose(outcome, i, j)}{against}{_as_open(outcome, i, j)}"
    loses = f"loses {_amounts(outcome, i, j)}{against}"
    if not outcome.bound.greater_is_better:
        loses = f"is worse than {baseline} by {_amounts(outcome, i, j)}"
    return (
        f"{loses}, less than the margin of {_margin(outcome)}" if status == "small loss" else loses
    )


def _as_open(outcome: Outcome, i: int, j: int) -> str:
    """Why a ranking is undecided."""
    if outcome.margin is None:
        high = outcome.decision.high[i, j]
        gain = f"up to {_amount(outcome, high)}" if math.isfinite(high) else "any amount"
        return f", or gain {gain}" if outcome.bound.greater_is_better else f", or better by {gain}"
    if outcome.decision.largest_loss <= outcome.margin:
        return (
            f", and a margin of {_margin(outcome)} accepts any loss: no query can lose more than "
            f"{outcome.decision.largest_loss:.4g}"
        )
    return f", more than the margin of {_margin(outcome)}"


def _queries_needed(guards: Sequence[Outcome], names: Sequence[str]) -> str:
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


# What can turn the verdict round


def _skew(outcome: Outcome, noun: str) -> Iterator[str]:
    """That few queries weigh much, if something is claimed."""
    skew = outcome.decision.skew
    if skew is None:
        return
    n_units = outcome.decision.n_units
    what = "it"
    if len(outcome.names) > 2:
        what = f"what is said of {outcome.names[skew.first]} and {outcome.names[skew.second]}"
    if skew.n_tail == 0:
        yield (
            f"Do not rely on {what}: all {_units(outcome, n_units)} differ by the same amount, so nothing shows how "
            "much they vary."
        )
        return
    loses = "loses" if skew.n_tail == 1 else "lose"
    yield (
        f"Do not rely on {what}: {skew.n_tail} of {_units(outcome, n_units)} {loses} {skew.ratio:.1f} times as much as "
        "the others win, and so few may not show how often that happens."
    )


def _in_slices(whole: Outcome, slices: Mapping[str, Outcome]) -> Iterator[str]:
    """In which slices a ranking is worse than its baseline, or the leader than another one."""
    baselines = whole.plan.baselines
    found: dict[str, list[str]] = {}
    size = ""
    for value, outcome in slices.items():
        decision = outcome.decision
        if not baselines:
            leader = whole.ranked[0]
            better = contradicts(outcome, leader)
            if better:
                found.setdefault(leader, []).append(value)
                i, j = outcome.names.index(better[0]), outcome.names.index(leader)
                size = f", by {_amounts(outcome, i, j)}"
            continue
        for i, name in enumerate(outcome.names):
            if decision.statuses[i] == "worse":
                found.setdefault(name, []).append(value)
                size = f", by {_amounts(outcome, i, int(decision.references[i]))}"
    if not found:
        return
    level = _confidence(whole)
    if len(found) == 1:
        ((name, values),) = found.items()
        what = "it is worse" if len(whole.names) == 2 else f"{name} is worse"
        if not baselines:
            other = whole.ranked[1] if len(whole.names) == 2 else "another one"
            what = f"{other} is better"
        size = size if len(values) == 1 else ""
        yield (
            f"But in {len(values)} of {len(slices)} slices {what}: {some_of(values)}{size} {level}."
        )
        return
    where = "; ".join(
        f"{name} in {some_of(values)}" for name, values in list(found.items())[:MOST_NAMED]
    )
    yield f"But some are worse in slices: {where} {level}."


# Tables


def title_of(outcomes: Sequence[Outcome], noun: str, origin: str) -> str:
    """What was compared: how many of what, margins, and the convention if it is not the default."""
    first = outcomes[0]
    title = f"{counted(len(first.names), noun)}, {counted(first.n_queries, 'query')}"
    groups, n_folds = first.queries.groups, n_folds_of(first)
    if groups is not None:
        title += f" in {counted(len(set(groups.tolist())), 'group')}"
    if n_folds:
        title += ", 1 split" if n_folds == 1 else f", {n_folds} folds"
    guards = [outcome for outcome in outcomes if outcome.margin is not None]
    if len({guard.margin for guard in guards}) == 1:
        title += f", margin {_margin(guards[0])}"
        if len(guards) < len(outcomes):
            title += f" of {listed([guard.metric for guard in guards])}"
    elif guards:
        title += f", margins {', '.join(f'{guard.metric} {_margin(guard)}' for guard in guards)}"
    title += origin
    if len(first.metric) > LONGEST_IN_HEAD:
        title += f", {first.metric}"
    for outcome in blocks_of(outcomes):
        if not outcome.bound.greater_is_better:
            title += f"; smaller {outcome.metric} is better"
    return title


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


def tables_of(outcomes: Sequence[Outcome], title: str) -> list[Section]:
    """A block per metric that decides; the means of the others are columns of the first."""
    blocks = blocks_of(outcomes)
    others = [outcome for outcome in outcomes if outcome not in blocks]
    rows = _rows_shown(blocks[0])
    tables: list[Section] = [_table(blocks[0], title, rows, others)]
    for block in blocks[1:]:
        own_title = block.metric if len(block.metric) > LONGEST_IN_HEAD else ""
        tables.append(_table(block, own_title, _rows_shown(block)))
    left_out = _left_out(blocks[0], rows)
    return [*tables, left_out] if left_out else tables


def _rows_shown(outcome: Outcome) -> list[Standing]:
    """All rankings, or of many the first ones, with all baselines."""
    rows = list(outcome.standings)
    if len(rows) <= MOST_ROWS:
        return rows
    baselines = [row for row in rows if row.name in outcome.plan.baselines]
    others = [row for row in rows if row not in baselines][: ROWS_OF_MANY - len(baselines)]
    return [row for row in rows if row in baselines or row in others]


def _left_out(outcome: Outcome, shown: Sequence[Standing]) -> Note | None:
    """What is known of the rankings that have no row."""
    rest = [row for row in outcome.standings if row not in shown]
    if not rest:
        return None
    ends = f"from {as_text(rest[0].mean)} to {as_text(rest[-1].mean)}"
    numbers = Counter(row.status for row in rest)
    if len(numbers) == 1 and rest[0].status:
        status = rest[0].status
        text = f"{len(rest)} more {_ARE.get(status, f'are {status}')}, {ends}"
    else:
        known = ", ".join(f"{number} {status}" for status, number in numbers.items() if status)
        text = f"{len(rest)} more{f' ({known})' if known else ''}, {ends}"
    return Note(text, ".to_frame() has all")


def _head(outcome: Outcome) -> str:
    if len(outcome.metric) <= LONGEST_IN_HEAD:
        return outcome.metric
    return outcome.bound.average if outcome.bound.average in AVERAGES_WITHOUT_INTERVAL else "mean"


def _minus(outcome: Outcome) -> str:
    """The head of differences, with the reference if there is room."""
    baselines = outcome.plan.baselines
    name = baselines[0] if baselines else outcome.ranked[0]
    if len(baselines) > 1 or len(name) > LONGEST_IN_HEAD:
        name = "baseline" if baselines else "first"
    return f"minus {name}"


def _ends(outcome: Outcome, interval: tuple[float, float]) -> str:
    """An interval, which shows on which side of 0 and of the margin its ends are."""
    low, high = interval
    if math.isnan(low):
        return "none"
    if math.isinf(low) and math.isinf(high):
        return "unknown"
    margin = outcome.margin or 0.0
    limits = (0.0, margin, -margin)
    return f"[{exact_end(low, '+', limits)}, {exact_end(high, '+', limits)}]"


def _table(
    outcome: Outcome, title: str, rows: Sequence[Standing], others: Sequence[Outcome] = ()
) -> Table:
    """One row per ranking: the mean, the difference from the reference, its interval, and the status."""
    columns = [Column("", str), Column(_head(outcome))]
    if outcome.tested:
        interval = f"{100 * outcome.plan.confidence:g}% interval"
        columns += [
            Column(_minus(outcome), signed, meaning=_DIFFERENCE),
            Column(interval, partial(_ends, outcome), meaning=_INTERVAL),
            Column("status", str, meaning=_STATUS),
        ]
    columns += [Column(other.metric) for other in others]
    means = [other.by_name(other.means.tolist()) for other in others]
    cells = []
    for row in rows:
        known: list[Any] = [row.name, row.mean]
        if outcome.tested:
            has_difference = not math.isnan(row.difference)
            known += [row.difference, row.interval] if has_difference else [None, None]
            known.append(status_of(outcome, row))
        cells.append([*known, *(own[row.name] for own in means)])
    return Table(columns, cells, title)


# Slices


def slices_of(whole: Outcome, slices: Mapping[str, Outcome]) -> list[Section]:
    """A block per challenger; of several rankings without a baseline, one with their means and the best of each."""
    if not slices:
        return []
    baselines = whole.plan.baselines
    if len(whole.names) > 2 and not baselines:
        return _best_of_slices(whole, slices)
    references = list(baselines) or [whole.ranked[0]]
    challengers = [name for name in whole.ranked if name not in references]
    sections: list[Section] = []
    for name in challengers[:MOST_NAMED]:
        title = name if len(challengers) > 1 else ""
        sections += _table_of_slices(whole, slices, name, title)
    if len(challengers) > MOST_NAMED:
        rest = f"{len(challengers) - MOST_NAMED} further rankings are compared in slices, too"
        sections.append(Note(rest, ".slices has all"))
    # Tables first.
    return sorted(sections, key=lambda section: not isinstance(section, Table))


def _table_of_slices(
    whole: Outcome, slices: Mapping[str, Outcome], name: str, title: str
) -> list[Section]:
    """One row per slice, or of many one per slice that differs, and one line on the rest."""
    rows: list[Any] = []
    rest: list[Any] = []
    for value, outcome in slices.items():
        decision, i = outcome.decision, outcome.names.index(name)
        j = (
            int(decision.references[i])
            if decision.baselines
            else outcome.names.index(whole.ranked[0])
        )
        status = decision.statuses[i] if decision.baselines else decision.verdict(i, j)
        pair = outcome.pair(name, outcome.names[j])
        means = outcome.means[[j, i]].tolist()
        row = (value, outcome.n_queries, *means, means[1] - means[0], pair.interval, status)
        is_shown = len(slices) <= MOST_SLICES or status in ("better", "worse")
        (rows if is_shown else rest).append(row)
    if len(slices) > MOST_SLICES:
        rows.sort(key=lambda row: -abs(row[4]))
        rest += rows[MOST_SLICES:]
        rows = rows[:MOST_SLICES]
    reference = (
        "baseline" if len(whole.plan.baselines) > 1 else (whole.plan.baselines or whole.ranked)[0]
    )
    columns = [
        Column("slice", str),
        Column("queries", "{:,}".format),
        Column(reference),
        Column(name),
        Column(_minus(whole), signed),
        Column(f"{100 * whole.plan.confidence:g}% interval", partial(_ends, whole)),
        Column("status", str),
    ]
    sections: list[Section] = [Table(columns, rows, title)] if rows else []
    if rest:
        sizes = [row[1] for row in rest]
        number = f"{len(rest)} more" if rows else f"All {len(rest)} slices"
        statuses = listed(list(dict.fromkeys(str(row[-1]) for row in rest)), "or")
        text = f"{number} are {statuses} ({min(sizes):,} to {max(sizes):,} queries each)"
        sections.append(Note(text, ".slices has all"))
    return sections


def _best_of_slices(whole: Outcome, slices: Mapping[str, Outcome]) -> list[Section]:
    """The means of rankings in slices, and which may be the best."""
    shown = dict(slices)
    if len(slices) > MOST_SLICES:
        shown = {value: own for value, own in slices.items() if not own.decision.inside.all()}
        shown = dict(list(shown.items())[:MOST_SLICES])
    names = whole.ranked if len(whole.names) <= BESIDE else whole.ranked[:1]
    columns = [
        Column("slice", str),
        Column("queries", "{:,}".format),
        *map(Column, names),
        Column("may be best", str),
    ]
    rows = []
    for value, outcome in shown.items():
        means = outcome.by_name(outcome.means.tolist())
        best = [outcome.names[i] for i in outcome.order if outcome.decision.inside[i]]
        known = "any" if len(best) == len(outcome.names) else some_of(best, "or")
        rows.append((value, outcome.n_queries, *(means[name] for name in names), known))
    sections: list[Section] = [Table(columns, rows)] if rows else []
    if len(shown) < len(slices):
        sections.append(
            Note(
                f"In {len(slices) - len(shown)} more slices, any may be the best", ".slices has all"
            )
        )
    return sections


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
    guards = _guards(outcomes)
    if guards:
        n_challengers = len(first.names) - len(first.plan.baselines)
        undecided = [
            row.name
            for row in first.standings
            if gate_of([row.name], guards)[row.name] == "undecided"
        ]
        undecided = [name for name in undecided if name not in first.plan.baselines]
        needed = _queries_needed(guards, undecided) if undecided else ""
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
        what = _units(outcome, outcome.decision.n_units)
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
        undecided = _with_status(first, "undecided")
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


# Details


def details_of(outcomes: Sequence[Outcome], title: str) -> Iterator[Section]:
    """What the print leaves out, by metric: p-values, effects, losses and letters, and a sentence for a paper."""
    tested = [outcome for outcome in outcomes if outcome.tested]
    for outcome in tested:
        yield _table_of_details(outcome, title if outcome is tested[0] else "")
    if not tested:
        return
    first = tested[0]
    gap = "the baseline" if first.plan.baselines else first.ranked[0]
    yield f"p: how likely a gap this large to {gap} would be if both were equally good."
    effect = "effect: mean difference / standard deviation of the differences."
    if not first.plan.baselines:
        effect += " may lose: the most you could lose by choosing it. Rows that share a letter may be equal."
    yield effect
    for outcome in tested:
        yield f"For a paper: {_for_a_paper(outcome)}"


def effect_of(outcome: Outcome, i: int, j: int) -> float:
    """Mean difference of two rankings, divided by the standard deviation of the differences; NaN if that is 0."""
    decision = outcome.decision
    if not decision.spread[i, j]:
        return math.nan
    return float(outcome.turned(decision.effect[i, j]))


def _table_of_details(outcome: Outcome, title: str) -> Table:
    decision, all_pairs = outcome.decision, not outcome.plan.baselines
    columns = [
        Column("", str),
        Column(outcome.metric),
        Column("p", p_text),
        Column("effect", lambda value: f"{value:z.2f}"),
    ]
    if all_pairs:
        columns += [Column("may lose"), Column("letters", str)]
    columns.append(Column("status", str))
    rows = []
    for row in outcome.standings:
        i = outcome.names.index(row.name)
        cells: list[Any] = [row.name, row.mean, None, None]
        if row.reference:
            effect = effect_of(outcome, i, outcome.names.index(row.reference))
            cells[2:] = [row.p_value, None if math.isnan(effect) else effect]
        if all_pairs:
            cells += [row.regret, decision.letters[i]]
        rows.append([*cells, status_of(outcome, row)])
    return Table(columns, rows, title)


def _for_a_paper(outcome: Outcome) -> str:
    """One sentence with test, numbers of queries, signs and pairs, p, effect and interval."""
    decision = outcome.decision
    i, j = _pair_for_a_paper(outcome)
    higher = "was not shown to differ from"
    if decision.better[i, j] or decision.better[j, i]:
        is_higher = outcome.means[i] > outcome.means[j]
        higher = "was higher than" if is_higher else "was lower than"
    low, high = sorted(outcome.turned(np.array([decision.low[i, j], decision.high[i, j]])).tolist())
    effect = effect_of(outcome, i, j)
    d = "" if math.isnan(effect) else f", d = {effect:.2f}"
    level = f"{100 * outcome.plan.confidence:g}%"
    known = f"p = {_bare(decision.p_adjusted[i, j])}{d}, {level} CI of the difference {_bare(low)} to {_bare(high)}"
    n_signs = N_SIGNS if decision.n_units > MOST_ENUMERATED else 2**decision.n_units
    pairs = counted(decision.n_tests, "pair")
    folds = "" if outcome.queries.folds is None else ", allowing for variation between folds"
    return (
        f"Mean {outcome.metric} of {outcome.names[i]} ({outcome.means[i]:.3f}) {higher} that of {outcome.names[j]} "
        f"({outcome.means[j]:.3f}; {known}); randomised Tukey HSD (Carterette 2012; n = "
        f"{_units(outcome, decision.n_units)}, B = {n_signs:,}, {pairs}), simultaneous CIs{folds}."
    )


def _bare(number: float) -> str:
    """A number without the 0 before its point, as journals want it."""
    return f"{number:.4f}".replace("0.", ".", 1) if abs(number) < 1 else f"{number:.4f}"


def _pair_for_a_paper(outcome: Outcome) -> tuple[int, int]:
    """The leader and the best ranking that is worse, or the next one; beside a baseline, the best other and it."""
    decision, order = outcome.decision, outcome.order
    if decision.baselines:
        i = next(i for i in order if i not in decision.baselines)
        return i, int(decision.references[i])
    leader = order[0]
    worse = [j for j in order if decision.better[leader, j]]
    return leader, (worse or order[1:])[0]
