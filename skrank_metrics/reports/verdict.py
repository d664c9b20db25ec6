"""What a comparison says: the verdict, letters, tables and notes."""

from __future__ import annotations

import math
import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import Mask
from skrank_metrics._output.result import Part, counted
from skrank_metrics._output.table import Column, Table, as_text, p_text, signed
from skrank_metrics.reports.health import drawn_orders
from skrank_metrics.reports.mean_intervals import weighting
from skrank_metrics.reports.sign_flips import CORRECTIONS, TESTS
from skrank_metrics.reports.slices import largest

# More names than this are counted, not listed.
MOST_NAMED = 4
# Fewer queries cannot show a difference at a level of 0.05, so being equal on them shows nothing.
LEAST_EQUAL = 6
# Number of rankings, or metrics, that fit side by side into 80 columns.
BESIDE = 4


def best_first(means: Mapping[str, float], *, greater_is_better: bool) -> list[str]:
    """Names sorted by mean, best first; those without a mean last."""
    sign = -1 if greater_is_better else 1
    return sorted(means, key=lambda name: (math.isnan(means[name]), sign * means[name]))


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
                clique.append(np.argmax(np.where(candidates, gain, -1)))  # the name with most pairs to gain
                candidates &= alike[clique[-1]]
                candidates[clique[-1]] = False
                gain += missing[clique[-1]]
            missing[np.ix_(clique, clique)] = False
            cliques.append(sorted(clique))
    found = dict.fromkeys(names, "")
    for number, clique in enumerate(sorted(cliques)):
        for place in clique:
            found[names[place]] += _letter(number)
    return found


def _letter(number: int) -> str:
    """The alphabet in both cases, then numbers."""
    return string.ascii_letters[number] if number < len(string.ascii_letters) else f"({number + 1})"


def of_pair(ends: tuple[float, float], margin: float | None, n_equal: int) -> str:
    """Verdict from the simultaneous interval of a difference, where larger is better; n_equal if no query differs."""
    low, high = ends
    if low > 0:
        return "better"
    # A change without any effect on these queries passes a release gate, if as many could have shown one.
    if margin is not None and (low > -margin or n_equal >= LEAST_EQUAL):
        return "not worse"
    return "worse" if high < 0 else "undecided"


def of_standings(own: Any) -> str:
    """What is known about the best ranking by a metric, or about all rankings and the baseline."""
    ranked, found = own.ranked, own.comparison
    if not own.tested:
        return f"{ranked[0]} is ahead by {own.metric}, which is not a mean over queries and cannot be tested."
    if found.baseline is not None:
        return _against_baseline(own)
    may_be, level = own.best_set, f"With {100 * found.confidence:g}% confidence,"
    worse = [name for name in ranked if name not in may_be]
    if len(may_be) == 1:
        verdict = f"{level} {may_be[0]} is best."
    elif worse:
        rest = f"{_some(worse, 'and')} {_is(worse)} worse"
        verdict = f"{level} the best is {_some(may_be, 'or')}; {ranked[0]} leads. {rest}."
    else:
        apart = f"{ranked[0]} from {ranked[1]}" if len(ranked) == 2 else f"{_some(ranked, 'and')} apart"
        verdict = f"{counted(found.n_queries, 'query')} cannot tell {apart}."
    row = own.flips.row(own.names.index(may_be[0]))
    if len(may_be) > 1 and not row.n_changed[[own.names.index(name) for name in may_be]].any():
        verdict += f" {_some(may_be, 'and')} are equal on every query."
    return verdict if found.margin is None else f"{_release(own, found.margin)} {verdict}"


def _release(own: Any, margin: float) -> str:
    """Which rankings lose at most the margin against the best."""
    good = [one for one in own.rows if one.regret <= margin]
    if not good:
        return f"Do not ship yet: no ranking is known to lose at most {margin:g} against the best."
    names = [one.name for one in good]
    if good[0].regret == 0:
        return f"Ship {names[0]}."
    return f"Ship {_some(names, 'or')}, which {'loses' if len(names) == 1 else 'lose'} at most {margin:g}."


