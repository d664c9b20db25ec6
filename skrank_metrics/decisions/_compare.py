"""Compare rankings of the same queries: reports, also from elsewhere, in one order of queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.parameters import by_text, check_choice, shown
from skrank_metrics._input.query_ids import as_python
from skrank_metrics._input.slices import slice_of_query
from skrank_metrics._input.types import Ids, Seed, Slices
from skrank_metrics._output.result import counted
from skrank_metrics.decisions.comparison import Comparison
from skrank_metrics.decisions.outcome import outcome_of
from skrank_metrics.decisions.plan import Margin, Plan
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import Metrics
from skrank_metrics.metrics.names import column_of
from skrank_metrics.reports.mean_intervals import bounds_of, check_by_query
from skrank_metrics.reports.ranking_report import (
    RankingReport,
    share_documents,
    subset,
    with_data,
    with_metrics,
    with_queries,
)
from skrank_metrics.reports.report_data import data_of

Reports: TypeAlias = Mapping[str, RankingReport]

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # Python 3.13 has the default, too

    C = TypeVar("C", bound=Comparison, default=Comparison)


def compare(
    reports: C | Mapping[Any, RankingReport] | Sequence[RankingReport],
    metrics: Metrics | None = None,
    *,
    baseline: str | Sequence[str] | None = None,
    margin: Margin | None = None,
    by: Slices | None = None,
    groups: Ids | None = None,
    confidence: float = 0.95,
    random_state: Seed = 0,
) -> C:
    r"""Compare rankings of the same queries, per query.

    Parameters
    ----------
    reports : dict of str to RankingReport, sequence of RankingReport, or Comparison
        At least two reports, whose queries may be in different orders. A sequence names them "0", "1" and so on. A
        comparison, such as the result of cross_evaluate or search_report, is decided again with these options; what
        else it holds, such as scores or parameters, is kept. Options that are left out have their defaults, whatever
        the comparison was decided with.
    metrics : str, metric function or bound metric, or list of them, default=None
        Metrics by their names in the reports, or as passed to evaluate; None means those that all reports have. The
        first one ranks them. Queries without a value in one of the rankings are left out.
    baseline : str or list of str, default=None
        Name of the report that all others are compared with. With several names, each other ranking is compared with
        each of them: it is better if it is better than all, and worse if it is worse than one. Intervals hold for all
        these pairs at once. None compares all pairs.
    margin : float or dict of float by metric, default=None
        The loss against the baseline that does not matter, at least 0 and less than the range of the metric: one for
        all metrics, or one for some of them. Each metric with a margin guards the decision of the comparison: "ship" if
        every other ranking is better, equivalent, not worse, or has a small loss, "do not ship" if one is worse.
        Rankings that are equal on every query need 368 queries, or groups, for a margin of 0.01 of a metric between 0
        and 1.
    by : array-like of shape (n_queries,) or (n_documents,), default=None
        Slices to also compare within, whose intervals hold for all slices at once: one value per query of the first
        report, in the order of its qid, or per row that it was evaluated on. None means the slices of the reports.
    groups : array-like of shape (n_queries,) or (n_documents,), default=None
        Groups of queries that are not independent, such as those of a user. None means the groups of the reports.
    confidence : float, default=0.95
        Confidence level of the intervals and of the set that contains the best, from 0.01 to 0.9999.
    random_state : int, RandomState or Generator instance or None, default=0
        Source of the random signs.

    Returns
    -------
    comparison : Comparison
        Prints as a verdict and tables in terminals and notebooks. Of the class of the comparison, if one was passed.

    Raises
    ------
    TypeError, ValueError
        If there are fewer than two reports, one lacks a metric, they differ in queries, documents, labels, weights,
        groups or folds, no query has a value in all, or an argument is invalid.

    Notes
    -----
    The method is a randomised Tukey HSD test in a single step. With d the weighted differences of a pair and L the
    largest of them, the statistic is \|sum d\| / sqrt(sum d^2 + L^2 / 2), as if half a win and half a loss of that size
    had been seen, too. All pairs are compared with the largest of \|sum e d\| / sqrt(sum d^2) over all pairs, for 9,999
    vectors e of random signs, or for all vectors if at most 13 queries differ. The intervals invert this test, so that
    two rankings differ significantly if their interval excludes 0, that is if p_adjusted is at most 1 - confidence.
    Metrics are not corrected for each other. If fewer than 6 queries differ, the test cannot reject at 0.05, and
    intervals follow from the number of wins and losses and the range of the metric. The test is about symmetry: with
    fewer than 100 skewed differences, it can reject too often.

    For other tests, take the pairs: ``scipy.stats.ttest_rel(*pair.values)``, or
    ``scipy.stats.false_discovery_control(comparison.to_frame(pairs=True)["p_value"])``.

    References
    ----------
    M. D. Smucker, J. Allan, B. Carterette (2007). A comparison of statistical significance tests for information
    retrieval evaluation. CIKM 2007. https://doi.org/10.1145/1321440.1321528

    B. Carterette (2012). Multiple testing in statistical analysis of systems-based information retrieval experiments.
    ACM Transactions on Information Systems 30(1). https://doi.org/10.1145/2094072.2094076

    Examples
    --------
    In each of five queries, the first ranking has the relevant document at rank 1, the second at rank 2. Of the 2^5
    ways to assign signs to five equal differences, two (all plus, all minus) are as extreme, so p = 2/32:

    >>> from skrank_metrics import compare, evaluate
    >>> qid = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    >>> good = evaluate([1, 0] * 5, [2, 1] * 5, qid=qid, metrics="mrr")
    >>> bad = evaluate([1, 0] * 5, [1, 2] * 5, qid=qid, metrics="mrr")
    >>> comparison = compare({"good": good, "bad": bad})
    >>> comparison.pair().difference, comparison.pair().p_value
    (0.5, 0.0625)
    >>> comparison.verdict
    'No verdict: the rankings differ on 5 queries, and at least 6 are needed. good scores higher on all 5.'
    """
    seed: Any = random_state  # a plan draws a number from a generator
    plan = Plan(baseline, margin, confidence, seed)
    if isinstance(reports, Comparison):
        wanted = reports.metrics if metrics is None else metrics
        decided = compare_reports(reports.reports, wanted, plan, by, groups)
        return reports.decided_as(decided)
    named = _named(reports)
    if len(named) < 2:
        raise ValueError(f"reports must hold at least two reports; got {len(named)}.")
    # A comparison of reports is a Comparison, the default of C.
    return cast("C", compare_reports(named, metrics, plan, by, groups))


def _named(reports: Any) -> dict[str, RankingReport]:
    """Reports by name; those of a sequence are numbered."""
    if isinstance(reports, RankingReport) or not isinstance(reports, Iterable):
        raise TypeError(
            f"reports must be a dict or a sequence of reports; got {type(reports).__name__}. Pass several by name, "
            'compare({"a": report, "b": other}).'
        )
    items = reports.items() if isinstance(reports, Mapping) else enumerate(reports)
    named = by_text(items, "reports")
    for name, report in named.items():
        if not isinstance(report, RankingReport):
            raise TypeError(
                "reports must hold RankingReport objects, as from evaluate or RankingReport.from_frame; got "
                f"{type(report).__name__} for {shown(name)}."
            )
    return named


def compare_reports(
    reports: Reports,
    metrics: Any = None,
    plan: Plan | None = None,
    by: Any = None,
    groups: Any = None,
) -> Comparison:
    """Compare reports, also of a single ranking, after checking that they are of the same queries and documents."""
    plan = Plan() if plan is None else plan
    for name in plan.baselines:
        check_choice(name, "baseline", reports)
    if len(plan.baselines) == len(reports):
        raise ValueError(
            f"baseline must leave a ranking to compare with it; got all: {', '.join(reports)}."
        )
    wanted = _metrics_of(reports, metrics)
    aligned = _aligned(reports, wanted, by, groups)
    if plan.margin is not None:
        first = next(iter(aligned.values()))
        plan = _with_margins(plan, {metric: first.metrics[metric] for metric in wanted})
    return comparison_of(aligned, wanted, plan)


def _with_margins(plan: Plan, metrics: Mapping[str, BoundMetric]) -> Plan:
    """The plan with margins by the names of the metrics, which must be tested."""
    margin = plan.margin
    if isinstance(margin, Mapping):
        named = [
            check_choice(column_of(metric, metrics) or metric, "the metric in margin", metrics)
            for metric in margin
        ]
        if len(set(named)) < len(named):
            raise ValueError(f"margin must have one number per metric; got {', '.join(margin)}.")
        plan = replace(plan, margin=dict(zip(named, margin.values(), strict=True)))
    for metric, own in metrics.items():
        limit = plan.margin_of(metric)
        if limit is None:
            continue
        # A metric that cannot be tested would leave the decision open for ever.
        check_by_query(metric, own)
        low, high = bounds_of(own)
        # No loss is as large, so everything would pass.
        if limit >= high - low:
            raise ValueError(
                f"margin must be less than {high - low:g}, the range of {metric}; got {limit:g}."
            )
    return plan


# Reports over the same queries and documents


def _metrics_of(reports: Reports, metrics: Any) -> tuple[str, ...]:
    """The metrics to compare by their names in the first report; by default, those that all reports have."""
    name, first = next(iter(reports.items()))
    if metrics is None:
        wanted = list(first.metrics)
        for report in reports.values():
            wanted = [metric for metric in wanted if column_of(metric, report.metrics) is not None]
    elif isinstance(metrics, Mapping):  # as get_metrics returns them
        wanted = list(metrics.values())
    else:
        wanted = list(metrics) if isinstance(metrics, list | tuple) else [metrics]
    if not wanted:
        raise ValueError(
            f"metrics must name a metric that all reports have; the first has {', '.join(first.metrics)}."
        )
    columns = [_column_of(metric, first, first, (name, name)) for metric in wanted]
    # Two names can mean the same metric.
    return tuple(dict.fromkeys(columns))


def _aligned(
    reports: Reports, wanted: Sequence[str], by: Any, groups: Any
) -> dict[str, RankingReport]:
    """Check that reports are comparable; give all the queries, names of metrics, slices, groups and folds of one."""
    name, first = next(iter(reports.items()))
    changes: dict[str, Any] = {}
    # Slices only describe, so they may be missing; groups change the test, so they must agree.
    if any(report.by is None for report in reports.values()):
        changes["by"] = None
    if by is not None:
        changes["by"] = _per_query(first, by, "by")
    if groups is not None:
        changes["groups"] = _per_query(first, groups, "groups")
    aligned: dict[str, RankingReport] = {}
    for other, report in reports.items():
        names = name, other
        columns = {metric: _column_of(metric, first, report, names) for metric in wanted}
        found = _in_order(first, report, names)
        if list(columns) != list(columns.values()):
            found = with_metrics(found, columns)
        aligned[other] = with_queries(found, **changes) if changes else found
        _check_alike(aligned[name], aligned[other], names)
    _share_folds(aligned)
    return aligned


def _per_query(first: RankingReport, given: Any, name: str) -> NDArray[Any]:
    """One slice or group per query of the first report."""
    data = data_of(first)
    rows = None if data.row_labels is None else data.row_labels.to_series()
    return slice_of_query(given, data.grouping, ids=first.qid, y_true=rows, name=name)


def _column_of(
    metric: Any, first: RankingReport, report: RankingReport, names: tuple[str, str]
) -> str:
    """Name of a metric in a report, which must compute it as the first does."""
    column = column_of(metric, report.metrics)
    if column is None:
        spelled = getattr(metric, "__name__", str(metric))
        raise ValueError(
            f"metric {spelled!r} is missing from report {shown(names[1])}, which has {', '.join(report.metrics)}. "
            "Pass a metric that all reports have, or evaluate with this one."
        )
    own = report.metrics[column]
    expected = first.metrics.get(metric, own)
    computed = (own.definition, own.average, report.condensed)
    if computed != (expected.definition, expected.average, first.condensed):
        raise ValueError(
            f"reports must compute {column!r} in the same way; got {expected} in {shown(names[0])} and {own} in "
            f"{shown(names[1])}. Evaluate with the same function, convention and condense."
        )
    return column


def _in_order(first: RankingReport, report: RankingReport, names: tuple[str, str]) -> RankingReport:
    """The report with its queries in the order of the first, which must have the same ones."""
    if share_documents(first, report):  # the usual case, in which there is nothing to look up
        return report
    wanted = as_python(first.qid)
    place = {query: number for number, query in enumerate(as_python(report.qid))}
    n_common = sum(query in place for query in wanted)
    if not n_common == len(wanted) == len(place):
        raise ValueError(
            f"reports must be over the same queries; got {len(wanted)} in {names[0]!r} and {len(place)} in "
            f"{names[1]!r}, {n_common} of them in both. Evaluate all on the same queries, with ids of the same type."
        )
    places = np.array([place[query] for query in wanted])
    if np.array_equal(places, np.arange(len(places))):
        return report
    # All queries are there, so what was found about them holds.
    data = data_of(report)
    return with_data(
        subset(report, places),
        queries=data.queries.take(places),
        recorded_health=data.recorded_health,
        left_out=data.left_out,
    )


def _check_alike(one: RankingReport, other: RankingReport, names: tuple[str, str]) -> None:
    """Refuse reports whose differences are not due to the rankings alone."""
    differ = f"{names[0]!r} and {names[1]!r} differ"
    ways_to_mend = {
        "weights": "sample_weight",
        "by": "by, or pass by to compare",
        "groups": "groups, or pass groups to compare",
    }
    for what, hint in ways_to_mend.items():
        if not _equal(getattr(one, what), getattr(other, what)):
            raise ValueError(
                f"reports must have the same {what}; {differ}. Evaluate with the same {hint}."
            )
    query = _first_query_of_other_labels(one, other)
    if query is not None:
        raise ValueError(
            f"reports must have the same documents with the same labels; {differ} in query "
            f"{as_python(one.qid)[query]!r}. Evaluate both on all documents; mark those that a "
            "ranking lacks with retrieved=, and those that nobody judged with judged=."
        )


def _equal(first: NDArray[Any] | None, second: NDArray[Any] | None) -> bool:
    if first is None or second is None:
        return first is second
    return first is second or as_python(first) == as_python(second)


def _first_query_of_other_labels(one: RankingReport, other: RankingReport) -> int | None:
    """Number of the first query whose labels differ; None if there is none, or labels are unknown."""
    if share_documents(one, other):
        return None
    # Digests are of judged documents, since each ranking may have its own others. Some reports from frames have none.
    of_one, of_other = data_of(one), data_of(other)
    counts, others = of_one.counts, of_other.counts
    if counts is None or others is None:
        return None
    # Ids are compared too if both have them: labels may have moved from one document to another.
    differs = (counts.n_judged != others.n_judged) | (counts.digests != others.digests)
    here = of_one.has_documents and of_other.has_documents
    of_ids = of_one.id_digests(in_this_process=here)
    other_ids = of_other.id_digests(in_this_process=here)
    if of_ids is not None and other_ids is not None:
        differs |= of_ids != other_ids
    return int(np.argmax(differs)) if differs.any() else None


def _share_folds(reports: dict[str, RankingReport]) -> None:
    """Give all the folds that some have; a ranking that was not fitted has none of its own."""
    known = {name: report.folds for name, report in reports.items() if report.folds is not None}
    if not known:
        return
    first, folds = next(iter(known.items()))
    for name, report in reports.items():
        if name not in known:
            reports[name] = with_queries(report, folds=folds)
        elif not _equal(folds, report.folds):
            raise ValueError(
                f"reports must have been tested in the same folds; {shown(first)} and {shown(name)} differ. "
                "Pass the same cv to cross_evaluate."
            )


def comparison_of(
    reports: Mapping[str, RankingReport], metrics: tuple[str, ...], plan: Plan
) -> Comparison:
    """Compare rankings of the same queries in the same order, best first by the first metric."""
    # Only the tests wait until they are asked for; what cannot be compared is an error here.
    outcomes = [outcome_of(reports, metric, plan) for metric in metrics]
    for outcome in outcomes:
        if outcome.tested and not len(outcome.values):
            raise ValueError(
                f"reports must have a query with a weight above 0 and a value of {outcome.metric!r} in every ranking; "
                f"got none among {counted(outcome.n_queries, 'query')}. Leave out the metric, or pass "
                "replace_undefined_by."
            )
    # Outcomes are made again in this order, on which the last digits of sums depend.
    best_first = {name: reports[name] for name in outcomes[0].ranked}
    return Comparison(best_first, metrics, plan)
