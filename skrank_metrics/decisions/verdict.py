"""The verdict on rankings: what is known about the best, about the baseline, and whether to ship."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

from skrank_metrics._output.result import counted
from skrank_metrics.decisions.decide import Verdict
from skrank_metrics.decisions.outcome import Gate, Outcome, gate_of
from skrank_metrics.decisions.planning import queries_to_decide

# More names than this are counted, not listed.
MOST_NAMED = 4
_RELEASES: dict[Gate, str] = {
    "ship": "Ship {}.",
    "do not ship": "Do not ship {}.",
    "undecided": "Do not ship {} yet.",
}


def verdict_of(outcomes: Sequence[Outcome]) -> str:
    """What is known by the first metric, and by others that say otherwise; with margins, by all of them."""
    first = outcomes[0]
    if len(first.names) < 2:
        return ""
    if not first.tested:
        leaders = leaders_of(first)
        leader = leaders[0] if len(leaders) == 1 else "No ranking alone"
        return f"{leader} is ahead by {first.metric}, which is not a mean over queries and cannot be tested."
    # Metrics that cannot be tested only stand in the table.
    tested = [outcome for outcome in outcomes if outcome.tested]
    find = _beside_baselines if first.plan.baselines else _about_the_best
    return " ".join(find(tested))


def _by(metrics: Sequence[str]) -> str:
    return f"By {listed(metrics)}, " if metrics else ""


def _claim(claim: str, outcome: Outcome, metrics: Sequence[str]) -> str:
    """A sentence that holds with confidence, and names its metrics if there are several."""
    level = f"{100 * outcome.plan.confidence:g}% confidence"
    return f"{_by(metrics)}{claim} ({level})" if metrics else f"With {level}, {claim}"


def _by_claim(outcomes: Sequence[Outcome], claims: Sequence[str]) -> dict[str, list[str]]:
    """The metrics that make each claim; empty claims are none."""
    metrics: dict[str, list[str]] = {}
    for outcome, claim in zip(outcomes, claims, strict=True):
        if claim:
            metrics.setdefault(claim, []).append(outcome.metric)
    return metrics


def queries_of(outcome: Outcome) -> str:
    """The number of queries that count."""
    return counted(len(outcome.values), "query")


# The best


def _about_the_best(outcomes: Sequence[Outcome]) -> Iterator[str]:
    first, *others = outcomes
    metrics = [first.metric] if others else []
    ranked, may_be = first.ranked, best_of(first)
    worse = [name for name in ranked if name not in may_be]
    if not worse:
        yield f"{_by(metrics)}{some_of(ranked)} cannot be told apart on {queries_of(first)}."
    else:
        known = _claim(_best(first), first, metrics)
        if len(may_be) > 1:
            known = f"{known}; {ranked[0]} leads. {_are(worse)} worse"
        yield f"{known}."
    contradictions = [_contradiction(first, other) for other in others]
    for claim, own in _by_claim(others, contradictions).items():
        yield f"{_by(own)}{claim}."


def _best(outcome: Outcome) -> str:
    names = best_of(outcome)
    return f"{names[0]} is best" if len(names) == 1 else f"the best is {some_of(names, 'or')}"


def _contradiction(first: Outcome, other: Outcome) -> str:
    """What another metric says about the best that the first does not; empty if they agree."""
    decision = other.decision
    leader = other.names.index(first.ranked[0])
    ahead = [other.names[i] for i in decision.order if decision.better[i, leader]]
    if ahead:
        return f"{_are(ahead)} better than {first.ranked[0]}"
    knows_more = len(best_of(first)) == len(first.names) > len(best_of(other))
    return _best(other) if knows_more else ""


# Baselines


def _beside_baselines(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Which rankings to ship, if there are margins, and what is known about them by each metric."""
    first, *others = outcomes
    has_margin = first.plan.margin is not None
    names = [name for name in first.ranked if name not in first.plan.baselines]
    of_rankings = gate_of(names, outcomes)
    for decision, text in _RELEASES.items():
        names = [name for name, own in of_rankings.items() if own == decision]
        if names and has_margin:
            yield text.format(some_of(names, "or"))
    claims = [_known(outcome) for outcome in outcomes]
    for claim, metrics in _by_claim(outcomes, claims).items():
        yield f"{_claim(claim, first, metrics if others else [])}."
    # Without margins, metrics that cannot tell rankings apart contradict nothing.
    for outcome in outcomes if has_margin else [first]:
        undecided = by_verdict(outcome)["undecided"]
        if has_margin:
            undecided = [name for name in undecided if of_rankings[name] == "undecided"]
        if undecided:
            yield _undecided(outcome, undecided, [outcome.metric] if others else [])