def _against_baseline(own: Any) -> str:
    """How rankings compare with the baseline."""
    found, base = own.comparison, own.comparison.baseline
    within = f" by more than {found.margin:g}" if found.margin else ""
    named: dict[str, list[str]] = {"better": [], "not worse": [], "worse": [], "undecided": [], "baseline": []}
    for one in own.rows:
        named[one.status].append(one.name)
    good, changed = named["better"] + named["not worse"], own.flips.row(own.names.index(base)).n_changed
    equal = [name for name in named["not worse"] if not changed[own.names.index(name)]]
    named["not worse"] = [name for name in named["not worse"] if name not in equal]
    known = [
        f"{_some(named[status], 'and')} {_is(named[status])} {status} than {base}{within * (status == 'not worse')}"
        for status in ("better", "not worse", "worse")
        if named[status]
    ]
    sentences = [f"With {100 * found.confidence:g}% confidence, {listed(known)}."] if known else []
    if equal:
        sentences.append(f"{_some(equal, 'and')} equal{'s' * (len(equal) == 1)} {base} on every query.")
    if undecided := named["undecided"]:
        apart = "from" if len(undecided) == 1 else "each from"
        sentences.append(f"{counted(found.n_queries, 'query')} cannot tell {_some(undecided, 'and')} {apart} {base}.")
    if found.margin is not None:
        sentences.insert(0, f"Ship {_some(good, 'or')}." if good else "Do not ship.")
    return " ".join(sentences)


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _some(names: Sequence[str], word: str) -> str:
    """Names in a sentence; only the first ones and the number of the others if there are many."""
    if len(names) <= MOST_NAMED:
        return listed(names, word)
    return listed([*names[: MOST_NAMED - 1], f"{len(names) - MOST_NAMED + 1} others"], word)


def listed(names: Sequence[str], word: str = "and") -> str:
    """Names in a sentence: "a", "a and b", "a, b and c"; with semicolons if names have commas."""
    *front, last = names
    comma = "; " if any(", " in name for name in names) else ", "
    return f"{comma.join(front)} {word} {last}" if front else last


def tables(found: Any) -> Iterator[Part]:
    """The rankings by the first metric with what is known about each, then by the other metrics."""
    first, *others = found.metrics
    tested = [metric for metric in found.metrics if found.tested(metric)]
    if len(found.names) == 2 and tested:
        yield _table_of_means(found, found.metrics)
        yield _table_of_pair(found, tested)
    elif not found.tested(first):
        yield _table_of_means(found, found.metrics)
    else:
        yield _table_of_standings(found, first)
        for start in range(0, len(others), BESIDE):
            yield _table_of_means(found, others[start : start + BESIDE])


def _interval(found: Any) -> Column:
    return Column(f"{100 * found.confidence:g}% interval", signed)


def _table_of_standings(found: Any, metric: str) -> Table:
    """One row per ranking, compared with the best other or with the baseline."""
    other = Column(f"minus {found.baseline or 'best other'}", signed)
    rows = [
        (one.name, one.mean, *((None,) * 3 if np.isnan(one.p_value) else one[2:5]), one.status)
        for one in found.standings(metric)
    ]
    return Table((Column("", str), metric, other, _interval(found), Column("p", p_text), Column("status", str)), rows)


def _table_of_pair(found: Any, metrics: Sequence[str]) -> Table:
    """One row per metric for the only two rankings."""
    pairs = [found.pair(metric=metric) for metric in metrics]
    rows = [(p.metric, p.difference, p.interval, p.wins, p.ties, p.losses, p.p_value) for p in pairs]
    difference = Column(f"{pairs[0].first} - {pairs[0].second}", signed)
    counts = ("wins", "ties", "losses")
    return Table((Column("", str), difference, _interval(found), *counts, Column("p", p_text)), rows)


def _table_of_means(found: Any, metrics: Sequence[str]) -> Table:
    """Mean of each ranking by several metrics; a star marks those that may be the best of several."""
    means = {metric: found.means(metric) for metric in metrics}
    stars = {metric: found.by_metric(metric).best_set if _has_stars(found, metric) else () for metric in metrics}
    columns = (Column("", str), *(Column(metric, _starred) for metric in metrics))
    return Table(columns, [(name, *((means[m][name], name in stars[m]) for m in metrics)) for name in found.names])


def _has_stars(found: Any, metric: str) -> bool:
    return found.tested(metric) and len(found.names) > 2


def _starred(value: tuple[float, bool]) -> str:
    mean, is_best = value
    return f"{'*' * is_best}{as_text(mean)}"


def notes(found: Any) -> Iterator[str]:
    """How rankings were compared, and what to keep in mind."""
    tested = [metric for metric in found.metrics if found.tested(metric)]
    report = next(iter(found.reports.values()))
    if tested:
        yield _how(found)
        if any(_has_stars(found, metric) for metric in found.metrics[1:]):
            yield "*: may be the best by this metric."
        for metric in found.metrics[1:]:
            if (
                found.baseline is None
                and metric in tested
                and found.names[0] not in (best := found.by_metric(metric).best_set)
            ):
                yield f"But by {metric}, {found.names[0]} is worse: the best is {_some(best, 'or')}."
        yield from _counts(found, tested[0])
    yield from weighting(report.weights)
    yield from drawn_orders(
        {name: {m: n for m, n in one._drawn.items() if m in found.metrics} for name, one in found.reports.items()}
    )
    yield from _findings(found)


