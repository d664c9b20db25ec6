"""The verdict on rankings: what is known about the best, about the baseline, and whether to ship."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from skrank_metrics._output.result import counted
from skrank_metrics.reports.gate import Decision, decisions
from skrank_metrics.reports.outcome import Outcome, Status
from skrank_metrics.reports.planning import queries_to_decide

# More names than this are counted, not listed.
MOST_NAMED = 4


def verdict_of(outcomes: Sequence[Outcome]) -> str:
    """What is known by the first metric, and by others that say otherwise; with margins, by all of them."""
    first = outcomes[0]
    if len(first.names) < 2:
        return ""
    if not first.tested:
        leader = first.ranked[0]
        return f"{leader} is ahead by {first.metric}, which is not a mean over queries and cannot be tested."
    tested = [outcome for outcome in outcomes if outcome.tested]
    if first.plan.margin is not None:
        return " ".join(_of_gate(tested))
    if first.plan.baseline is not None:
        return " ".join(_against_baseline(tested, first.plan.baseline))
    return " ".join(_about_the_best(tested))


def _claim(claim: str, outcome: Outcome, metrics: Sequence[str]) -> str:
    """A sentence that holds with confidence, and names its metrics if there are several."""
    level = f"{100 * outcome.plan.confidence:g}% confidence"
    if metrics:
        return f"By {listed(metrics)}, {claim} ({level})"
    return f"With {level}, {claim}"


def _by(metrics: Sequence[str]) -> str:
    return f"By {listed(metrics)}, " if metrics else ""


def _named_if_several(outcomes: Sequence[Outcome]) -> list[str]:
    """The first metric, to be named if there are others."""
    return [outcomes[0].metric] if len(outcomes) > 1 else []


def _on_queries(outcome: Outcome) -> str:
    return f"on {counted(outcome.sample.n_counted, 'query')}"


def _every_query(outcome: Outcome) -> str:
    sample = outcome.sample
    return "every query" if sample.counts.all() else "every query that counts"


# The best


def _about_the_best(outcomes: Sequence[Outcome]) -> Iterator[str]:
    first = outcomes[0]
    yield from _best_by(first, _named_if_several(outcomes))
    contradicting: dict[str, list[str]] = {}
    for outcome in outcomes[1:]:
        claim = _contradiction(first, outcome)
        if claim:
            contradicting.setdefault(claim, []).append(outcome.metric)
    for claim, metrics in contradicting.items():
        yield f"{_by(metrics)}{claim}."


def _best_by(outcome: Outcome, metrics: Sequence[str]) -> Iterator[str]:
    """What is known about the best by one metric, named or not."""
    ranked, may_be = outcome.ranked, outcome.best_set
    worse = [name for name in ranked if name not in may_be]
    if len(may_be) == 1:
        yield f"{_claim(f'{may_be[0]} is best', outcome, metrics)}."
    elif worse:
        best = f"the best is {some_of(may_be, 'or')}"
        yield f"{_claim(best, outcome, metrics)}; {ranked[0]} leads."
        yield f"{some_of(worse, 'and')} {_are(worse)} worse."
    else:
        queries = _on_queries(outcome)
        yield f"{_by(metrics)}{some_of(ranked, 'and')} cannot be told apart {queries}."
    if len(may_be) > 1 and set(may_be) <= set(outcome.equal_to(may_be[0])):
        yield f"{some_of(may_be, 'and')} are equal on {_every_query(outcome)}."


def _contradiction(first: Outcome, other: Outcome) -> str:
    """What another metric says that the first does not; empty if they agree."""
    ahead_of_leader = other.better_than(first.ranked[0])
    if ahead_of_leader:
        return _better(ahead_of_leader, first.ranked[0])
    if len(first.best_set) == len(first.names) > len(other.best_set):
        return _best_set_of(other)
    for worse in first.ranked:
        ahead = [name for name in other.better_than(worse) if worse in first.better_than(name)]
        if ahead:
            return _better(ahead, worse)
    return ""


def _better(names: Sequence[str], than: str) -> str:
    return f"{some_of(names, 'and')} {_are(names)} better than {than}"


def _best_set_of(outcome: Outcome) -> str:
    best, ranked = outcome.best_set, outcome.ranked
    if len(best) > 1:
        return f"the best is {some_of(best, 'or')}"
    return f"{best[0]} is better than {ranked[1]}" if len(ranked) == 2 else f"{best[0]} is best"


# A baseline


def _against_baseline(outcomes: Sequence[Outcome], baseline: str) -> Iterator[str]:
    """How rankings compare with the baseline by the first metric, and by others that know more or the opposite."""
    first = outcomes[0]
    named = _by_status(first)
    metrics = _named_if_several(outcomes)
    known = _known(named, baseline, None)
    if known:
        yield f"{_claim(known, first, metrics)}."
        metrics = []
    if undecided := named.get("undecided"):
        apart = f"{some_of(undecided, 'and')} cannot be told apart from {baseline}"
        yield f"{_by(metrics)}{apart} {_on_queries(first)}."
    contradicting: dict[str, list[str]] = {}
    for outcome in outcomes[1:]:
        claim = _known(_new_statuses(first, outcome), baseline, None)
        if claim:
            contradicting.setdefault(claim, []).append(outcome.metric)
    for claim, own in contradicting.items():
        yield f"{_by(own)}{claim}."


def _new_statuses(first: Outcome, other: Outcome) -> dict[Status, list[str]]:
    """Names by what another metric knows about them, but not the first."""
    status_by_first = {row.name: row.status for row in first.standings}
    return {
        status: [name for name in names if status_by_first[name] != status]
        for status, names in _by_status(other).items()
    }


def _by_status(outcome: Outcome) -> dict[Status, list[str]]:
    """Names by what is known about them."""
    named: dict[Status, list[str]] = {}
    for row in outcome.standings:
        named.setdefault(row.status, []).append(row.name)
    return named


def _known(named: Mapping[Status, Sequence[str]], baseline: str, margin: float | None) -> str:
    """What is known, as "a and b are better than c; d is worse"; empty if nothing is."""
    statuses: tuple[Status, ...] = ("better", "not worse", "worse")
    claims: list[str] = []
    for status in statuses:
        names = named.get(status)
        if names:
            than = "" if claims and status == "worse" else f" than {baseline}"
            within = f" by more than {margin:g}" if margin and status == "not worse" else ""
            claims.append(f"{some_of(names, 'and')} {_are(names)} {status}{than}{within}")
    return "; ".join(claims)


# A release


def _of_gate(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Which rankings to ship, and why."""
    first = outcomes[0]
    baseline = first.plan.baseline
    if baseline is None:
        yield from _release_of_the_best(outcomes)
        return
    by_decision: dict[Decision, list[str]] = {}
    for name, decision in decisions(outcomes).items():
        by_decision.setdefault(decision, []).append(name)
    if names := by_decision.get("ship"):
        yield f"Ship {some_of(names, 'or')}."
    if names := by_decision.get("do not ship"):
        yield f"Do not ship {some_of(names, 'or')}."
    if names := by_decision.get("undecided"):
        yield f"Do not ship {some_of(names, 'or')} yet."
    reasons: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        for reason in _reasons(outcome, baseline):
            reasons.setdefault(reason, []).append(outcome)
    for reason, own in reasons.items():
        metrics = [outcome.metric for outcome in own] if len(outcomes) > 1 else []
        yield f"{_claim(reason, first, metrics)}."
    for outcome in outcomes:
        metrics = [outcome.metric] if len(outcomes) > 1 else []
        undecided = by_decision.get("undecided", [])
        yield from _undecided(outcome, baseline, undecided, metrics)


