"""Tables and notes of comparisons, from their outcomes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from skrank_metrics._input.interface import on_command_line
from skrank_metrics._output.result import Part, counted
from skrank_metrics._output.table import Column, Table, as_text, p_text, signed
from skrank_metrics.reports.families import Interval
from skrank_metrics.reports.mean_intervals import bounds_of, weighting
from skrank_metrics.reports.outcome import Outcome, Standing
from skrank_metrics.reports.plan import Test
from skrank_metrics.reports.planning import detectable
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.reports.slices import largest
from skrank_metrics.reports.verdict import listed, some_of

# Number of rankings that fit side by side into 80 columns.
BESIDE = 5
# Longer names of a baseline would take more room in the head of a column than its numbers.
LONGEST_IN_HEAD = 16
# Ends that are closer to 0 would be printed as 0, which may be inside the interval or outside.
SHOWN = 5e-5
# A larger share of the range of a metric is a large margin.
LARGE_MARGIN = 0.1
_TESTS: dict[Test, str] = {"permutation": "paired permutation test", "t": "paired t-test"}


# The table


def table_of_rankings(outcomes: Sequence[Outcome]) -> Table:
    """One row per ranking: means, how far behind the leader or from the baseline, and what is known about it."""
    first = outcomes[0]
    columns = [Column("", str), Column(first.metric)]
    names = first.ranked
    cells: list[list[object]] = [list(names), [first.means[name] for name in names]]
    if first.tested:
        columns += _columns_of_test(first)
        rows = [_cells_of_test(first, row) for row in first.standings]
        cells += [list(column) for column in zip(*rows, strict=True)]
    for outcome in outcomes[1:]:
        columns.append(Column(outcome.metric, _marked))
        cells.append([_mean_and_mark(outcome, name, first) for name in names])
    return Table(columns, list(zip(*cells, strict=True)))


def _columns_of_test(outcome: Outcome) -> list[Column]:
    baseline, level = outcome.plan.baseline, f"{100 * outcome.plan.confidence:g}% interval"
    if baseline is None:
        rivals = {row.rival for row in outcome.standings[1:]}
        head = "behind leader" if rivals == {outcome.ranked[0]} else "behind"
        return [Column(head), Column(level, interval_text), Column("status", str)]
    head = f"minus {baseline if len(baseline) <= LONGEST_IN_HEAD else 'baseline'}"
    return [Column(head, signed), Column(level, signed_interval_text), Column("status", str)]


def _cells_of_test(outcome: Outcome, row: Standing) -> tuple[float | None, Interval | None, str]:
    """Distance, its interval, and status of a ranking."""
    baseline, leader = outcome.plan.baseline, outcome.ranked[0]
    if row.name == (leader if baseline is None else baseline):
        return None, None, row.status
    if baseline is not None:
        return row.difference, row.interval, row.status
    status = row.status if row.rival == leader else f"{row.status} than {row.rival}"
    low, high = row.interval
    if outcome.sample.greater_is_better:  # how far behind, in either direction of the metric
        return 0.0 - row.difference, (0.0 - high, 0.0 - low), status
    return row.difference, (low, high), status


def _mean_and_mark(outcome: Outcome, name: str, first: Outcome) -> tuple[float, bool]:
    """The mean, and whether it is the best by this metric, but not by the first."""
    is_marked = name == outcome.ranked[0] and _has_mark(outcome, first)
    return outcome.means[name], is_marked


def _marked(value: tuple[float, bool]) -> str:
    mean, is_marked = value
    return f"{'*' if is_marked else ''}{as_text(mean)}"


def interval_text(ends: Interval, spec: str = "z.4f") -> str:
    """An interval that shows whether 0 is inside, however near an end is."""
    if math.isnan(ends[0]):
        return "none"
    low, high = (_end_text(end, spec) for end in ends)
    return f"[{low}, {high}]"


def signed_interval_text(ends: Interval) -> str:
    """The same with signs."""
    return interval_text(ends, "+z.4f")


def _end_text(end: float, spec: str) -> str:
    if math.isinf(end):
        return "-inf" if end < 0 else "inf"
    if 0 < abs(end) < SHOWN:
        return ">0" if end > 0 else "<0"
    return format(end, spec)


# Slices


def slices(outcomes: Mapping[str, Outcome]) -> Iterator[Part]:
    """One row per slice, for the largest slices by their names."""
    if not outcomes:
        return
    sizes = {value: outcome.sample.n_queries for value, outcome in outcomes.items()}
    shown = largest(outcomes, sizes)
    first = next(iter(outcomes.values()))
    shows_all = len(first.names) <= BESIDE
    heads = list(first.names) if shows_all else [f"leader's {first.metric}"]
    rows = []
    for value, outcome in shown.items():
        names = first.names if shows_all else outcome.ranked[:1]
        cells = [outcome.means[name] for name in names]
        rows.append((value, sizes[value], *cells, _known_in_slice(outcome)))
    known = Column("best" if first.plan.baseline is None else f"than {first.plan.baseline}", str)
    columns = [Column("slice", str), Column("queries"), *map(Column, heads), known]
    yield Table(columns, rows)
    n_tests = counted(first.tests.family.n_tests, "comparison")
    more = ""
    if len(shown) < len(outcomes):
        everywhere = "--output tsv" if on_command_line() else "to_frame(slices=True)"
        more = f" These are the largest {len(shown)} of {len(outcomes)}; {everywhere} has all."
    yield f"Slices are compared by {first.metric}, with {n_tests} tested together.{more}"


def _known_in_slice(outcome: Outcome) -> str:
    """The rankings that may be the best of a slice, or what is known about the baseline."""
    if outcome.plan.baseline is None:
        if len(outcome.best_set) == len(outcome.names):
            return "not clear"
        return some_of(outcome.best_set, "or")
    known = []
    for status in ("better", "not worse", "worse"):
        names = [row.name for row in outcome.standings if row.status == status]
        if names:
            known.append(f"{some_of(names, 'and')} {status}")
    return listed(known) if known else "not clear"


# Notes


def notes(outcomes: Sequence[Outcome], reports: Mapping[str, RankingReport]) -> Iterator[str]:
    """What to keep in mind, the most important first."""
    tested = [outcome for outcome in outcomes if outcome.tested]
    for outcome in tested:
        yield from _large_margin(outcome)
    marked = [outcome.metric for outcome in outcomes[1:] if _has_mark(outcome, outcomes[0])]
    if marked:
        yield f"* leads by {listed(marked)}."
    for outcome in tested[:1]:
        yield from _left_out(outcome)
    yield from _folds(outcomes[0])
    for outcome in tested[:1]:
        yield from _power(outcome)
        yield from _wins(outcome)
        yield from _dependence(outcome)
    yield from findings(reports)
    for outcome in tested[:1]:
        yield _how(outcome)
    yield from weighting(next(iter(reports.values())).weights)


def _has_mark(outcome: Outcome, first: Outcome) -> bool:
    return outcome.ranked[0] != first.ranked[0]


def _large_margin(outcome: Outcome) -> Iterator[str]:
    low, high = bounds_of(outcome.sample.bound)
    if outcome.margin is not None and outcome.margin > LARGE_MARGIN * (high - low):
        share = outcome.margin / (high - low)
        yield f"The margin of {outcome.margin:g} is large: {share:.0%} of the range of {outcome.metric}."


def _left_out(outcome: Outcome) -> Iterator[str]:
    sample, flips = outcome.sample, outcome.flips
    if sample.n_undefined:
        have = "has" if sample.n_undefined == 1 else "have"
        queries = counted(sample.n_undefined, "query")
        yield (
            f"{queries} {have} no value of {outcome.metric} in some ranking, so the other {sample.n_counted} are "
            "compared."
        )
    if flips.n_effective < flips.n_units / 2:
        units = counted(flips.n_units, "group" if sample.is_grouped else "query")
        yield f"Because of unequal weights, {units} tell as much as {flips.n_effective:.0f}."


def _folds(outcome: Outcome) -> Iterator[str]:
    """How many folds the leader won, and whether folds widen the intervals."""
    won = outcome.folds_won
    n_folds = sum(won.values())
    if not outcome.tested:
        if won:
            yield f"Cross-validated in {n_folds} folds."
        return
    if won:
        leader = outcome.ranked[0]
        best = f"{leader} is best in {won[leader]} of {n_folds} folds."
        widened = "The verdict allows for training on other data."
        if outcome.flips.fits_vary:
            widened = "The folds disagree more than the queries do, so the intervals were widened."
        yield f"Cross-validated: {best} {widened}"


def _power(outcome: Outcome) -> Iterator[str]:
    difference = detectable(outcome)
    if len(outcome.best_set) > 1 and not math.isnan(difference):
        queries = counted(outcome.sample.n_counted, "query")
        yield f"{queries} can show differences of {_two_digits(difference)} or more."


def _wins(outcome: Outcome) -> Iterator[str]:
    """On how many queries each of two rankings is better."""
    if len(outcome.names) == 2:
        pair = outcome.pair(*outcome.ranked)
        queries = counted(pair.n_queries, "query")
        yield f"{pair.first} is better on {pair.wins} of {queries}, {pair.second} on {pair.losses}."


def _two_digits(difference: float) -> str:
    return np.format_float_positional(difference, 2, fractional=False, trim="-")


def _dependence(outcome: Outcome) -> Iterator[str]:
    if outcome.sample.is_grouped:
        groups = counted(outcome.flips.n_units, "group")
        yield f"Queries of a group are not independent, so the tests are over {groups}."


def _how(outcome: Outcome) -> str:
    """The test, and the comparisons that it was corrected for."""
    test, n_tests = _TESTS[outcome.plan.test], outcome.tests.family.n_tests
    if n_tests == 1:
        return f"The interval is from a {test}."
    comparisons = counted(n_tests, "comparison")
    correction = outcome.plan.correction
    if correction is None:
        return f"Intervals are from a {test}, each for itself: of {comparisons}, some may be wrong."
    if correction == "bh":
        return f"From a {test}, corrected for {comparisons} by Benjamini and Hochberg's method."
    if correction == "holm":
        return f"From a {test}, corrected for {comparisons} by Holm's method."
    return f"Intervals are from a {test}, and hold together for {comparisons}."


# Findings of the reports, about some rankings only, by their first word.
_PREDICATES = {
    "Ties": ("has tied scores", "have tied scores"),
    "Constant scores": ("gives a query only equal scores", "give a query only equal scores"),
    "Float32": ("has scores that tie in float32", "have scores that tie in float32"),
    "Unjudged": (
        "returned documents that nobody judged",
        "returned documents that nobody judged",
    ),
    "Drawn orders": (
        "has many orders of ties, of which some were drawn at random",
        "have many orders of ties, of which some were drawn at random",
    ),
}


def findings(reports: Mapping[str, RankingReport]) -> Iterator[str]:
    """Findings about the data of all rankings, then those about some."""
    by_name = {name: report.health.findings for name, report in reports.items()}
    first = next(iter(by_name.values()))
    shared = [one for one in first if all(one in others for others in by_name.values())]
    yield from shared
    kinds: dict[str, list[str]] = {}
    for name, sentences in by_name.items():
        own = [sentence for sentence in sentences if sentence not in shared]
        for kind in dict.fromkeys(sentence.partition(":")[0] for sentence in own):
            kinds.setdefault(kind, []).append(name)
    for kind, names in kinds.items():
        who = some_of(names, "and")
        if kind.endswith("."):  # a sentence without a first word of its kind
            yield f"{who}: {kind}"
            continue
        singular, plural = _PREDICATES.get(kind, (f"has {kind.lower()}", f"have {kind.lower()}"))
        have = singular if len(names) == 1 else plural
        how = f"print .reports[{names[0]!r}].health of this comparison"
        if on_command_line():
            how = f"run skrank-metrics evaluate for {names[0]} alone"
        yield f"{who} {have}. To see more, {how}."


# Details


def details(outcomes: Sequence[Outcome]) -> Iterator[Part]:
    """Per metric, what the table leaves out: p-values, letters, regret and the pairs of two rankings."""
    for outcome in outcomes:
        if outcome.tested:
            yield _table_of_details(outcome)
    if any(outcome.tested for outcome in outcomes):
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
    letters_of = outcome.letters
    rows = []
    for row in outcome.standings:
        p = None if math.isnan(row.p_value) else row.p_value
        rows.append((row.name, row.mean, p, letters_of[row.name], row.regret, row.status))
    return Table(columns, rows)