def _known(outcome: Outcome) -> str:
    """What is known, as "a and b are better than c; d is worse"; empty if nothing is."""
    baselines = outcome.plan.baselines
    ends: dict[Verdict, str] = {
        "better": f" than {some_of(baselines)}",
        "equivalent": f" to {some_of(baselines)}",
        "not worse": f" than {some_of(baselines)}{_by_more(outcome)}",
        "small loss": f" than {some_of(baselines)}, by less than {outcome.margin}",
        "worse": f" than {_one_baseline(outcome)}",
    }
    claims: list[str] = []
    for verdict, end in ends.items():
        names = by_verdict(outcome)[verdict]
        # After a claim, a single baseline goes without saying.
        if claims and verdict == "worse" and len(baselines) == 1:
            end = ""
        if names:
            claims.append(f"{_are(names)} {'worse' if verdict == 'small loss' else verdict}{end}")
    return "; ".join(claims)


def _one_baseline(outcome: Outcome) -> str:
    """The baseline, or one of several."""
    baselines = outcome.plan.baselines
    return baselines[0] if len(baselines) == 1 else f"at least one of {some_of(baselines)}"


def _by_more(outcome: Outcome) -> str:
    return f" by more than {outcome.margin:g}" if outcome.margin else ""


def _undecided(outcome: Outcome, names: Sequence[str], metrics: Sequence[str]) -> str:
    """What these queries cannot show of some rankings by one metric, and how many would."""
    if outcome.margin is None:
        apart = f"cannot be told apart from {_one_baseline(outcome)}"
        return f"{_by(metrics)}{some_of(names)} {apart} on {queries_of(outcome)}."
    if accepts_any_loss(outcome):
        return _accepts_any_loss(outcome)
    worse = f"{_are(names)} worse than {_one_baseline(outcome)}{_by_more(outcome)}"
    text = f"{_by(metrics)}{queries_of(outcome)} cannot show whether {worse}."
    pairs = [pair for pair in outcome.pairs(names) if pair.verdict == "undecided"]
    numbers = outcome.names.index
    needed = [
        queries_to_decide(outcome.decision, numbers(pair.first), numbers(pair.second))
        for pair in pairs
    ]
    known = [number for number in needed if number is not None]
    if len(known) < len(needed):  # a number for some of them would be taken for all
        return text
    return f"{text} If they are equal, about {max(known):,} queries would probably show it."


def _accepts_any_loss(outcome: Outcome) -> str:
    """Why the margin lets no ranking pass."""
    margin = f"A margin of {outcome.margin:g} accepts any loss of {outcome.metric}"
    return f"{margin}: no query can lose more than {outcome.decision.largest_loss:.4g}."


def best_of(outcome: Outcome) -> list[str]:
    """Names of the rankings that may be the best, best first."""
    return [outcome.names[i] for i in outcome.order if outcome.decision.inside[i]]


def leaders_of(outcome: Outcome) -> list[str]:
    """Names of the rankings with the best mean; of several, it is by chance which comes first."""
    means = outcome.by_name(outcome.means.tolist())
    return [name for name, mean in means.items() if mean == means[outcome.ranked[0]]]


def by_verdict(outcome: Outcome) -> dict[Verdict, list[str]]:
    """Names by what is known about them beside baselines, best first."""
    return {
        verdict: [row.name for row in outcome.standings if row.status == verdict]
        for verdict in get_args(Verdict)
    }


def accepts_any_loss(outcome: Outcome) -> bool:
    """Whether no loss is larger than the margin, so that it must not let a ranking pass."""
    return outcome.margin is not None and outcome.decision.largest_loss <= outcome.margin


# Names in sentences


def some_of(names: Sequence[str], word: str = "and") -> str:
    """Names in a sentence; only the first ones and the number of the others if there are many."""
    if len(names) > MOST_NAMED:
        names = [*names[: MOST_NAMED - 1], f"{len(names) - MOST_NAMED + 1} others"]
    return listed(names, word)


def listed(names: Sequence[str], word: str = "and") -> str:
    """Names in a sentence: "a", "a and b", "a, b and c"; with semicolons if names have commas."""
    *front, last = names
    if not front:
        return last
    comma = "; " if any(", " in name for name in names) else ", "
    return f"{comma.join(front)} {word} {last}"


def _are(names: Sequence[str]) -> str:
    """Names with their verb."""
    return f"{some_of(names)} {'is' if len(names) == 1 else 'are'}"
