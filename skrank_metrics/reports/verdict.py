"""What a comparison says: pairs, standings, letters, the verdict, tables, notes and the columns of frames."""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray, Mask
from skrank_metrics._output.result import Part, counted
from skrank_metrics._output.table import Column, Table, as_text, p_text, signed
from skrank_metrics.reports.mean_intervals import moments, weighting
from skrank_metrics.reports.sign_flips import CORRECTIONS, TESTS, Interval, without_rounding
from skrank_metrics.reports.slices import largest

# Fewer queries cannot show a difference at a level of 0.05, so being equal on them shows nothing.
LEAST_EQUAL = 6
# More names than this are counted, not listed.
MOST_NAMED = 4
# Number of rankings, or metrics, that fit side by side into 80 columns.
BESIDE = 4


@dataclass(frozen=True, eq=False)
class Pair:
    """Two rankings compared.

    The verdict follows from the simultaneous interval: "better" or "worse" if significant; "not worse", only with a
    margin, if the first loses at most this or is equal on all of 6 queries or more; else "undecided". Intervals exclude
    0 exactly if p_value, or p_adjusted, is at most 1 - confidence; NaN if too few values of an unbounded metric differ.
    """

    first: str
    second: str
    metric: str
    difference: float  # mean of the first minus mean of the second
    interval: Interval  # of the difference, for this pair alone
    simultaneous: Interval  # which holds together with those of all other pairs
    p_value: float
    p_adjusted: float  # corrected for the number of pairs
    wins: int  # number of queries on which the first is better
    ties: int
    losses: int
    n_queries: int  # with a value and a weight above 0
    qid: NDArray[Any] = field(repr=False)
    differences: FloatArray = field(repr=False)  # of shape (n_queries,)
    values: tuple[FloatArray, FloatArray] = field(
        repr=False
    )  # of the first and of the second, by query
    verdict: str


class QueryDifference(NamedTuple):
    """A query with the values of two rankings and their difference."""

    qid: Any
    first: float
    second: float
    difference: float


class Standing(NamedTuple):
    """What is known about one ranking.

    The difference is that to the best other ranking, and the status "best" (alone), "leads", "may be best" or "worse".
    The interval ends at 0 on the better side exactly if the status is "worse", on the other exactly if it is "best".
    With a baseline, they are those of the pair, with the simultaneous interval and the adjusted p-value.
    """

    name: str
    mean: float
    difference: float = np.nan
    interval: Interval = (np.nan, np.nan)
    p_value: float = np.nan
    status: str = ""
    regret: float = np.nan


def pair_of(found: Any, first: str, second: str) -> Pair:
    """Compare two rankings by the first metric of a comparison."""
    places = [found.names.index(first), found.names.index(second)]
    p, adjusted, interval, together = found._family.tested(found._number, *places)
    one, other = without_rounding(found._values[found.used][:, places]).T
    differences = one - other
    better = differences if found.greater_is_better else -differences
    return Pair(
        first,
        second,
        found.metrics[0],
        difference=moments(differences, found._weights).mean,
        interval=_directed(found, interval),
        simultaneous=_directed(found, together),
        p_value=p,
        p_adjusted=adjusted,
        wins=int((better > 0).sum()),
        ties=int((better == 0).sum()),
        losses=int((better < 0).sum()),
        n_queries=len(differences),
        qid=found.qid[found.used],
        differences=differences,
        values=(one, other),
        verdict=_verdict_of_pair(
            together, found.margin, 0 if differences.any() else len(differences)
        ),
    )


def _directed(found: Any, ends: Interval) -> Interval:
    """An interval of differences that are better if larger, in the direction of the metric."""
    return ends if found.greater_is_better else (0.0 - ends[1], 0.0 - ends[0])


def _verdict_of_pair(ends: Interval, margin: float | None, n_equal: int) -> str:
    """Verdict from the simultaneous interval of a difference, where larger is better; n_equal if no query differs."""
    low, high = ends
    if low > 0:
        return "better"
    # A change without any effect on these queries passes a release gate, if as many could have shown one.
    if margin is not None and (low > -margin or n_equal >= LEAST_EQUAL):
        return "not worse"
    return "worse" if high < 0 else "undecided"


