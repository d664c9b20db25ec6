"""Compare rankings of the same queries: reports, or several models' scores of the same documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from skrank_metrics._engine.query_lists import QueryLists
from skrank_metrics._input.arrays import (
    by_text,
    check_choice,
    check_number,
    check_random_state,
    check_scores,
    check_seed,
    to_float64,
)
from skrank_metrics._input.query_ids import (
    as_python,
    check_aligned,
    check_documents_aligned,
    named_columns,
)
from skrank_metrics._output.result import counted
from skrank_metrics.metrics.names import bind_metrics, column_of
from skrank_metrics.reports.comparison import Comparison
from skrank_metrics.reports.evaluate import evaluate_lists, labels_of_rows, lists_of_rows
from skrank_metrics.reports.ranking_report import RankingReport, share_documents
from skrank_metrics.reports.sign_flips import CORRECTIONS, TESTS
from skrank_metrics.reports.slices import frame_columns, slice_of_query

C = TypeVar("C", bound=Comparison)
Reports = Mapping[str, RankingReport]


def compare(
    reports: Mapping[str, RankingReport] | Sequence[RankingReport],
    metrics: Any = None,
    *,
    baseline: str | None = None,
    margin: float | None = None,
    by: Any = None,
    groups: Any = None,
    test: str = "permutation",
    correction: str | None = "max",
    confidence: float = 0.95,
    random_state: Any = 0,
) -> Comparison:
    r"""Compare rankings of the same queries, per query.

    Parameters
    ----------
    reports : dict of str to RankingReport, or sequence of RankingReport
        At least two reports, whose queries may be in different orders. A sequence names them "0", "1" and so on.
    metrics : str, metric function or bound metric, or list of them, default=None
        Metrics by their names in the reports, or as passed to evaluate; None means those that all reports have. The
        first one ranks them. Queries without a value in one of the rankings are left out.
    baseline : str, default=None
        Name of the report that all others are compared with. None compares all pairs.
    margin : float, default=None
        The loss that does not matter, at least 0: a ranking is "not worse" than another if it loses at most this.
    by : array-like of shape (n_queries,) or (n_documents,), default=None
        Slices to also compare within, whose p-values are corrected together: one value per query of the first report,
        in the order of its qid, or per row that it was evaluated on. None means the slices of the reports.
    groups : array-like of shape (n_queries,) or (n_documents,), default=None
        Groups of queries that are not independent, such as those of a user. None means the groups of the reports.
    test : {"permutation", "t"}, default="permutation"
        "permutation" flips the signs of the differences at random, or in all ways if few differ. "t" is the paired
        t-test.
    correction : {"max", "holm", "bh"} or None, default="max"
        Correction of the p-values for the number of pairs. "max", by the largest statistic of random signs, and "holm"
        bound the probability of any false discovery; "bh" (Benjamini and Hochberg) the expected share of false ones.
    confidence : float, default=0.95
        Confidence level of the intervals and of the set that contains the best, in (0, 1).
    random_state : int, RandomState or Generator instance or None, default=0
        Source of the random signs.

    Returns
    -------
    comparison : Comparison
        Prints as a verdict and tables in terminals and notebooks.

    Raises
    ------
    TypeError, ValueError
        If there are fewer than two reports, one lacks a metric, they differ in queries, documents, labels, weights or
        groups, no query has a value in all, or an argument is invalid.

    Notes
    -----
    With d the weighted differences of a pair and L the largest of them, the statistic is
    \|sum d\| / sqrt(sum d^2 + L^2 / 2), as if half a win and half a loss of that size had been seen, too. It is
    compared with \|sum e d\| / sqrt(sum d^2) for 9,999 vectors e of random signs, which all pairs, metrics and slices
    share. Intervals invert the same test; if fewer than 6 queries differ, it cannot reject at 0.05, and they follow
    from the number of wins and losses and the range of the metric alone. The test is about symmetry: with fewer than
    100 skewed differences, it can reject too often.

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
    '5 queries cannot tell good from bad.'
    """
    if isinstance(reports, RankingReport) or not isinstance(reports, Iterable):
        raise TypeError(
            f"reports must be a dict or a sequence of reports; got {type(reports).__name__}."
        )
    named = by_text(
        reports.items() if isinstance(reports, Mapping) else enumerate(reports), "reports"
    )
    for name, report in named.items():
        if not isinstance(report, RankingReport):
            raise TypeError(
                f"reports must hold RankingReport objects; got {type(report).__name__} for {name!r}."
            )
    if len(named) < 2:
        raise ValueError(f"reports must hold at least two reports; got {len(named)}.")
    options: dict[str, Any] = {
        "baseline": baseline,
        "margin": margin,
        "test": test,
        "correction": correction,
    }
    options |= {"confidence": confidence, "random_state": random_state}
    return compare_reports(Comparison, named, metrics, by=by, groups=groups, **options)


def compare_reports(
    kind: type[C],
    reports: Reports,
    metrics: Any = None,
    *,
    by: Any = None,
    groups: Any = None,
    **fields: Any,
) -> C:
    """Make a comparison of the given kind with these fields, which are checked."""
    found = kind(dict(reports), (), **fields)
    check_choice(found.test, "test", TESTS)
    check_choice(found.correction, "correction", CORRECTIONS)
    margin = check_number(found.margin, "margin", "[0, inf)", other="None")
    confidence, seed = (
        check_number(found.confidence, "confidence", "(0, 1)"),
        check_seed(found.random_state),
    )
    if not isinstance(seed, int):
        seed = int.from_bytes(check_random_state(seed).bytes(4), "little")
    checked: dict[str, Any] = {"confidence": confidence, "margin": margin, "random_state": seed}
    if found.baseline is not None:
        checked["baseline"] = check_choice(str(found.baseline), "baseline", reports)
    aligned, names = _aligned(reports, metrics, by=by, groups=groups)
    found = replace(found, reports=aligned, metrics=names, **checked)
    for metric in names:
        if (own := found.by_metric(metric)).tested and not own.used.any():
            raise ValueError(
                f"reports must have a query with a weight above 0 and a value of {metric!r} in every ranking; got none "
                f"among {counted(found.n_queries, 'query')}. Leave out the metric, or pass replace_undefined_by."
            )
    return replace(found, reports={name: aligned[name] for name in found._ranked})


def leaderboard(
    y_true: Any,
    scores: Any,
    *,
    qid: Any = None,
    metrics: Any = ("ndcg@10", "map", "mrr"),
    convention: str = "sklearn",
    sample_weight: Any = None,
    retrieved: Any = None,
    judged: Any = None,
    condense: bool = False,
    documents: Any = None,
    by: Any = None,
    groups: Any = None,
    baseline: str | None = None,
    margin: float | None = None,
    test: str = "permutation",
    correction: str | None = "max",
    confidence: float = 0.95,
    random_state: Any = 0,
) -> Comparison:
    """Rank several models on the same documents, and find out which may be the best.

    As compare does with one report per model, but ids and labels are checked and grouped only once.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    scores : dict of str to array-like of the shape of y_true, or data frame
        Scores by name of the model, at least two; or a frame of pandas, polars or pyarrow with one column per model.
        NaN means that the model did not return the document.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, as in evaluate.
    metrics : str, metric, sequence or dict of them, default=("ndcg@10", "map", "mrr")
        As in evaluate. The first one ranks the models.
    convention, sample_weight, retrieved, judged, condense, documents : object
        As in evaluate, for all models.
    by, groups : array-like of shape (n_documents,), or (n_queries,) if y_true is 2-D, default=None
        Slices to also compare within, and groups of dependent queries, as in compare.
    baseline, margin, test, correction, confidence, random_state : object
        As in compare.

    Returns
    -------
    comparison : Comparison
        As compare returns it.

    Raises
    ------
    TypeError, ValueError
        If there are fewer than two models or no query ids, no query has a value, or an argument is invalid.

    Examples
    --------
    In six queries, a model has the relevant document at rank 1, another at rank 2; the third alternates. The first two
    differ with p = 2/64:

    >>> from skrank_metrics import leaderboard
    >>> y, qid = [1, 0] * 6, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    >>> scores = {"never": [1, 2] * 6, "mixed": [2, 1, 1, 2] * 3, "always": [2, 1] * 6}
    >>> board = leaderboard(y, scores, qid=qid, metrics="mrr")
    >>> board.verdict
    'With 95% confidence, the best is always or mixed; always leads. never is worse.'
    """
    named = frame_columns(scores)
    if not named and not isinstance(scores, Mapping):
        raise TypeError(
            f"scores must be a dict of scores by model name, or a data frame; got {type(scores).__name__}."
        )
    columns = by_text(named, "scores", " Rename the columns.")
    if len(columns) < 2:
        raise ValueError(
            f"scores must hold at least two models; got {len(columns)}. Pass one model to evaluate."
        )
    bound = bind_metrics(metrics, convention)
    masks = {"retrieved": retrieved, "judged": judged, "condense": condense}
    others = {
        "sample_weight": sample_weight,
        "documents": documents,
        "by": by,
        "groups": groups,
        **masks,
    }
    lists, parts = lists_of_rows(y_true, np.zeros(np.shape(y_true)), qid=qid, **others)
    check_aligned(**named_columns(y_true=y_true, scores=columns, qid=qid, **others))
    check_documents_aligned(**named_columns(y_true=y_true, scores=columns))
    reports = {}
    for name, column in columns.items():
        try:
            of_model = _with_scores(lists, column, f"scores[{name!r}]", np.shape(y_true))
        except TypeError as error:
            raise TypeError(f"{error} Pass only the columns of scores.") from None
        labels = labels_of_rows(y_true, column, qid)
        reports[name] = evaluate_lists(of_model, bound, **parts, _row_labels=labels)
    options: dict[str, Any] = {
        "baseline": baseline,
        "margin": margin,
        "test": test,
        "correction": correction,
    }
    options |= {"confidence": confidence, "random_state": random_state}
    return compare_reports(Comparison, reports, **options)


def _with_scores(lists: QueryLists, column: Any, name: str, shape: tuple[int, ...]) -> QueryLists:
    """The documents with the scores of a model, which did not return those with a score of NaN."""
    ranked = ~np.isnan(values := to_float64(column, name))
    if not ranked.any():
        raise ValueError(f"{name} must hold scores; all are NaN.")
    scores = lists.grouping.sort(check_scores(values, shape, ranked, name).ravel())
    if ranked.all() and lists.retrieved is None:
        return lists.with_scores(scores)
    returned = lists.grouping.sort(ranked.ravel()) & (
        True if lists.retrieved is None else lists.retrieved
    )
    found = lists.with_scores(np.where(returned, scores, 0.0))
    return found if ranked.all() else replace(found, retrieved=returned)


# Reports over the same queries and documents


def _aligned(
    reports: Reports, metrics: Any, **given: Any
) -> tuple[dict[str, RankingReport], tuple[str, ...]]:
    """Check that reports are comparable; give all the queries, names of metrics, slices and groups of the first."""
    name, first = next(iter(reports.items()))
    wanted = _metrics_of(reports, metrics)
    parts: dict[str, Any] = (
        {"by": None} if any(report.by is None for report in reports.values()) else {}
    )
    for what in [what for what, own in given.items() if own is not None]:
        rows = None if first._row_labels is None else first._row_labels.to_series()
        parts[what] = slice_of_query(
            given[what], first.grouping, ids=first.qid, y_true=rows, name=what
        )
    aligned: dict[str, RankingReport] = {}
    for other, report in reports.items():
        columns = {metric: _column_of(metric, first, report, (name, other)) for metric in wanted}
        found = _in_order(first, report, (name, other))
        changes = {what: own for what, own in parts.items() if own is not getattr(found, what)}
        if list(columns) != list(columns.values()):
            for what in ("metrics", "_results"):
                changes[what] = {
                    metric: getattr(found, what)[column] for metric, column in columns.items()
                }
        aligned[other] = replace(found, **changes) if changes else found
        _check_alike(aligned[name], aligned[other], (name, other))
    return aligned, wanted


def _metrics_of(reports: Reports, metrics: Any) -> tuple[str, ...]:
    """The metrics to compare by their names in the first report; by default, those that all reports have."""
    (name, first), *others = reports.items()
    if isinstance(metrics, Mapping):
        metrics = list(metrics.values())
    wanted = list(metrics) if isinstance(metrics, list | tuple) else [metrics]
    if metrics is None:
        wanted = [
            metric
            for metric in first.metrics
            if all(column_of(metric, other.metrics) for _, other in others)
        ]
    if not wanted:
        none = f"reports must have a metric in common; the first has {', '.join(first.metrics)}."
        raise ValueError(
            none if metrics is None else "metrics must name at least one metric; got none."
        )
    return tuple(dict.fromkeys(_column_of(metric, first, first, (name, name)) for metric in wanted))


def _column_of(
    metric: Any, first: RankingReport, report: RankingReport, names: tuple[str, str]
) -> str:
    """Name of a metric in a report, which must compute it as the first does."""
    column = column_of(metric, report.metrics) or column_of(
        first.metrics.get(metric), report.metrics
    )
    if column is None:
        known = (
            repr(m) if m == str(own) else f"{m!r}, computed as {own}"
            for m, own in report.metrics.items()
        )
        raise ValueError(
            f"metric {getattr(metric, '__name__', str(metric))!r} is missing from report {names[1]!r}, "
            f"which has {', '.join(known)}. Pass a metric that all reports have, or evaluate with this one."
        )
    own, expected = report.metrics[column], first.metrics.get(metric, report.metrics[column])
    if (own.definition, own.average, report.condensed) != (
        expected.definition,
        expected.average,
        first.condensed,
    ):
        raise ValueError(
            f"reports must compute {column!r} in the same way; got {expected} in {names[0]!r} and {own} in "
            f"{names[1]!r}. Evaluate with the same function, convention and condense."
        )
    return column


def _in_order(first: RankingReport, report: RankingReport, names: tuple[str, str]) -> RankingReport:
    """The report with its queries in the order of the first, which must have the same ones."""
    if share_documents(first, report):
        return report
    wanted, place = (
        as_python(first.qid),
        {query: number for number, query in enumerate(as_python(report.qid))},
    )
    n_common = sum(query in place for query in wanted)
    if not n_common == len(wanted) == len(place):
        way_out = (
            "Evaluate all on the queries that all have."
            if n_common
            else "Check that ids have the same type."
        )
        raise ValueError(
            f"reports must be over the same queries; got {len(wanted)} in {names[0]!r} and {len(place)} in "
            f"{names[1]!r}, {n_common} of them in both. {way_out}"
        )
    places = np.array([place[query] for query in wanted])
    if np.array_equal(places, np.arange(len(places))):
        return report
    return replace(report._part(places), by=None if report.by is None else report.by[places])


def _check_alike(one: RankingReport, other: RankingReport, names: tuple[str, str]) -> None:
    """Refuse reports whose differences are not due to the rankings alone."""
    # Digests are of judged documents, since each ranking may have its own others. Some reports from frames have none.
    differ = f"{names[0]!r} and {names[1]!r} differ"
    for what in ("weights", "by", "groups"):
        first, second = getattr(one, what), getattr(other, what)
        if first is not second and (
            first is None or second is None or as_python(first) != as_python(second)
        ):
            way_out = "sample_weight" if what == "weights" else f"{what}, or pass {what} to compare"
            raise ValueError(
                f"reports must have the same {what}; {differ}. Evaluate with the same {way_out}."
            )
    found = (
        [report.label_digests for report in (one, other)]
        if not share_documents(one, other)
        else [None]
    )
    differs = (
        np.any([a != b for a, b in zip(*found, strict=True)], axis=0)
        if all(found)
        else np.array([False])
    )
    if differs.any():
        raise ValueError(
            f"reports must have the same documents with the same labels; {differ} in query "
            f"{as_python(one.qid)[int(np.argmax(differs))]!r}. Evaluate both on all documents; mark those that a "
            "ranking lacks with retrieved=, and those that nobody judged with judged=."
        )
