"""Columns of the frames of comparisons, from their outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skrank_metrics.reports.families import Interval
from skrank_metrics.reports.outcome import Outcome
from skrank_metrics.reports.ranking_report import RankingReport

_PAIR_COLUMNS = (
    *("metric", "first", "second", "difference", "p_value", "p_adjusted"),
    *("wins", "ties", "losses", "verdict"),
)


def columns_of_rankings(
    outcomes: Sequence[Outcome], reports: Mapping[str, RankingReport]
) -> dict[str, list[object]]:
    """Columns of a frame with one row per ranking."""
    n_queries = outcomes[0].sample.n_queries
    columns: dict[str, list[object]] = {
        "ranking": list(reports),
        "n_queries": [n_queries] * len(reports),
    }
    for outcome in outcomes:
        metric, confidence = outcome.metric, outcome.plan.confidence
        intervals = [report.intervals(confidence)[metric] for report in reports.values()]
        columns[metric] = [outcome.means[name] for name in reports]
        columns |= _ends(f"{metric} ", intervals)
        if outcome.tested:
            known = _columns_of_test(outcome, list(reports))
            columns |= {f"{metric} {name}": values for name, values in known.items()}
    return columns


def _columns_of_test(outcome: Outcome, names: Sequence[str]) -> dict[str, list[object]]:
    # Standings are in the order of their own metric.
    row_of = {row.name: row for row in outcome.standings}
    rows = [row_of[name] for name in names]
    columns: dict[str, list[object]] = {"difference": [row.difference for row in rows]}
    if len(outcome.plan.baselines) > 1:
        columns["baseline"] = [row.rival or None for row in rows]
    columns |= _ends("difference ", [row.interval for row in rows])
    columns["p"] = [row.p_value for row in rows]
    columns["status"] = [row.status for row in rows]
    columns["regret"] = [row.regret for row in rows]
    letters_of = outcome.letters
    return columns | {"letters": [letters_of[name] for name in names]}


def columns_of_pairs(outcomes: Sequence[Outcome], names: Sequence[str]) -> dict[str, list[object]]:
    """Columns of a frame with one row per metric and pair."""
    pairs = [pair for outcome in outcomes if outcome.tested for pair in outcome.pairs(names)]
    columns = {name: [getattr(pair, name) for pair in pairs] for name in _PAIR_COLUMNS}
    columns |= _ends("", [pair.interval for pair in pairs])
    return columns | _ends("simultaneous ", [pair.simultaneous for pair in pairs])


def _ends(prefix: str, intervals: Sequence[Interval]) -> dict[str, list[object]]:
    return {
        f"{prefix}low": [low for low, _ in intervals],
        f"{prefix}high": [high for _, high in intervals],
    }