def standings_of(found: Any) -> Iterator[Standing]:
    """What is known about each ranking by the first metric of a comparison, best first."""
    means, best, may_be = found._means, found._ranked[0], found.best_set if found.tested else ()
    regret = found.regret if found.tested else {}
    for name in found._ranked:
        row = Standing(name, means[name], regret=regret.get(name, np.nan))
        if not found.tested:
            yield row
        elif name == found.baseline:
            yield row._replace(status="baseline")
        elif found.baseline is not None:
            pair = pair_of(found, name, found.baseline)
            yield Standing(
                *row[:2],
                pair.difference,
                pair.simultaneous,
                pair.p_adjusted,
                pair.verdict,
                row.regret,
            )
        else:
            tested, place = found._best, found.names.index(name)
            low, high = tested.intervals[place].tolist()
            leads = "best" if len(may_be) == 1 else "leads"
            yield row._replace(
                difference=means[name] - means[found._ranked[1] if name == best else best],
                interval=_directed(found, (low, high)),
                p_value=float(tested.p_values[place]),
                status="worse" if name not in may_be else leads if name == best else "may be best",
            )


def letters(names: Sequence[str], different: Mask) -> dict[str, str]:
    """Letters by name, best first: two names share a letter if and only if they are not significantly different.

    A compact letter display (Piepho 2004, https://doi.org/10.1198/1061860043515). Each letter is a clique of names that
    are not different, found greedily (Gramm et al. 2007), so that the work is bounded by the number of pairs.
    """
    alike, n = ~different, len(names)
    np.fill_diagonal(alike, val=True)
    missing = alike & ~np.eye(n, dtype=bool)  # pairs that do not share a letter yet
    cliques: list[list[Any]] = [[place] for place in np.flatnonzero(~missing.any(axis=0))]
    for one, other in np.argwhere(np.triu(missing)):
        if missing[one, other]:
            clique: list[Any] = [one, other]
            candidates, gain = alike[one] & alike[other], missing[one].astype(int) + missing[other]
            candidates[clique] = False
            while candidates.any():
                clique.append(
                    np.argmax(np.where(candidates, gain, -1))
                )  # the name with most pairs to gain
                candidates &= alike[clique[-1]]
                candidates[clique[-1]] = False
                gain += missing[clique[-1]]
            missing[np.ix_(clique, clique)] = False
            cliques.append(sorted(clique))
    found = dict.fromkeys(names, "")
    for number, clique in enumerate(sorted(cliques)):
        for place in clique:
            found[names[place]] += string.ascii_letters[number : number + 1] or f"({number + 1})"
    return found


# Sentences


def verdict_of(found: Any) -> str:
    """What is known about the best ranking, or about all rankings and the baseline."""
    ranked, level = found._ranked, f"With {100 * found.confidence:g}% confidence,"
    if len(ranked) < 2:
        return ""
    if not found.tested:
        return f"{ranked[0]} is ahead by {found.metrics[0]}, which is not a mean over queries and cannot be tested."
    if found.baseline is not None:
        return " ".join(_against_baseline(found, level))
    may_be = found.best_set
    sentences = [] if found.margin is None else [_release(found)]
    if len(may_be) == 1:
        sentences.append(f"{level} {may_be[0]} is best.")
    elif worse := [name for name in ranked if name not in may_be]:
        best = f"{level} the best is {_some(may_be, 'or')}; {ranked[0]} leads."
        sentences.append(
            f"{best} {_some(worse, 'and')} {'is' if len(worse) == 1 else 'are'} worse."
        )
    else:
        apart = (
            f"{ranked[0]} from {ranked[1]}" if len(ranked) == 2 else f"{_some(ranked, 'and')} apart"
        )
        sentences.append(f"{counted(found.n_queries, 'query')} cannot tell {apart}.")
    if len(may_be) > 1 and _unchanged(found, may_be[0], may_be) == list(may_be):
        sentences.append(f"{_some(may_be, 'and')} are equal on every query.")
    return " ".join(sentences)


def _unchanged(found: Any, name: str, others: Sequence[str]) -> list[str]:
    """The rankings among some that have the same values as one."""
    counts = found._flips.row(found.names.index(name)).counts
    return [other for other in others if not counts[found.names.index(other)].any()]


def _release(found: Any) -> str:
    """Which rankings lose at most the margin against the best."""
    regret, margin = found.regret, f"{found.margin:g}"
    good = [name for name in found._ranked if regret[name] <= found.margin]
    if not good:
        return f"Do not ship yet: no ranking is known to lose at most {margin} against the best."
    if regret[good[0]] == 0:
        return f"Ship {good[0]}."
    return (
        f"Ship {_some(good, 'or')}, which {'loses' if len(good) == 1 else 'lose'} at most {margin}."
    )


