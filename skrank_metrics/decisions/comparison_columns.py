"""Columns of the frames of comparisons, and the entries of their dicts, from their outcomes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skrank_metrics.decisions.outcome import Outcome, Standing
from skrank_metrics.decisions.words import effect_of
from skrank_metrics.metrics._record import flat_name
from skrank_metrics.reports.facts import flat_slice
from skrank_metrics.reports.ranking_report import RankingReport

_PAIR_COLUMNS = (
    *("metric", "first", "second", "difference", "p_value", "p_adjusted"),
    *("wins", "ties", "losses", "verdict"),
)


def columns_of_rankings(
    outcomes: Sequence[Outcome], reports: Mapping[str, RankingReport]
) -> dict[str, list[object]]:
    """Columns of a frame with one row per ranking."""
    n_queries = outcomes[0].n_queries
    columns: dict[str, list[object]] = {
        "ranking": list(reports),
        "n_queries": [n_queries] * len(reports),
    }
    for outcome in outcomes:
        # Standings are in the order of their own metric.
        row_of = {row.name: row for row in outcome.standings}
        baselines = outcome.plan.baselines
        has_letters = outcome.tested and not baselines
        letters_of = outcome.by_name(outcome.decision.letters) if has_letters else {}
        means = outcome.by_name(outcome.means.tolist())
        for name, report in reports.items():
            low, high = report.intervals(outcome.plan.confidence)[outcome.metric]
            facts: dict[str, object] = {"": means[name], " low": low, " high": high}
            if outcome.tested:
                facts |= _facts_of_test(outcome, row_of[name])
            if has_letters:
                facts[" letters"] = letters_of[name]
            for end, value in facts.items():
                columns.setdefault(f"{outcome.metric}{end}", []).append(value)
    return columns


def _facts_of_test(outcome: Outcome, row: Standing) -> dict[str, object]:
    low, high = row.interval
    facts: dict[str, object] = {" difference": row.difference}
    if len(outcome.plan.baselines) > 1:
        facts[" baseline"] = row.reference or None
    facts |= {" difference low": low, " difference high": high}
    effect = math.nan
    if row.reference:
        effect = effect_of(outcome, *map(outcome.names.index, (row.name, row.reference)))
    facts |= {" p": row.p_value, " effect": effect, " status": row.status}
    return facts if outcome.plan.baselines else facts | {" regret": row.regret}


def columns_of_pairs(outcomes: Sequence[Outcome], names: Sequence[str]) -> dict[str, list[object]]:
    """Columns of a frame with one row per metric and pair."""
    pairs = [pair for outcome in outcomes if outcome.tested for pair in outcome.pairs(names)]
    columns = {name: [getattr(pair, name) for pair in pairs] for name in _PAIR_COLUMNS}
    for place, end in enumerate(("low", "high")):
        columns[end] = [pair.interval[place] for pair in pairs]
    columns["effect"] = [
        effect_of(outcome, *map(outcome.names.index, (pair.first, pair.second)))
        for outcome in outcomes
        if outcome.tested
        for pair in outcome.pairs(names)
    ]
    return columns


def flat_entries(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Finite numbers by ranking and metric, by keys that experiment trackers accept; the mean has no ending."""
    found: dict[str, float] = {}
    for outcome in outcomes:
        for row in outcome.standings:
            start = f"{flat_slice(row.name)}_{flat_name(outcome.metric)}"
            low, high = row.interval
            facts = {"": row.mean, "_difference": row.difference, "_low": low, "_high": high}
            facts["_p"] = row.p_value
            for end, value in facts.items():
                if start + end in found:
                    raise ValueError(
                        f"to_dict(flat=True) needs rankings and metrics whose names differ; {row.name!r} by "
                        f"{outcome.metric!r} gives the key {start + end!r} of another one. Rename the ranking."
                    )
                found[start + end] = value
    return {key: value for key, value in found.items() if np.isfinite(value)}


def entries(
    outcomes: Sequence[Outcome], names: Sequence[str]
) -> dict[str, dict[str, dict[str, Any]]]:
    """What is known by ranking and metric, for JSON."""
    found: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in names}
    for outcome in outcomes:
        for row in outcome.standings:
            low, high = row.interval
            facts = {"mean": row.mean, "difference": row.difference, "low": low, "high": high}
            # JSON has neither NaN nor infinity.
            known: dict[str, Any] = {"status": row.status} if row.status else {}
            known |= {name: value for name, value in facts.items() if np.isfinite(value)}
            if row.reference and len(outcome.plan.baselines) > 1:
                known["baseline"] = row.reference
            found[row.name][outcome.metric] = known
    return found
