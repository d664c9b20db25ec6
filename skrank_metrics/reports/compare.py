"""Compare rankings of the same queries: reports, or several models' scores of the same documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import (
    FloatArray,
    IntArray,
    Mask,
    by_text,
    check_choice,
    check_mask,
    check_number,
    check_random_state,
    check_scores,
    check_seed,
    to_float64,
)
from skrank_metrics._input.query_ids import as_python, carried, check_aligned
from skrank_metrics._output.result import counted
from skrank_metrics.metrics.names import column_of, spelled
from skrank_metrics.reports.comparison import Comparison
from skrank_metrics.reports.evaluate import bind_metrics, evaluate_lists, labels_of_rows, lists_of_rows
from skrank_metrics.reports.mean_intervals import check_confidence
from skrank_metrics.reports.ranking_report import RankingReport, share_documents
from skrank_metrics.reports.sign_flips import CORRECTIONS, TESTS
from skrank_metrics.reports.slices import frame_columns, slice_of_query
from skrank_metrics.reports.verdict import best_first

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
    align: str | None = None,
    test: str = "permutation",
    correction: str | None = "max",
    confidence: float = 0.95,
    random_state: Any = 0,
) -> Comparison:
    r"""Compare rankings of the same queries, per query.

    Comparing query by query reveals small differences: values vary much more between queries than between good models
    on the same query.

    Parameters
    ----------
    reports : dict of str to RankingReport, or sequence of RankingReport
        At least two reports, whose queries may be in different orders. Reports in a sequence are named by position:
        "0", "1" and so on. Names become text, by which they must differ.
    metrics : str, metric function or bound metric, or list of them, default=None
        Metrics that all reports have, by their names there or as passed to evaluate. None means all metrics that the
        reports share. The first one ranks them. Queries without a value in one of the rankings are left out.
    baseline : str, default=None
        Name of the report that all others are compared with. None compares all pairs.
    margin : float, default=None
        The loss that does not matter, at least 0: a ranking is "not worse" than another if it loses at most this.
    by : array-like of shape (n_queries,) or (n_documents,), default=None
        Slices to also compare within, as in evaluate: one value per query of the first report, in the order of its qid,
        or per row that it was evaluated on. None means the slices of the reports, if all have them. The p-values of all
        slices are corrected together.
    groups : array-like of shape (n_queries,) or (n_documents,), default=None
        Groups of queries that are not independent, such as those of a user or a session. None means the groups of the
        reports.
    align : {"intersection"} or None, default=None
        None refuses reports over different queries, "intersection" compares on the queries that all reports have.
    test : {"permutation", "t"}, default="permutation"
        "permutation" flips the signs of the differences at random, or goes through all signs of few queries. "t" is the
        paired t-test. Both test whether the mean difference is 0.
    correction : {"max", "holm", "bh"} or None, default="max"
        Correction of the p-values for the number of pairs. "max" compares each statistic with the largest one of random
        signs, and like Holm's correction bounds the probability of any false discovery; Benjamini and Hochberg's ("bh")
        bounds the expected share of false ones among the discoveries.
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
    TypeError
        If an argument has the wrong type.
    ValueError
        If there are fewer than two reports, one lacks a metric, they differ in queries, documents, labels, weights or
        groups, or no query has a value in all; if ``by`` or ``groups`` does not fit the queries; or if a parameter is
        out of range.

    Notes
    -----
    With d the weighted differences of a pair and L the largest of them, the statistic is
    \|sum d\| / sqrt(sum d^2 + L^2 / 2), as if half a win and half a loss of that size had been seen, too. It is
    compared with \|sum e d\| / sqrt(sum d^2) for 9,999 vectors e of random signs, which all pairs, metrics and slices
    share. Intervals invert the same test. If fewer than 6 queries differ, the test cannot reject at 0.05, and intervals
    follow from the number of wins and losses and the range of the metric alone. The test is about symmetry: with fewer
    than 100 skewed differences, it can reject too often.

    References
    ----------
    M. D. Smucker, J. Allan, B. Carterette (2007). A comparison of statistical significance tests for information
    retrieval evaluation. CIKM 2007. https://doi.org/10.1145/1321440.1321528

    J. C. Hsu (1984). Constrained simultaneous confidence intervals for multiple comparisons with the best. Annals of
    Statistics 12(3). https://doi.org/10.1214/aos/1176346732

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
    check_choice(align, "align", ("intersection", None))
    aligning = {"align": align, "by": by, "groups": groups}
    options = {"baseline": baseline, "margin": margin, "test": test, "correction": correction}
    options |= {"confidence": confidence, "random_state": random_state}
    return compare_reports(Comparison, _named(reports), metrics, aligning, **options)