def _reasons(outcome: Outcome, baseline: str) -> Iterator[str]:
    """What is known by one metric."""
    named = _by_status(outcome)
    not_worse = named.get("not worse", [])
    equal = [name for name in outcome.equal_to(baseline) if name in not_worse]
    named["not worse"] = [name for name in not_worse if name not in equal]
    known = _known(named, baseline, outcome.margin)
    if known:
        yield known
    if equal:
        yield f"{some_of(equal, 'and')} {_equals(equal)} {baseline} on {_every_query(outcome)}"


def _undecided(
    outcome: Outcome, baseline: str, rankings: Sequence[str], metrics: Sequence[str]
) -> Iterator[str]:
    """What these queries cannot show of some rankings by one metric, and how many would."""
    names = [name for name in _by_status(outcome).get("undecided", ()) if name in rankings]
    if not names:
        return
    if outcome.accepts_any_loss:
        yield _accepts_any_loss(outcome)
        return
    queries = counted(outcome.sample.n_counted, "query")
    by_more = f" by more than {outcome.margin:g}" if outcome.margin else ""
    worse = f"whether {some_of(names, 'and')} {_are(names)} worse than {baseline}{by_more}"
    more = ""
    needed = [queries_to_decide(outcome, outcome.pair(name, baseline)) for name in names]
    known = [number for number in needed if number is not None]
    if len(known) == len(needed):
        more = f". If they are equal, about {_about(max(known))} queries would probably show it"
    start = f"{_by(metrics)}{queries}"
    yield f"{start} cannot show {worse}{more}."


def _accepts_any_loss(outcome: Outcome) -> str:
    """Why the margin lets no ranking pass."""
    margin = f"A margin of {outcome.margin:g} accepts any loss of {outcome.metric}"
    return f"{margin}: no query can lose more than {outcome.largest_loss:.4g}."


def _about(number: int) -> str:
    """A number rounded up to two digits, with commas between thousands."""
    unit = 10 ** max(0, len(str(number)) - 2)
    return f"{-(-number // unit) * unit:,}"


def _release_of_the_best(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Which rankings lose at most the margin against the best."""
    first = outcomes[0]
    of_rankings = decisions(outcomes)
    good = [name for name in first.ranked if of_rankings[name] == "ship"]
    limit, within = "", f"{first.margin:g}"
    if len(outcomes) > 1:
        limit, within = " by every metric", "its margin"
    if not good:
        yield f"Do not ship yet: no ranking is known to be within {within} of the best{limit}."
        for outcome in outcomes:
            if outcome.accepts_any_loss:
                yield _accepts_any_loss(outcome)
    elif all(outcome.best_set == (good[0],) for outcome in outcomes):
        yield f"Ship {good[0]}."
    else:
        each = "it is" if len(good) == 1 else "each is"
        worse = f"{each} at most {within} worse than the best{limit}"
        yield f"Ship {some_of(good, 'or')}: {worse}."
    yield from _about_the_best(outcomes)


# Names in sentences


def some_of(names: Sequence[str], word: str) -> str:
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
    return "is" if len(names) == 1 else "are"


def _equals(names: Sequence[str]) -> str:
    return "equals" if len(names) == 1 else "equal"
