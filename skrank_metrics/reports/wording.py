"""What comparisons say: the verdict, tables, notes and the columns of frames, from their outcomes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from skrank_metrics._output.result import Part, counted
from skrank_metrics._output.table import Column, Table, as_text, p_text, signed
from skrank_metrics.reports.families import Interval
from skrank_metrics.reports.outcome import Outcome, Pair, Standing, Status
from skrank_metrics.reports.plan import Correction, Test
from skrank_metrics.reports.planning import detectable
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.reports.slices import largest

# More names than this are counted, not listed.
MOST_NAMED = 4
# Number of rankings, or metrics, that fit side by side into 80 columns.
BESIDE = 4
_TESTS: dict[Test, str] = {
    "permutation": "paired sign-flip permutation test",
    "t": "paired t-test",
}
_CORRECTIONS: dict[Correction | None, str] = {
    "max": "adjusted by the maximum",
    "holm": "adjusted by Holm's method",
    "bh": "adjusted by Benjamini and Hochberg's method",
    None: "not adjusted",
}


# Sentences


def verdict_of(outcome: Outcome) -> str:
    """What is known about the best ranking, or about all rankings and the baseline."""
    if len(outcome.names) < 2:
        return ""
    if not outcome.tested:
        leader = outcome.ranked[0]
        return f"{leader} is ahead by {outcome.metric}, which is not a mean over queries and cannot be tested."
    if outcome.plan.baseline is not None:
        return " ".join(_against_baseline(outcome, outcome.plan.baseline))
    return " ".join(_about_the_best(outcome))


def _level(outcome: Outcome) -> str:
    return f"With {100 * outcome.plan.confidence:g}% confidence,"


def _about_the_best(outcome: Outcome) -> Iterator[str]:
    ranked, may_be = outcome.ranked, outcome.best_set
    if outcome.plan.margin is not None:
        yield _release(outcome, outcome.plan.margin)
    worse = [name for name in ranked if name not in may_be]
    if len(may_be) == 1:
        yield f"{_level(outcome)} {may_be[0]} is best."
    elif worse:
        are = "is" if len(worse) == 1 else "are"
        yield f"{_level(outcome)} the best is {some_of(may_be, 'or')}; {ranked[0]} leads."
        yield f"{some_of(worse, 'and')} {are} worse."
    else:
        pair = f"{ranked[0]} from {ranked[1]}"
        apart = pair if len(ranked) == 2 else f"{some_of(ranked, 'and')} apart"
        yield f"{counted(outcome.sample.n_queries, 'query')} cannot tell {apart}."
    if len(may_be) > 1 and _equal_to(outcome, may_be[0], may_be) == list(may_be):
        yield f"{some_of(may_be, 'and')} are equal on every query."


def _equal_to(outcome: Outcome, name: str, others: Sequence[str]) -> list[str]:
    """The rankings among some that have the same values as one."""
    counts = outcome.flips.row(outcome.names.index(name)).counts
    return [other for other in others if not counts[outcome.names.index(other)].any()]


def _release(outcome: Outcome, margin: float) -> str:
    """Which rankings lose at most the margin against the best."""
    regret = dict(zip(outcome.names, outcome.regret.tolist(), strict=True))
    good = [name for name in outcome.ranked if regret[name] <= margin]
    if not good:
        return f"Do not ship yet: no ranking is known to lose at most {margin:g} against the best."
    if regret[good[0]] == 0:
        return f"Ship {good[0]}."
    lose = "loses" if len(good) == 1 else "lose"
    return f"Ship {some_of(good, 'or')}, which {lose} at most {margin:g}."


def _against_baseline(outcome: Outcome, baseline: str) -> Iterator[str]:
    """How rankings compare with the baseline."""
    margin, named = outcome.plan.margin, dict[Status, list[str]]()
    for row in outcome.standings:
        named.setdefault(row.status, []).append(row.name)
    if margin is not None:
        good = [*named.get("better", []), *named.get("not worse", [])]
        yield f"Ship {some_of(good, 'or')}." if good else "Do not ship."
    equal = _equal_to(outcome, baseline, named.get("not worse", []))
    named["not worse"] = [name for name in named.get("not worse", []) if name not in equal]
    known = list(_known(named, baseline, margin))
    if known:
        yield f"{_level(outcome)} {listed(known)}."
    if equal:
        yield f"{some_of(equal, 'and')} equal{'s' * (len(equal) == 1)} {baseline} on every query."
    if undecided := named.get("undecided"):
        each = "from" if len(undecided) == 1 else "each from"
        queries = counted(outcome.sample.n_queries, "query")
        yield f"{queries} cannot tell {some_of(undecided, 'and')} {each} {baseline}."


def _known(
    named: Mapping[Status, Sequence[str]], baseline: str, margin: float | None
) -> Iterator[str]:
    statuses: tuple[Status, ...] = ("better", "not worse", "worse")
    for status in statuses:
        if names := named.get(status):
            are = "is" if len(names) == 1 else "are"
            within = f" by more than {margin:g}" if margin and status == "not worse" else ""
            yield f"{some_of(names, 'and')} {are} {status} than {baseline}{within}"


def some_of(names: Sequence[str], word: str) -> str:
    """Names in a sentence; only the first ones and the number of the others if there are many."""
    if len(names) > MOST_NAMED:
        names = [*names[: MOST_NAMED - 1], f"{len(names) - MOST_NAMED + 1} others"]
    return listed(names, word)


def listed(names: Sequence[str], word: str = "and") -> str:
    """Names in a sentence: "a", "a and b", "a, b and c"; with semicolons if names have commas."""
    *front, last = names
    comma = "; " if any(", " in name for name in names) else ", "
    return f"{comma.join(front)} {word} {last}" if front else last


# Tables


def tables(outcomes: Sequence[Outcome]) -> Iterator[Table]:
    """The rankings by the first metric with what is known about each, then by the other metrics."""
    tested = [outcome for outcome in outcomes if outcome.tested]
    first = outcomes[0]
    if len(first.names) == 2 and tested:
        yield _table_of_means(outcomes)
        yield _table_of_pair(tested)
    elif not first.tested:
        yield _table_of_means(outcomes)
    else:
        yield _table_of_standings(first)
        for start in range(1, len(outcomes), BESIDE):
            yield _table_of_means(outcomes[start : start + BESIDE])


def _table_of_standings(outcome: Outcome) -> Table:
    """One row per ranking, compared with the best other or with the baseline."""
    columns = (
        Column("", str),
        outcome.metric,
        Column(f"minus {outcome.plan.baseline or 'best other'}", signed),
        Column(f"{100 * outcome.plan.confidence:g}% interval", signed),
        Column("p", p_text),
        Column("status", str),
    )
    rows = [_cells_of(standing) for standing in outcome.standings]
    return Table(columns, rows)


def _cells_of(row: Standing) -> tuple[object, ...]:
    if math.isnan(row.p_value):
        return (row.name, row.mean, None, None, None, row.status)
    return (row.name, row.mean, row.difference, row.interval, row.p_value, row.status)


def _table_of_pair(outcomes: Sequence[Outcome]) -> Table:
    """One row per metric for the only two rankings."""
    first = outcomes[0]
    numbers = [first.names.index(name) for name in usual_pair(first)]
    pairs = [outcome.pair(*numbers) for outcome in outcomes]
    columns = (
        Column("", str),
        Column(f"{pairs[0].first} - {pairs[0].second}", signed),
        Column(f"{100 * first.plan.confidence:g}% interval", signed),
        *("wins", "ties", "losses"),
        Column("p", p_text),
    )
    rows = [
        (p.metric, p.difference, p.interval, p.wins, p.ties, p.losses, p.p_value) for p in pairs
    ]
    return Table(columns, rows)


def usual_pair(outcome: Outcome) -> tuple[str, str]:
    """The best ranking and the baseline, or the next best."""
    others = [name for name in outcome.names if name != outcome.plan.baseline]
    return others[0], outcome.plan.baseline or others[1]


def _table_of_means(outcomes: Sequence[Outcome]) -> Table:
    """Mean of each ranking by several metrics; a star marks those that may be the best of several."""
    columns = [Column("", str)]
    cells = [list[object](outcomes[0].names)]
    for outcome in outcomes:
        stars = outcome.tested and len(outcome.names) > 2
        columns.append(Column(outcome.metric, _starred))
        cells.append(list(starred_means(outcome, outcome.best_set if stars else ())))
    return Table(columns, list(zip(*cells, strict=True)))


def starred_means(outcome: Outcome, stars: Sequence[str]) -> list[tuple[float, bool]]:
    """Means with whether they have a star."""
    means = outcome.sample.means.tolist()
    return [(mean, name in stars) for name, mean in zip(outcome.names, means, strict=True)]


def _starred(value: tuple[float, bool]) -> str:
    mean, is_best = value
    return f"{'*' * is_best}{as_text(mean)}"


def slices(outcomes: Mapping[str, Outcome]) -> Iterator[Part]:
    """The means in the largest slices, by their names."""
    if not outcomes:
        return
    sizes = {value: outcome.sample.n_queries for value, outcome in outcomes.items()}
    shown = largest(outcomes, sizes)
    first = next(iter(outcomes.values()))
    names = first.names[:BESIDE]
    columns = [Column("slice", str), Column("queries"), *(Column(name, _starred) for name in names)]
    if len(first.names) > BESIDE:
        columns += [Column("best", str), Column(first.metric, _starred)]
    rows = []
    for value, outcome in shown.items():
        cells = starred_means(outcome, outcome.best_set)
        best = outcome.sample.order[0]
        best_mean = (cells[best][0], True)
        row = (value, sizes[value], *cells[: len(names)], outcome.names[best], best_mean)
        rows.append(row[: len(columns)])
    yield Table(columns, rows)
    family = (
        f"by {first.metric}, corrected for {first.tests.family.n_tests} comparisons in all slices."
    )
    many = f"The largest {len(shown)} of {len(outcomes)}; to_frame(slices=True) has all. "
    yield f"{many * (len(shown) < len(outcomes))}*: may be the best in the slice {family}"


# Notes


def notes(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """How rankings were compared, and what to keep in mind."""
    tested = [outcome for outcome in outcomes if outcome.tested]
    if not tested:
        return
    first = outcomes[0]
    yield _how(first)
    further = [outcome for outcome in tested if outcome is not first]
    if further and len(first.names) > 2:
        yield "*: may be the best by this metric."
    for outcome in further if first.plan.baseline is None else ():
        if first.names[0] not in outcome.best_set:
            best = some_of(outcome.best_set, "or")
            yield f"But by {outcome.metric}, {first.names[0]} is worse: the best is {best}."
    yield from _counts(tested[0])


def _how(outcome: Outcome) -> str:
    """The test, and the family of comparisons that it was corrected for."""
    test, n_others = _TESTS[outcome.plan.test], len(outcome.names) - 1
    if n_others == 1:
        return f"Intervals and p: {test}."
    correction = _CORRECTIONS[outcome.plan.correction]
    if outcome.plan.baseline is not None:
        return (
            f"Intervals and p: {test}, {correction} for {n_others} comparisons with the baseline."
        )
    n_pairs = len(outcome.tests.family.pairs)
    return f"Intervals and p: {test}, {correction} for {n_pairs} pairs."


def _counts(outcome: Outcome) -> Iterator[str]:
    """Sentences on queries that do not count in full, and on what they can detect."""
    sample, flips = outcome.sample, outcome.flips
    units = counted(flips.n_units, "group" if sample.is_grouped else "query")
    if sample.n_undefined:
        undefined = counted(sample.n_undefined, "query")
        yield f"Left out: {undefined} without a value of {outcome.metric} in every ranking."
    if sample.is_grouped:
        yield f"The queries are in {units}, which are independent."
    if flips.n_effective < flips.n_units / 2:
        yield f"Because of unequal weights, {units} count as {flips.n_effective:.0f}."
    if won := outcome.folds_won:
        number = ", ".join(f"{name} {n}" for name, n in won.items() if n)
        more, covers = "no more", ""
        if flips.fits_vary:
            more, covers = "more", "; intervals cover fitting again on other data"
        yield f"Folds won: {number}. Differences vary {more} between folds than between queries{covers}."
    difference = detectable(outcome)
    if len(outcome.best_set) > 1 and not math.isnan(difference):
        yield f"Differences of {difference:.4f} would be detected with a power of 0.8."


def findings(reports: Mapping[str, RankingReport]) -> Iterator[str]:
    """Findings about the data of all rankings, and the kinds of the others with the rankings that they are about."""
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
        yield f"{kind}: {some_of(names, 'and')}; see reports[{names[0]!r}].health."


# Frames

_PAIR_COLUMNS = (
    *("metric", "first", "second", "difference", "p_value", "p_adjusted"),
    *("wins", "ties", "losses", "verdict"),
)


def columns_of_rankings(
    outcomes: Sequence[Outcome], reports: Mapping[str, RankingReport]
) -> dict[str, list[object]]:
    """Columns of a frame with one row per ranking."""
    first = outcomes[0]
    columns: dict[str, list[object]] = {
        "ranking": list(first.names),
        "n_queries": [first.sample.n_queries] * len(first.names),
    }
    for outcome in outcomes:
        confidence = outcome.plan.confidence
        intervals = [report.intervals(confidence)[outcome.metric] for report in reports.values()]
        columns[outcome.metric] = outcome.sample.means.tolist()
        columns |= _ends(f"{outcome.metric} ", intervals)
        if outcome.tested:
            columns |= _columns_of_test(outcome)
    return columns


def _columns_of_test(outcome: Outcome) -> dict[str, list[object]]:
    metric, letters_of = outcome.metric, outcome.letters
    standing_of = {row.name: row for row in outcome.standings}
    rows = [standing_of[name] for name in outcome.names]
    columns: dict[str, list[object]] = {f"{metric} difference": [row.difference for row in rows]}
    columns |= _ends(f"{metric} difference ", [row.interval for row in rows])
    columns[f"{metric} p"] = [row.p_value for row in rows]
    columns[f"{metric} status"] = [row.status for row in rows]
    columns[f"{metric} regret"] = [row.regret for row in rows]
    columns[f"{metric} letters"] = [letters_of[name] for name in outcome.names]
    return columns


def columns_of_pairs(outcomes: Sequence[Outcome]) -> dict[str, list[object]]:
    """Columns of a frame with one row per metric and pair."""
    pairs: list[Pair] = []
    for outcome in outcomes:
        if outcome.tested:
            pairs += outcome.pairs()
    columns = {name: [getattr(pair, name) for pair in pairs] for name in _PAIR_COLUMNS}
    columns |= _ends("", [pair.interval for pair in pairs])
    return columns | _ends("simultaneous ", [pair.simultaneous for pair in pairs])


def _ends(prefix: str, intervals: Sequence[Interval]) -> dict[str, list[object]]:
    return {
        f"{prefix}low": [low for low, _ in intervals],
        f"{prefix}high": [high for _, high in intervals],
    }