def _named(reports: Any) -> dict[str, RankingReport]:
    """Reports by name; those in a sequence are numbered."""
    if not isinstance(reports, Iterable):
        hint = " Pass its reports." if hasattr(reports, "reports") else ""
        raise TypeError(f"reports must be a dict or a sequence of reports; got {type(reports).__name__}.{hint}")
    named = by_text(reports.items() if isinstance(reports, Mapping) else enumerate(reports), "reports")
    for name, report in named.items():
        if not isinstance(report, RankingReport):
            raise TypeError(f"reports must hold RankingReport objects; got {type(report).__name__} for {name!r}.")
    if len(named) < 2:
        raise ValueError(f"reports must hold at least two reports; got {len(named)}.")
    return named


def compare_reports(
    kind: type[C],
    reports: Mapping[str, RankingReport],
    metrics: Any = None,
    aligning: Mapping[str, Any] | None = None,
    *,
    baseline: Any = None,
    margin: Any = None,
    test: Any = "permutation",
    correction: Any = "max",
    confidence: Any = 0.95,
    random_state: Any = 0,
    **fields: Any,
) -> C:
    """Make a comparison of the given kind, whose further fields follow; options are checked."""
    check_choice(test, "test", TESTS)
    check_choice(correction, "correction", CORRECTIONS)
    check_number(margin, "margin", "[0, inf)", other="None")
    confidence, seed = check_confidence(confidence), _seed(random_state)
    if baseline is not None:
        baseline = check_choice(str(baseline), "baseline", reports)
    aligned, names = _aligned(reports, metrics, **(aligning or {}))
    options = {"test": test, "correction": correction, "baseline": baseline, "margin": margin, "random_state": seed}
    found = kind(aligned, names, confidence=confidence, **options, **fields)
    for metric in filter(found.tested, names):
        found.by_metric(metric).check()
    order = best_first(found.means(), greater_is_better=found.greater_is_better())
    return replace(found, reports={name: aligned[name] for name in order})


def _seed(random_state: Any) -> int:
    """A seed from which all random signs are derived."""
    seed = check_seed(random_state)
    if isinstance(seed, int):
        return seed
    return int.from_bytes(check_random_state(seed).bytes(4), "little")