def _against_baseline(found: Any, level: str) -> Iterator[str]:
    """How rankings compare with the baseline."""
    base, margin, named = found.baseline, found.margin, dict[str, list[str]]()
    for row in found.standings():
        named.setdefault(row.status, []).append(row.name)
    if margin is not None:
        good = [*named.get("better", []), *named.get("not worse", [])]
        yield f"Ship {_some(good, 'or')}." if good else "Do not ship."
    equal = _unchanged(found, base, named.get("not worse", []))
    named["not worse"] = [name for name in named.get("not worse", []) if name not in equal]
    within = {"not worse": f" by more than {margin:g}"} if margin else {}
    known = [
        f"{_some(names, 'and')} {'is' if len(names) == 1 else 'are'} {status} than {base}{within.get(status, '')}"
        for status in ("better", "not worse", "worse")
        if (names := named.get(status))
    ]
    if known:
        yield f"{level} {listed(known)}."
    if equal:
        yield f"{_some(equal, 'and')} equal{'s' * (len(equal) == 1)} {base} on every query."
    if undecided := named.get("undecided"):
        each = "from" if len(undecided) == 1 else "each from"
        yield f"{counted(found.n_queries, 'query')} cannot tell {_some(undecided, 'and')} {each} {base}."


def _some(names: Sequence[str], word: str) -> str:
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


def tables(found: Any) -> Iterator[Table]:
    """The rankings by the first metric with what is known about each, then by the other metrics."""
    tested = [metric for metric in found.metrics if found.by_metric(metric).tested]
    if len(found.names) == 2 and tested:
        yield _table_of_means(found, found.metrics)
        yield _table_of_pair(found, tested)
    elif not found.tested:
        yield _table_of_means(found, found.metrics)
    else:
        yield _table_of_standings(found)
        for start in range(1, len(found.metrics), BESIDE):
            yield _table_of_means(found, found.metrics[start : start + BESIDE])


def _table_of_standings(found: Any) -> Table:
    """One row per ranking, compared with the best other or with the baseline."""
    other, p = Column(f"minus {found.baseline or 'best other'}", signed), Column("p", p_text)
    interval = Column(f"{100 * found.confidence:g}% interval", signed)
    rows = [
        (*row[:2], *((None,) * 3 if np.isnan(row.p_value) else row[2:5]), row.status)
        for row in found.standings()
    ]
    return Table(
        (Column("", str), found.metrics[0], other, interval, p, Column("status", str)), rows
    )


def _table_of_pair(found: Any, metrics: Sequence[str]) -> Table:
    """One row per metric for the only two rankings."""
    pairs = [found.pair(metric=metric) for metric in metrics]
    rows = [
        (p.metric, p.difference, p.interval, p.wins, p.ties, p.losses, p.p_value) for p in pairs
    ]
    difference = Column(f"{pairs[0].first} - {pairs[0].second}", signed)
    interval = Column(f"{100 * found.confidence:g}% interval", signed)
    return Table(
        (Column("", str), difference, interval, "wins", "ties", "losses", Column("p", p_text)), rows
    )


def _table_of_means(found: Any, metrics: Sequence[str]) -> Table:
    """Mean of each ranking by several metrics; a star marks those that may be the best of several."""
    each = [found.by_metric(metric) for metric in metrics]
    cells = [
        _starred_means(own, own.best_set if own.tested and len(own.names) > 2 else ())
        for own in each
    ]
    columns = (Column("", str), *(Column(metric, _starred) for metric in metrics))
    return Table(columns, [(name, *(own[name] for own in cells)) for name in found.names])


def _starred_means(found: Any, stars: Sequence[str]) -> dict[str, tuple[float, bool]]:
    return {name: (mean, name in stars) for name, mean in found.means().items()}


def _starred(value: tuple[float, bool]) -> str:
    mean, is_best = value
    return f"{'*' * is_best}{as_text(mean)}"


def slices(found: Any) -> Iterator[Part]:
    """The means in the largest slices."""
    if not (parts := found._named_slices()):
        return
    shown = largest(parts, {value: part.n_queries for value, part in parts.items()})
    own, names, rows = next(iter(parts.values())), found.names[:BESIDE], []
    further = (
        [Column("best", str), Column(own.metrics[0], _starred)] if len(found.names) > BESIDE else []
    )
    for value, part in shown.items():
        cells, best = _starred_means(part, part.best_set), part._ranked[0]
        rows.append(
            (value, part.n_queries, *(cells[name] for name in names), best, (cells[best][0], True))
        )
    columns = [
        Column("slice", str),
        Column("queries"),
        *(Column(name, _starred) for name in names),
        *further,
    ]
    yield Table(columns, [row[: len(columns)] for row in rows])
    many = f"The largest {len(shown)} of {len(parts)}; to_frame(slices=True) has all. " * (
        len(shown) < len(parts)
    )
    family = f"by {own.metrics[0]}, corrected for {own._family.n_tests} comparisons in all slices."
    yield f"{many}*: may be the best in the slice {family}"


# Notes