def _findings(found: Any) -> Iterator[str]:
    """Findings about the data of all rankings, and the kinds of the others with the rankings that they are about."""
    by_name = {name: report.health.findings for name, report in found.reports.items()}
    number = Counter(finding for findings in by_name.values() for finding in findings)
    yield from (finding for finding in by_name[found.names[0]] if number[finding] == len(by_name))
    kinds: dict[str, dict[str, None]] = {}
    for name, findings in by_name.items():
        for finding in findings:
            if number[finding] < len(by_name):
                kinds.setdefault(finding.partition(":")[0], {})[name] = None
    for kind, names in kinds.items():
        yield f"{kind}: {_some(list(names), 'and')}; see reports[{next(iter(names))!r}].health."


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


def _counts(found: Any, metric: str) -> Iterator[str]:
    """Sentences on queries that do not count in full, and on what they can detect."""
    own = found.by_metric(metric)
    flips = own.flips
    n_units, grouped = len(flips.masses), next(iter(found.reports.values())).groups is not None
    missing = np.any([np.isnan(report.per_query[metric]) for report in found.reports.values()], axis=0)
    if undefined := int(missing.sum()):
        yield f"Left out: {counted(undefined, 'query')} without a value of {metric} in every ranking."
    if grouped:
        yield f"The queries are in {counted(n_units, 'group')}, which are independent."
    if flips.n_effective < n_units / 2:
        units = counted(n_units, "group" if grouped else "query")
        yield f"Because of unequal weights, {units} count as {flips.n_effective:.0f}."
    if won := found.folds_won(metric):
        yield f"Folds won: {', '.join(f'{name} {n}' for name, n in won.items() if n)}. {_coverage(flips.covers_folds)}"
    if len(own.best_set) > 1 and not np.isnan(detectable := own.detectable):
        yield f"Differences of {detectable:.4f} would be detected with a power of 0.8."


def _coverage(of_folds: bool) -> str:
    if of_folds:
        return "Differences vary more between folds than between queries; intervals cover fitting again on other data."
    return "Differences vary no more between folds than between queries."


def slices(found: Any) -> Iterator[Part]:
    """The means in the largest slices."""
    if not (parts := found._named_slices()):
        return
    shown = largest(parts, {value: part.n_queries for value, part in parts.items()})
    names, metric = found.names[:BESIDE], next(iter(parts.values())).metrics[0]
    more = len(found.names) > len(names)
    rows = []
    for value, part in shown.items():
        means, may_be, first = part.means(metric), part.by_metric(metric).best_set, part.standings(metric)[0]
        cells = [(means[name], name in may_be) for name in names]
        rows.append((value, part.n_queries, *cells, *([first.name, (first.mean, True)] if more else [])))
    best = (Column("best", str), Column(metric, _starred)) if more else ()
    yield Table((Column("slice", str), "queries", *(Column(name, _starred) for name in names), *best), rows)
    many = f"The largest {len(shown)} of {len(parts)}; to_frame(slices=True) has all. " * (len(shown) < len(parts))
    n_tests = next(iter(parts.values())).by_metric(metric).family.n_tests
    yield f"{many}*: may be the best in the slice by {metric}, corrected for {n_tests} comparisons in all slices."


def columns_of_rankings(found: Any) -> dict[str, list[Any]]:
    """Columns of a frame with one row per ranking."""
    rows: list[dict[str, Any]] = [{"ranking": name, "n_queries": found.n_queries} for name in found.names]
    for metric in found.metrics:
        standings = {one.name: one for one in found.standings(metric)}
        shared = found.by_metric(metric).letters if found.tested(metric) else {}
        for row, (name, report) in zip(rows, found.reports.items(), strict=True):
            one, (low, high) = standings[name], report.intervals(found.confidence)[metric]
            values: dict[str, Any] = {"": one.mean, " low": low, " high": high}
            if shared:
                low, high = one.interval
                values |= {" difference": one.difference, " difference low": low, " difference high": high}
                values |= {" p": one.p_value, " status": one.status, " regret": one.regret, " letters": shared[name]}
            row |= {metric + column: value for column, value in values.items()}
    return {column: [row[column] for row in rows] for column in rows[0]}


def columns_of_pairs(found: Any) -> dict[str, list[Any]]:
    """Columns of a frame with one row per metric and pair."""
    pairs = [pair for metric in found.metrics if found.tested(metric) for pair in found.pairs(metric)]
    names = ["metric", "first", "second", "difference", "p_value", "p_adjusted", "wins", "ties", "losses", "verdict"]
    columns = {name: [getattr(pair, name) for pair in pairs] for name in names}
    for name, attribute in (("", "interval"), ("simultaneous ", "simultaneous")):
        for side, end in enumerate(("low", "high")):
            columns[f"{name}{end}"] = [getattr(pair, attribute)[side] for pair in pairs]
    return columns