def leaderboard(
    y_true: Any,
    scores: Any,
    *,
    qid: Any = None,
    metrics: Any = ("ndcg@10", "map", "mrr"),
    convention: str = "sklearn",
    ties: str | None = None,
    replace_undefined_by: float | None = None,
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

    Models are ranked by the first metric and compared query by query. Ids and labels are checked and grouped only once
    for all models.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    scores : dict of str to array-like of the shape of y_true, or data frame
        Scores to rank by, largest first, by model name; or a frame of pandas, polars or pyarrow with one column per
        model. At least two models. A score of NaN means that the model did not return the document.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, as in evaluate.
    metrics : sequence of str, metric functions or bound metrics, default=("ndcg@10", "map", "mrr")
        Metrics to compute, as in evaluate. The first one ranks the models.
    convention, ties, replace_undefined_by, sample_weight, retrieved, judged, condense, documents : object
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
    TypeError
        If scores are neither a dict nor a frame, there are no query ids, or an argument has the wrong type.
    ValueError
        If there are fewer than two models, names repeat, an array is invalid, or no query has a value.

    Examples
    --------
    In each of six queries, one model has the relevant document at rank 1, another at rank 2, and the third alternates.
    Of the 2^6 ways to assign signs to six equal differences, two are as extreme, so p = 2/64 for the first two:

    >>> from skrank_metrics import leaderboard
    >>> y, qid = [1, 0] * 6, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    >>> scores = {"never": [1, 2] * 6, "mixed": [2, 1, 1, 2] * 3, "always": [2, 1] * 6}
    >>> board = leaderboard(y, scores, qid=qid, metrics="mrr")
    >>> board.means()
    {'always': 1.0, 'mixed': 0.75, 'never': 0.5}
    >>> board.verdict
    'With 95% confidence, the best is always or mixed; always leads. never is worse.'
    """
    columns = _score_columns(scores)
    bound = bind_metrics(metrics, convention, ties=ties, replace_undefined_by=replace_undefined_by)
    shape, ranked = np.shape(y_true), carried(y_true, retrieved=retrieved)["retrieved"]
    ranked = None if ranked is None else check_mask(ranked, "retrieved", shape)
    masks = {"retrieved": retrieved, "judged": judged, "condense": condense}
    own = {"sample_weight": sample_weight, "documents": documents, "by": by, "groups": groups}
    lists, parts = lists_of_rows(y_true, np.zeros(shape), qid=qid, **own, **masks)
    reports = {}
    for name, column in columns.items():
        with _naming(name):
            check_aligned(y_true=y_true, y_score=column, qid=qid)
            found, returned = _returned(column, shape, ranked)
        of_model = lists.with_scores(lists.grouping.sort(found.ravel()))
        if returned is not ranked:
            of_model = replace(of_model, retrieved=lists.grouping.sort(returned.ravel()))
        labels = labels_of_rows(y_true, column, qid)
        reports[name] = evaluate_lists(of_model, bound, **parts, _row_labels=labels)
    options: dict[str, Any] = {"baseline": baseline, "margin": margin, "test": test, "correction": correction}
    options |= {"confidence": confidence, "random_state": random_state}
    return compare_reports(Comparison, reports, None, None, **options)


def _returned(column: Any, shape: tuple[int, ...], ranked: Mask | None) -> tuple[FloatArray, Any]:
    """Scores, and the documents that a model returned: those without NaN, and among the ranked ones."""
    missing = np.isnan(to_float64(column, "y_score"))
    if not missing.any() or missing.shape != shape:
        return check_scores(column, shape, ranked), ranked
    if missing.all():
        raise ValueError("y_score must hold scores; all are NaN.")
    returned = ~missing if ranked is None else ~missing & ranked
    return check_scores(column, shape, returned), returned


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Name the model in errors about its scores."""
    try:
        yield
    except (TypeError, ValueError) as error:
        message = str(error).replace("y_score", f"scores[{name!r}]")
        not_scores = isinstance(error, TypeError) and message.startswith("scores[")
        raise type(error)(message + " Pass only the columns of scores." * not_scores) from None


def _score_columns(scores: Any) -> dict[str, Any]:
    """Columns of scores by model name."""
    named = frame_columns(scores)
    if not named and not isinstance(scores, Mapping):
        raise TypeError(
            "scores must be a dict of scores by model name, or a data frame with one column per model; got "
            f"{type(scores).__name__}. Pass {{'name': scores, ...}}."
        )
    columns = by_text(named, "scores", " Rename the columns.")
    if len(columns) < 2:
        got = f"only {next(iter(columns))!r}" if columns else "none"
        raise ValueError(f"scores must hold at least two models; got {got}. Pass one model to evaluate.")
    return columns


# Reports over the same queries and documents


def _aligned(
    reports: Reports, metrics: Any = None, *, align: str | None = None, by: Any = None, groups: Any = None
) -> tuple[dict[str, RankingReport], tuple[str, ...]]:
    """Check that reports are comparable; give all the queries, names of metrics, slices and groups of the first."""
    columns, places = _names_of_metrics(reports, metrics), _places(reports, align)
    first = next(iter(reports))
    aligned = {name: _with_queries(report, places[name]) for name, report in reports.items()}
    common = {
        name: _shared(aligned, name)
        if own is None
        else slice_of_query(own, reports[first].grouping, ids=reports[first].qid, name=name)[places[first]]
        for name, own in {"by": by, "groups": groups}.items()
    }
    _check_same_documents(aligned)
    for name, report in aligned.items():
        if not np.array_equal(aligned[first].weights, report.weights):  # type: ignore[arg-type]
            raise ValueError(
                f"reports must have the same weights; {first!r} and {name!r} differ. Evaluate with the same "
                "sample_weight."
            )
    return {name: _renamed(report, columns, name, common) for name, report in aligned.items()}, tuple(columns)


def _with_queries(report: RankingReport, places: IntArray) -> RankingReport:
    """The report of these queries in this order, with its slices."""
    if np.array_equal(places, np.arange(report.n_queries)):
        return report
    return replace(report._part(places), by=None if report.by is None else report.by[places])


def _renamed(report: RankingReport, names: Mapping[str, Mapping[str, str]], own: str, common: Any) -> RankingReport:
    """The report with the slices and groups of all, and its metrics by their names in the first."""
    changes = {name: column for name, column in common.items() if column is not getattr(report, name)}
    if any(name != columns[own] for name, columns in names.items()):
        for what in ("metrics", "_results"):
            changes[what] = {name: getattr(report, what)[columns[own]] for name, columns in names.items()}
    return replace(report, **changes) if changes else report


def _shared(reports: Reports, name: str) -> NDArray[Any] | None:
    """The slices or groups of the reports, which must agree; None unless all reports have them."""
    found = {own: getattr(report, name) for own, report in reports.items()}
    without = [own for own, column in found.items() if column is None]
    if name == "groups" and 0 < len(without) < len(found):  # the p-values of dependent queries would be too small
        some = next(own for own in found if own not in without)
        raise ValueError(
            f"Either all reports or none must have groups; {some!r} has them, {without[0]!r} does not. Evaluate all "
            "with the same groups, or pass groups to compare."
        )
    if without:
        return None
    first, expected = next(iter(found)), as_python(next(iter(found.values())))
    for other, column in found.items():
        for query, one, another in zip(as_python(reports[first].qid), expected, as_python(column), strict=True):
            if one != another:
                raise ValueError(
                    f"reports must have the same {name}; query {query!r} has {one!r} in {first!r} and {another!r} in "
                    f"{other!r}. Evaluate with the same {name}."
                )
    return found[first]


def _names_of_metrics(reports: Reports, metrics: Any) -> dict[str, dict[str, str]]:
    """Names of the metrics in each report, by their names in the first."""
    first, *others = reports.values()
    wanted = list(metrics) if isinstance(metrics, list | tuple) else [metrics]
    if metrics is None:
        wanted = [name for name in first.mean if all(column_of(name, other.metrics) for other in others)]
    if not wanted:
        none = f"reports must have a metric in common; the first has {', '.join(first.mean)}."
        raise ValueError(none if metrics is None else "metrics must name at least one metric; got none.")
    found = [_names_of_metric(reports, metric) for metric in wanted]
    return {next(iter(columns.values())): columns for columns in found}


def _names_of_metric(reports: Reports, metric: Any) -> dict[str, str]:
    """Name of one metric in each report. All reports must compute it in the same way."""
    columns: dict[str, str] = {}
    first = next(iter(reports))
    for name, report in reports.items():
        column = column_of(metric, report.metrics)
        if column is None:
            raise ValueError(_missing(metric if isinstance(metric, str) else spelled(metric), name, report))
        columns[name] = column
        bound, one = report.metrics[column], reports[first].metrics[columns[first]]
        if bound.definition != one.definition or bound.average != one.average:
            alike = str(one) == str(bound) and one.function is not bound.function
            way_out = "Evaluate with the same convention, ties and replace_undefined_by."
            why = ", which are not the same function. Evaluate all reports with one of them."
            raise ValueError(
                f"reports must compute {column!r} in the same way; got {one} in {first!r} and {bound} in "
                f"{name!r}{why if alike else f'. {way_out}'}"
            )
        if report.condensed != reports[first].condensed:
            raise ValueError(
                f"reports must have the same condense; got {reports[first].condensed} in {first!r} and "
                f"{report.condensed} in {name!r}."
            )
    return columns


def _missing(metric: str, name: str, report: RankingReport) -> str:
    if metric in report.metrics:  # an object was passed, not this name
        return (
            f"metric must be one that all reports have; got {metric}, but {metric!r} in report {name!r} is computed "
            f"differently, as {report.metrics[metric]}. Pass the name {metric!r} to use the metric of the reports."
        )
    return (
        f"metric {metric!r} is missing from report {name!r}, which has {', '.join(map(repr, report.mean))}. "
        "Pass a metric that all reports have, or evaluate with this one."
    )


def _places(reports: Reports, align: str | None) -> dict[str, IntArray]:
    """Positions in each report of the queries to compare, in the order of the first report."""
    first, *others = reports.values()
    if all(share_documents(first, other) for other in others):
        return dict.fromkeys(reports, np.arange(first.n_queries))
    numbers = {
        name: {query: place for place, query in enumerate(as_python(report.qid))} for name, report in reports.items()
    }
    common = [query for query in as_python(first.qid) if all(query in own for own in numbers.values())]
    for name, own in numbers.items():
        if align is None and len(own) > len(common):
            other = next(other for other in reports if numbers[other].keys() != own.keys())
            way_out = "Pass align='intersection' to compare on the queries that all reports have."
            raise ValueError(
                f"reports must be over the same queries; got {len(own)} in {name!r} and {len(numbers[other])} in "
                f"{other!r}, {len(own.keys() & numbers[other].keys())} of them in both. "
                f"{way_out if common else 'Check that their ids have the same type.'}"
            )
    if not common:
        raise ValueError("reports must have a query in common; got none. Check that their ids have the same type.")
    return {name: np.array([place[query] for query in common]) for name, place in numbers.items()}


def _check_same_documents(reports: Reports) -> None:
    """Refuse queries with different documents or labels, whose differences are not due to the rankings alone.

    Documents that nobody judged are ignored, since each ranking may have its own. Reports without documents have a
    digest of the labels of each query, unless they are of unknown origin.
    """
    (first, one), *others = reports.items()
    for name, other in others:
        if share_documents(one, other):
            continue
        found = [report.label_digests for report in (one, other)]
        differs = np.any([a != b for a, b in zip(*found, strict=True)], axis=0) if all(found) else np.array([False])
        if differs.any():
            place = int(np.argmax(differs))
            got = [f"{_labels(report, place)} in {own!r}" for own, report in ((first, one), (name, other))]
            raise ValueError(
                f"reports must have the same documents with the same labels; got {' and '.join(got)} for query "
                f"{as_python(one.qid)[place]!r}. Evaluate both on all documents; mark those that a ranking lacks with "
                "retrieved=, and those that nobody judged with judged=."
            )


def _labels(report: RankingReport, place: int) -> str:
    """The labels of a query, if they were kept."""
    if not report.has_documents:
        return "other labels"
    sizes, labels = report.documents
    own = np.split(labels, np.cumsum(sizes)[:-1])[place]
    shown = ", ".join(f"{label:g}" for label in own[:10]) + ", ..." * (len(own) > 10)
    return f"{counted(len(own), 'document')} with labels {shown}"