def notes(found: Any) -> Iterator[str]:
    """How rankings were compared, and what to keep in mind."""
    tested = [own for metric in found.metrics if (own := found.by_metric(metric)).tested]
    if tested:
        yield _how(found)
        further = [own for own in tested if own is not found]
        if further and len(found.names) > 2:
            yield "*: may be the best by this metric."
        for own in further if found.baseline is None else ():
            if found.names[0] not in own.best_set:
                best = _some(own.best_set, "or")
                yield f"But by {own.metrics[0]}, {found.names[0]} is worse: the best is {best}."
        yield from _counts(tested[0])
    yield from weighting(found._first.weights)
    yield from _findings(found)


def _how(found: Any) -> str:
    """The test, and the family of comparisons that it was corrected for."""
    test, n_others = TESTS[found.test], len(found.names) - 1
    if n_others == 1:
        return f"Intervals and p: {test}."
    if found.baseline is not None:
        return f"Intervals and p: {test}, {CORRECTIONS[found.correction]} for {n_others} comparisons with the baseline."
    return (
        f"p: that it is the best, by a {test} against all {n_others} others together. An interval that ends at 0 "
        "excludes that."
    )


def _counts(found: Any) -> Iterator[str]:
    """Sentences on queries that do not count in full, and on what they can detect."""
    flips, grouped = found._flips, found._first.groups is not None
    units = counted(len(flips.masses), "group" if grouped else "query")
    if undefined := int(np.isnan(found._values).any(axis=1).sum()):
        yield f"Left out: {counted(undefined, 'query')} without a value of {found.metrics[0]} in every ranking."
    if grouped:
        yield f"The queries are in {units}, which are independent."
    if flips.n_effective < len(flips.masses) / 2:
        yield f"Because of unequal weights, {units} count as {flips.n_effective:.0f}."
    if won := found.folds_won:
        number = ", ".join(f"{name} {n}" for name, n in won.items() if n)
        more, covers = "no more", ""
        if any(flips.row(i).fold_error.any() for i in range(len(won))):
            more, covers = "more", "; intervals cover fitting again on other data"
        yield f"Folds won: {number}. Differences vary {more} between folds than between queries{covers}."
    if len(found.best_set) > 1 and not np.isnan(detectable := found.detectable):
        yield f"Differences of {detectable:.4f} would be detected with a power of 0.8."


def _findings(found: Any) -> Iterator[str]:
    """Findings about the data of all rankings, and the kinds of the others with the rankings that they are about."""
    by_name = {name: report.health.findings for name, report in found.reports.items()}
    shared = [
        one
        for one in by_name[found.names[0]]
        if all(one in findings for findings in by_name.values())
    ]
    yield from shared
    kinds: dict[str, list[str]] = {}
    for name, findings in by_name.items():
        for kind in dict.fromkeys(
            finding.partition(":")[0] for finding in findings if finding not in shared
        ):
            kinds.setdefault(kind, []).append(name)
    for kind, names in kinds.items():
        yield f"{kind}: {_some(names, 'and')}; see reports[{names[0]!r}].health."


# Frames


def columns_of_rankings(found: Any) -> dict[str, list[Any]]:
    """Columns of a frame with one row per ranking."""
    columns: dict[str, list[Any]] = {
        "ranking": list(found.names),
        "n_queries": [found.n_queries] * len(found.names),
    }
    for metric in found.metrics:
        own = found.by_metric(metric)
        rows = sorted(own.standings(), key=lambda row: found.names.index(row.name))
        ends = [report.intervals(found.confidence)[metric] for report in found.reports.values()]
        columns |= {metric: [row.mean for row in rows]} | _ends(f"{metric} ", ends)
        if own.tested:
            letters_of = own.letters
            columns[f"{metric} difference"] = [row.difference for row in rows]
            columns |= _ends(f"{metric} difference ", [row.interval for row in rows])
            columns[f"{metric} p"] = [row.p_value for row in rows]
            columns |= {
                f"{metric} {name}": [getattr(row, name) for row in rows]
                for name in ("status", "regret")
            }
            columns[f"{metric} letters"] = [letters_of[name] for name in found.names]
    return columns


def columns_of_pairs(found: Any) -> dict[str, list[Any]]:
    """Columns of a frame with one row per metric and pair."""
    pairs = [
        pair
        for metric in found.metrics
        if found.by_metric(metric).tested
        for pair in found.pairs(metric)
    ]
    names = [
        "metric",
        "first",
        "second",
        "difference",
        "p_value",
        "p_adjusted",
        "wins",
        "ties",
        "losses",
        "verdict",
    ]
    columns = {name: [getattr(pair, name) for pair in pairs] for name in names}
    return (
        columns
        | _ends("", [p.interval for p in pairs])
        | _ends("simultaneous ", [p.simultaneous for p in pairs])
    )


def _ends(prefix: str, intervals: Sequence[tuple[float, float]]) -> dict[str, list[Any]]:
    return {
        prefix + end: [own[side] for own in intervals] for side, end in enumerate(("low", "high"))
    }
