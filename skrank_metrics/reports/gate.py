"""Which rankings may be shipped, if a loss within a margin does not matter: one decision for text and exit codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from skrank_metrics.reports.outcome import Outcome, PairVerdict

Decision: TypeAlias = Literal["ship", "do not ship", "undecided"]


def decisions(outcomes: Sequence[Outcome]) -> dict[str, Decision]:
    """The decision on each ranking, from what is known by all metrics, each at its own confidence.

    With baselines, it is on all others: "ship" if better or not worse by every metric, "do not ship" if worse by one.
    Without, a ranking is shipped if it is known to lose at most the margin against the best by every metric.
    """
    first = outcomes[0]
    baselines = first.plan.baselines
    if not baselines:
        return {name: _against_best(name, outcomes) for name in first.names}
    others = [name for name in first.names if name not in baselines]
    return {name: _of_verdicts([own.deciding(name).verdict for own in outcomes]) for name in others}


def _of_verdicts(verdicts: Sequence[PairVerdict]) -> Decision:
    # Without a correction for the number of metrics: that all must pass does not make errors more frequent.
    if "worse" in verdicts:
        return "do not ship"
    return "undecided" if "undecided" in verdicts else "ship"


def _against_best(name: str, outcomes: Sequence[Outcome]) -> Decision:
    for outcome in outcomes:
        # The best is not known, so the regret counts, which bounds the loss against each that may be the best.
        if outcome.margin is None or outcome.regret[name] > outcome.margin:
            return "undecided"
        if outcome.accepts_any_loss:
            return "undecided"
    return "ship"


def overall(of_rankings: Iterable[Decision], *, against_baseline: bool) -> Decision:
    """One decision: all others must pass against a baseline, and one is enough without."""
    found = list(of_rankings)
    if not against_baseline:
        return "ship" if "ship" in found else "undecided"
    if "do not ship" in found:
        return "do not ship"
    return "undecided" if "undecided" in found else "ship"
