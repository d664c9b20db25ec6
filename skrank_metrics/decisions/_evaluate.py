"""Several metrics of one ranking, or of several, per query and on average: of rows, or of labels in ranked order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, overload

import numpy as np

from skrank_metrics._engine.documents import Documents
from skrank_metrics._engine.from_rows import documents_from_rows, rank_rows
from skrank_metrics._engine.per_query import per_query
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._input.arrays import FloatArray, check_mask, take_rows, to_array, to_float64
from skrank_metrics._input.columns import frame_columns
from skrank_metrics._input.grouping import places_within
from skrank_metrics._input.parameters import by_text, check_bool, shown
from skrank_metrics._input.query_ids import carried
from skrank_metrics._input.types import Booleans, Columns, Ids, Numbers, Slices, SupportsArray
from skrank_metrics._output.result import counted
from skrank_metrics.decisions._compare import comparison_of
from skrank_metrics.decisions.comparison import Comparison
from skrank_metrics.decisions.plan import Plan
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import Metrics
from skrank_metrics.metrics.conventions import ConventionName
from skrank_metrics.metrics.names import bind_metrics
from skrank_metrics.reports.facts import UNKNOWN, Origin
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.reports.report_data import ReportData


class FrameOfScores(Protocol):
    """A data frame of pandas, polars or pyarrow, with one column of scores per model."""

    @property
    def columns(self) -> Any:
        """The columns, or their names."""


@overload
def evaluate(
    y_true: Numbers,
    y_score: Mapping[Any, Numbers] | FrameOfScores,
    *,
    qid: Ids | None = ...,
    metrics: Metrics = ...,
    convention: ConventionName = ...,
    sample_weight: Numbers | None = ...,
    retrieved: Booleans | None = ...,
    judged: Booleans | None = ...,
    condense: bool = ...,
    documents: Columns | None = ...,
    by: Slices | None = ...,
    groups: Ids | None = ...,
) -> Comparison: ...
@overload
def evaluate(
    y_true: Numbers,
    y_score: Numbers,
    *,
    qid: Ids | None = ...,
    metrics: Metrics = ...,
    convention: ConventionName = ...,
    sample_weight: Numbers | None = ...,
    retrieved: Booleans | None = ...,
    judged: Booleans | None = ...,
    condense: bool = ...,
    documents: Columns | None = ...,
    by: Slices | None = ...,
    groups: Ids | None = ...,
) -> RankingReport: ...
def evaluate(
    y_true: Numbers,
    y_score: Numbers | Mapping[Any, Numbers] | FrameOfScores,
    *,
    qid: Ids | None = None,
    metrics: Metrics = ("ndcg@10", "map", "mrr"),
    convention: ConventionName = "sklearn",
    sample_weight: Numbers | None = None,
    retrieved: Booleans | None = None,
    judged: Booleans | None = None,
    condense: bool = False,
    documents: Columns | None = None,
    by: Slices | None = None,
    groups: Ids | None = None,
) -> RankingReport | Comparison:
    """Compute several metrics of a ranking, or of several models on the same documents.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true, or dict of them, or data frame
        Scores to rank by, largest first. May be infinite, but not NaN. For several models, a dict of scores by name of
        the model, or a frame of pandas, polars or pyarrow with one column per model. There, NaN means that the model
        did not return the document. If y_true is 2-D, the rows of a frame are queries.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. Optional if y_true is 2-D, or a Series with an index
        level named "qid", see with_qid.
    metrics : str, metric, sequence or dict of them, default=("ndcg@10", "map", "mrr")
        Metrics to compute, by name ("ndcg(gain=exp2)@10") or as returned by get_metric. "ndcg@1,5,10" is short for
        three names. To set how ties or undefined queries count in all of them, pass what get_metrics returns.
    convention : str, default="sklearn"
        Library whose defaults apply to the parameters that the names do not set, to reproduce its values, such as
        "lightgbm", "trec_eval" or "quepid". An unknown name raises an error that lists all.
    sample_weight : array-like of shape (n_documents,), or (n_queries,) if y_true is 2-D, default=None
        Weights of the queries in the mean, which must not vary within a query.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in the number of relevant documents and in the
        ideal order, but not in the ranking, and their scores are ignored. If None, all documents were ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be NaN.
        bpref leaves them out, and judged@k counts the others. Metrics are undefined for a query without judged
        documents. If None, all documents were judged.
    condense : bool, default=False
        Whether to use condensed lists: documents that nobody judged are removed, and those below move up. Does not
        apply to judged@k. Requires judged.
    documents : dict of arrays, or frame with one row per document, default=None
        Columns for own metrics, such as prices, see make_metric, which ``report.inspect`` also shows. In a dict, each
        array has the shape of y_true.
    by : array-like of shape (n_documents,), or (n_queries,) if y_true is 2-D, default=None
        Slices to report separately, such as the type or the length of a query, sorted if they have an order. Must not
        vary within a query. A data frame, a dict of columns, or tuples make one slice per combination of values.
        Missing values are a slice of their own.
    groups : array-like of shape (n_documents,), or (n_queries,) if y_true is 2-D, default=None
        Groups of queries that may depend on each other, such as the user or the session of each. Must not vary within a
        query. Intervals then treat the groups as a random sample, not the queries.

    Returns
    -------
    report : RankingReport or Comparison
        ``mean`` and ``per_query`` are keyed by the names as given. Prints as a table with intervals. Of several models,
        a Comparison by the first metric, which prints with its verdict; ``compare`` decides with other options.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights, slices or groups are invalid, or a metric is unknown.

    References
    ----------
    T. Sakai (2007). Alternatives to bpref. SIGIR 2007, on condensed lists. https://doi.org/10.1145/1277741.1277756

    Examples
    --------
    The relevant document is at rank 1 in query "a" and at rank 2 in query "b", so MRR is (1 + 1/2) / 2:

    >>> import numpy as np
    >>> from skrank_metrics import evaluate
    >>> report = evaluate([1, 0, 0, 1], [2.0, 1.0, 2.0, 1.0], qid=["a", "a", "b", "b"], metrics=["mrr", "recall@1"])
    >>> report.mean
    {'mrr': 0.75, 'recall@1': 0.5}
    >>> report.per_query["mrr"]
    array([1. , 0.5])

    In six queries, a model has the relevant document at rank 1, another at rank 2; the third alternates. The first two
    differ with p = 2/64:

    >>> y, qid = [1, 0] * 6, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    >>> scores = {"never": [1, 2] * 6, "mixed": [2, 1, 1, 2] * 3, "always": [2, 1] * 6}
    >>> evaluate(y, scores, qid=qid, metrics="mrr").best_set
    ('always', 'mixed')
    """
    # This comes before the truth, whose errors name the models.
    models = scores_by_model(y_true, y_score)
    bound = bind_metrics(metrics, convention)
    retrieved = carried(y_true, retrieved=retrieved)["retrieved"]
    truth = documents_from_rows(
        y_true,
        qid=qid,
        sample_weight=sample_weight,
        judged=judged,
        condense=check_bool(condense, "condense"),
        documents=documents,
        by=by,
        groups=groups,
        beside={"y_score": y_score if models is None else models, "retrieved": retrieved},
    ).detached()
    if models is None:
        return evaluate_ranking(rank_rows(truth, y_score, retrieved=retrieved).detached(), bound)
    reports = {
        name: _evaluate_model(truth, scores, retrieved, name, bound)
        for name, scores in models.items()
    }
    # The plan has no baseline and no margin, and a permutation test at 95%; compare takes others.
    return comparison_of(reports, tuple(bound), Plan())


def scores_by_model(y_true: Any, y_score: Any) -> dict[str, Any] | None:
    """Scores by name of the model; None if there is one ranking."""
    is_dict = isinstance(y_score, Mapping)
    if not is_dict and not hasattr(type(y_score), "columns"):
        return None
    if not is_dict and to_array(y_true, "y_true").ndim == 2:
        return None  # a frame with one row per query
    models = by_text(frame_columns(y_score, "y_score"), "y_score", " Rename the columns.")
    if not models:
        raise ValueError("y_score must hold the scores of at least one model; got none.")
    return models


def _evaluate_model(
    documents: Documents,
    given: Any,
    retrieved: Any,
    model: str,
    metrics: Mapping[str, BoundMetric],
) -> RankingReport:
    """The report of a model, which did not return the documents with a score of NaN."""
    name = f"y_score[{shown(model)}]"
    # A frame of scores often has a column of ids or names, too.
    try:
        scores = to_float64(given, name)
    except TypeError as error:
        raise TypeError(f"{error} Pass only the columns of scores.") from None
    missing = np.isnan(scores)
    if missing.all():
        raise ValueError(f"{name} must hold scores; all are NaN.")
    if retrieved is not None:
        retrieved = check_mask(retrieved, "retrieved", missing.shape)
        missing &= retrieved  # scores of other documents do not count
    findings: tuple[str, ...] = ()
    if missing.any():
        rows = counted(int(missing.sum()), "document")
        findings = (f"No score (NaN) for {rows}, counted as not returned.",)
        retrieved = ~missing if retrieved is None else retrieved & ~missing
    ranking = rank_rows(documents, scores, retrieved=retrieved, name=name)
    return evaluate_ranking(ranking.detached(), metrics, left_out=findings)


def evaluate_ranking(
    ranking: Ranking,
    metrics: Mapping[str, BoundMetric],
    *,
    left_out: tuple[str, ...] = (),
    origin: Origin = UNKNOWN,
) -> RankingReport:
    """Compute metrics in one pass; ``left_out`` are findings about what is not in the ranking."""
    values = per_query(ranking, [metric.computation for metric in metrics.values()])
    report = RankingReport(
        metrics,
        ReportData(
            ranking.documents.queries,
            dict(zip(metrics, values, strict=True)),
            ranking,
            left_out=left_out,
        ),
        ranking.documents.condense,
        origin=origin,
    )
    report.mean  # noqa: B018  sums that overflow raise here
    return report


# Labels in ranked order


def evaluate_lists(
    labels: SupportsArray | Iterable[Iterable[float]] | Mapping[Any, Iterable[float]],
    metrics: Metrics = ("ndcg@10", "map", "mrr"),
    *,
    convention: ConventionName = "sklearn",
) -> RankingReport:
    """Evaluate lists without scores and ids: the labels of what was returned, first rank first.

    Only the documents in the lists are known. If relevant ones are missing from them, use evaluate_run, which finds
    them by their ids; otherwise recall, MAP and NDCG are too high.

    Parameters
    ----------
    labels : sequence of lists, dict of lists by query id, or array of shape (n_queries, n_ranks)
        Relevance labels of each list in ranked order, 0/1 or graded. Lists may have different lengths; some may be
        empty.
    metrics : str, metric, sequence or dict of them, default=("ndcg@10", "map", "mrr")
        Metrics to compute, as in evaluate.
    convention : str, default="sklearn"
        Library whose defaults apply, as in evaluate.

    Returns
    -------
    report : RankingReport
        Report with one query per list: its key in a dict, else its number.

    Raises
    ------
    TypeError, ValueError
        If ``labels`` is not a sequence of lists of numbers, or as in evaluate.

    See Also
    --------
    evaluate_run : Evaluate lists of document ids.

    Examples
    --------
    The first relevant document is at rank 1 and at rank 2:

    >>> from skrank_metrics import evaluate_lists
    >>> evaluate_lists([[1, 0, 0], [0, 1]], ["mrr", "hit_rate@1"]).mean
    {'mrr': 0.75, 'hit_rate@1': 0.5}
    """
    named = _named_lists(labels)
    lists = [_checked_list(values, name) for name, values in named.items()]
    n_ranked = np.array([len(values) for values in lists])
    # A list without any document has one that was not returned, so that the query counts.
    sizes = np.maximum(n_ranked, 1)
    query = np.repeat(np.arange(len(lists)), sizes)
    place = places_within(sizes)
    retrieved = place < n_ranked[query]
    y_true = np.zeros(len(query))
    y_true[retrieved] = np.concatenate(lists)
    # Places stand for scores, so that nothing ties.
    return evaluate(
        y_true,
        -place.astype(np.float64),
        qid=take_rows(list(named), query),
        metrics=metrics,
        convention=convention,
        retrieved=retrieved,
    )


def _named_lists(labels: Any) -> Mapping[Any, Any]:
    """The lists by query id."""
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise TypeError(
            f"labels must be a sequence of lists of labels; got {type(labels).__name__}."
        )
    named = dict(labels) if isinstance(labels, Mapping) else dict(enumerate(labels))
    if not named:
        raise ValueError("labels must hold at least one list; got none.")
    return named


def _checked_list(values: Any, name: Any) -> FloatArray:
    is_list = isinstance(values, Iterable) and not isinstance(values, str | Mapping)
    entries = list(values) if is_list else None
    array = to_float64(entries, "labels") if entries else np.zeros(0)
    if not is_list or array.ndim != 1:
        raise TypeError(
            f"labels must hold one flat list of labels per query, as in [[1, 0], [0, 1, 0]]; got {values!r} for query "
            f"{name!r}. Pass documents by their ids to evaluate_run."
        )
    return array
