"""The verdict on rankings: what to do, then what is known, from decisions and names alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from skrank_metrics._output.result import (
    Section,
    Terms,
)
from skrank_metrics.decisions.outcome import Gate, Outcome, gate_of
from skrank_metrics.decisions.words import (
    MOST_NAMED,
    amount_of,
    amounts_of,
    blocks_of,
    confidence_of,
    contradicts,
    guards_of,
    listed,
    margin_of,
    queries_needed_by,
    some_of,
    status_of,
    units_of,
    with_status,
    with_verb,
)

_TERMS: dict[Gate, str] = {"ship": "Ship", "undecided": "Not yet", "do not ship": "Do not ship"}
_RELEASES: dict[Gate, str] = {
    "ship": "Ship {}",
    "undecided": "Do not ship {} yet",
    "do not ship": "Do not ship {}",
}


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
            f"{with_verb(leaders, 'score')} {_highest(first)}"
            if leaders
            else "No ranking has a value"
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


def verdict_as_text(sections: Iterable[Section]) -> str:
    """A verdict in one line."""
    texts = []
    for section in sections:
        if isinstance(section, Terms):
            texts += [f"{term}: {text}." for term, text in section.items]
        else:
            texts.append(str(section))
    return " ".join(texts)


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
        f"No verdict: the {noun}s differ on {at_most}{units_of(outcome, most)}, and at least {decision.least_units} "
        "are needed."
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
    is_claimed = bool(with_status(first, "best", "worse"))
    ahead: dict[tuple[str, ...], list[Outcome]] = {}
    for other in others:
        names = tuple(contradicts(other, leader))
        if names:
            ahead.setdefault(names, []).append(other)
    for names, by in ahead.items():
        better = (
            f"by {listed([other.metric for other in by])}, {with_verb(names)} better than {leader}"
        )
        if len(names) == len(by) == 1:
            i, j = map(by[0].names.index, (names[0], leader))
            better += f", by {amounts_of(by[0], i, j)}"
        claims.append(better)
    text = "; ".join(claims)
    if others:
        text = f"By {first.metric}, {text}"
    elif not is_claimed:
        text = f"Too close to call: {text}"
    level = confidence_of(first, 1 + len(ahead))
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
            text += f", by {amounts_of(outcome, i, j)}"
        return text
    highest = with_status(outcome, "highest")
    text = with_verb(highest, "score") + f" {_highest(outcome)}"
    if len(highest) > 1 and _are_the_same(outcome, highest):
        text += ", the same on every query"
    as_good = with_status(outcome, "may be as good")
    worse = with_status(outcome, "worse")
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
            f"{n_worse[0]} are worse" if len(worse) > MOST_NAMED else f"{with_verb(worse)} worse"
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
        return f"{choice}you lose at most {amount_of(outcome, regret)}"
    return f"{choice}it is worse by at most {amount_of(outcome, regret)}"


def _beside_baseline(outcomes: Sequence[Outcome]) -> str:
    """What is known about all others and a baseline without a margin."""
    first, *others = outcomes
    blocks = blocks_of(outcomes)
    claims = [_known_beside(outcome) for outcome in blocks]
    if others:
        claims = [f"by {own.metric}, {claim}" for own, claim in zip(blocks, claims, strict=True)]
    text = "; ".join(claims)
    is_claimed = any(with_status(outcome, "better", "worse") for outcome in blocks)
    if is_claimed or len(first.names) == 2:
        text += f" {confidence_of(first, len(blocks))}"
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
        with_status(outcome, status) for status in ("better", "undecided", "worse")
    )
    rest = []
    if undecided:
        rest.append(f"{with_verb(undecided)} undecided")
    if worse:
        rest.append(f"{with_verb(worse)} worse")
    if not better:
        return f"none is shown to be better than {baseline}: {', '.join(rest)}"
    return "; ".join([f"{with_verb(better)} better than {baseline}", *rest])


# Gates


def _gate(outcomes: Sequence[Outcome]) -> list[Section]:
    """What to ship, by all metrics that have a margin."""
    first, guards = outcomes[0], guards_of(outcomes)
    names = [name for name in first.ranked if name not in first.plan.baselines]
    gates = gate_of(names, guards)
    if len(names) == 1 and len(first.plan.baselines) == 1:
        return [_one_gate(names[0], gates[names[0]], guards)]
    which = some_of(first.plan.baselines)
    if len(first.plan.baselines) > 1:
        which = f"each of {which}"
    margins = {margin_of(guard) for guard in guards}
    margin = f"a margin of {margins.pop()}"
    if margins:
        margin = (
            f"margins of {', '.join(f'{margin_of(guard)} for {guard.metric}' for guard in guards)}"
        )
    items = []
    for gate, term in _TERMS.items():
        texts = [_reason(name, gate, guards) for name in names if gates[name] == gate]
        if len(texts) > MOST_NAMED:
            texts = [f"{texts[0]} and {len(texts) - 1} others"]
        if texts:
            items.append((term, ", ".join(texts)))
    return [
        f"Against {which}, with {margin} {confidence_of(first, len(guards))}:",
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
            text += f": {amounts_of(guard, i, j)}"
        elif row.status == "undecided":
            text += f": {_may_lose(guard, i, j)}"
        reasons.append(f"{guard.metric} {text}" if len(guards) > 1 else text)
    return f"{name} ({', '.join(reasons)})"


def _may_lose(outcome: Outcome, i: int, j: int) -> str:
    low = outcome.decision.low[i, j]
    loss = f"up to {amount_of(outcome, low)}" if math.isfinite(low) else "any amount"
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
    text = f"{release}: {reasons} {confidence_of(guards[0], len(guards))}."
    needed = queries_needed_by(guards, [name]) if gate == "undecided" else ""
    return f"{text} {needed}".rstrip(" .") + (
        f"; these are {guards[0].n_queries:,}." if needed else "."
    )


def _claim(outcome: Outcome, i: int, *, names_baseline: bool = True) -> str:
    """What is known about a ranking and its baseline, after its name."""
    decision = outcome.decision
    j, status = int(decision.references[i]), decision.statuses[i]
    baseline = outcome.names[j]
    if status == "better":
        return f"is better than {baseline}, by {amounts_of(outcome, i, j)}"
    if status == "not worse":
        return f"is not worse than {baseline} by more than {margin_of(outcome)}"
    if status == "equivalent":
        return f"is equivalent to {baseline} within {margin_of(outcome)}"
    against = f" against {baseline}" if names_baseline and outcome.bound.greater_is_better else ""
    if status == "undecided":
        return f"{_may_lose(outcome, i, j)}{against}{_as_open(outcome, i, j)}"
    loses = f"loses {amounts_of(outcome, i, j)}{against}"
    if not outcome.bound.greater_is_better:
        loses = f"is worse than {baseline} by {amounts_of(outcome, i, j)}"
    return (
        f"{loses}, less than the margin of {margin_of(outcome)}"
        if status == "small loss"
        else loses
    )


def _as_open(outcome: Outcome, i: int, j: int) -> str:
    """Why a ranking is undecided."""
    if outcome.margin is None:
        high = outcome.decision.high[i, j]
        gain = f"up to {amount_of(outcome, high)}" if math.isfinite(high) else "any amount"
        return f", or gain {gain}" if outcome.bound.greater_is_better else f", or better by {gain}"
    if outcome.decision.largest_loss <= outcome.margin:
        return (
            f", and a margin of {margin_of(outcome)} accepts any loss: no query can lose more than "
            f"{outcome.decision.largest_loss:.4g}"
        )
    return f", more than the margin of {margin_of(outcome)}"


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
            f"Do not rely on {what}: all {units_of(outcome, n_units)} differ by the same amount, so nothing shows how "
            "much they vary."
        )
        return
    yield (
        f"Do not rely on {what}: on {skew.n_tail} of {units_of(outcome, n_units)}, {outcome.names[skew.first]} loses "
        f"{skew.ratio:.1f} times as much as it wins on the others, and so few may not show how often that happens."
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
                size = f", by {amounts_of(outcome, i, j)}"
            continue
        for i, name in enumerate(outcome.names):
            if decision.statuses[i] == "worse":
                found.setdefault(name, []).append(value)
                size = f", by {amounts_of(outcome, i, int(decision.references[i]))}"
    if not found:
        return
    level = confidence_of(whole)
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
