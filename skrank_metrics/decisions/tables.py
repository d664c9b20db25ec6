"""Tables, details, frames and dicts of comparisons, from decisions and names alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from skrank_metrics._output.result import (
    Column,
    Note,
    Section,
    Table,
    as_text,
    counted,
    exact_end,
    p_text,
    signed,
)
from skrank_metrics.decisions.outcome import Outcome, Pair, QueryDifference, Standing
from skrank_metrics.decisions.signs import MOST_ENUMERATED, N_SIGNS
from skrank_metrics.decisions.words import (
    MOST_NAMED,
    blocks_of,
    listed,
    margin_of,
    n_folds_of,
    some_of,
    status_of,
    units_of,
)
from skrank_metrics.metrics._record import flat_name
from skrank_metrics.reports.facts import flat_slice
from skrank_metrics.reports.mean_intervals import AVERAGES_WITHOUT_INTERVAL
from skrank_metrics.reports.ranking_report import RankingReport

MOST_ROWS = MOST_SLICES = 12  # more are counted
ROWS_OF_MANY = 10
# Longer names would take the room of other columns.
LONGEST_IN_HEAD = 16
# Means in slices are side by side for so many rankings.
BESIDE = 5
# What several rankings are.
_ARE = {"highest": "score highest", "lowest": "score lowest", "may be as good": "may be as good"}
_INTERVAL = (
    "The difference over all queries of this kind is probably between these numbers, for all rows at once. "
    "If 0 is not, the rankings differ."
)
_STATUS = "What these queries show about the ranking."
_DIFFERENCE = "The mean minus that of the ranking in the head."


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
        title += f", margin {margin_of(guards[0])}"
        if len(guards) < len(outcomes):
            title += f" of {listed([guard.metric for guard in guards])}"
    elif guards:
        title += f", margins {', '.join(f'{guard.metric} {margin_of(guard)}' for guard in guards)}"
    title += origin
    if len(first.metric) > LONGEST_IN_HEAD:
        title += f", {first.metric}"
    for outcome in blocks_of(outcomes):
        if not outcome.bound.greater_is_better:
            title += f"; smaller {outcome.metric} is better"
    return title


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


def worst_queries(pair: Pair, worst: Sequence[QueryDifference]) -> list[Section]:
    """The queries on which the first of two rankings loses most."""
    if not worst:
        return []
    heads = ("query", pair.first, pair.second, Column("difference", signed))
    title = f"Queries on which {pair.first} loses most against {pair.second}, by {pair.metric}"
    return [Table(heads, [(str(qid), *values) for qid, *values in worst], title)]


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
        f"{units_of(outcome, decision.n_units)}, B = {n_signs:,}, {pairs}), simultaneous CIs{folds}."
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


# Frames and dicts

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
