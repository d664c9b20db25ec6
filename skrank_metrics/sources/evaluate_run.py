"""The report of ranked lists and a separate truth, joined by the ids of queries and documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.documents import Queries
from skrank_metrics._input.arrays import check_bool, check_choice, check_weights
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.query_ids import to_id_array
from skrank_metrics._input.slices import slice_of_query
from skrank_metrics._output.result import counted
from skrank_metrics.metrics.names import bind_metrics
from skrank_metrics.reports.evaluate import evaluate_ranking
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.sources.column_roles import columns_by_argument
from skrank_metrics.sources.document_columns import columns_by_id, values_by_id
from skrank_metrics.sources.join import (
    Duplicates,
    have_kinds_in_common,
    join_documents,
    share_no_document,
    with_parents,
)
from skrank_metrics.sources.lists import Lists
from skrank_metrics.sources.lists_by_id import has_columns, read_lists
from skrank_metrics.sources.ranking_by_id import rank_lists

Missing: TypeAlias = Literal["zero", "skip", "error"]
MISSING = ("zero", "skip", "error")
DUPLICATES = ("error", "first", "best")
SCORE_TYPES = ("float32", "float64")


def evaluate_run(
    qrels: Any,
    run: Any,
    metrics: Any = ("ndcg@10", "map", "mrr"),
    *,
    convention: str | None = None,
    sample_weight: Any = None,
    missing: Missing = "zero",
    exclude: Any = None,
    duplicates: Duplicates = "error",
    parents: Mapping[Any, Any] | Callable[[Any], Any] | None = None,
    condense: bool = False,
    documents: Any = None,
    by: Any = None,
    groups: Any = None,
    queries: Any = None,
    columns: Mapping[str, Any] | None = None,
) -> RankingReport:
    """Evaluate lists of documents that are joined with separate judgments by the ids of queries and documents.

    For recommenders, retrieval and TREC, where what is true and what was returned come separately. Judged documents
    that were not returned count in the number of relevant documents and in the ideal order. Returned documents that
    nobody judged are not relevant. Queries that are only in the run are ignored. ``health`` of the report says how many
    queries were missing or ignored. Reports over the same qrels can be compared, whatever was returned.

    Parameters
    ----------
    qrels : dict, frame, sparse matrix, Qrels, path or open file
        What is relevant: ``{query: {document: label}}``; ``{query: relevant documents}``, as lists or sets; a frame of
        pandas, polars or pyarrow with one row per judgment, or of two columns if all of these documents are relevant; a
        sparse matrix of scipy, whose rows are the queries 0, 1, ... and whose columns are documents; a Parquet, CSV,
        TSV or Arrow file of rows; what trec.read_qrels returns; or a TREC file. Ids can be integers, strings, or
        anything hashable; those in texts are strings.
    run : dict, frame, array, Run, path or open file
        What was returned: ``{query: {document: score}}``; ``{query: ranked list of documents}``; a frame or file with
        scores or ranks; an array of document ids of shape (n_queries, n_ranks), as searches for nearest neighbours
        return them, in which -1, None, NaN and masked entries are padding; what trec.read_run returns; or a TREC file.
    metrics : str, metric, sequence or dict of them, default=("ndcg@10", "map", "mrr")
        Metrics to compute, as in evaluate. trec_eval's names, such as "P_5" and "ndcg_cut_10", are also accepted.
    convention : default=None
        As in evaluate. The default convention is "trec_eval" if the run is in the format of TREC, else "sklearn".
        Ties that are "stable" are in the order of the run, or in the convention "trec_eval", by document id descending.
        That convention also compares scores in float32, unless ``trec.read_run`` says otherwise.
    sample_weight : dict or Series, default=None
        Weight of each query, by its id.
    missing : {"zero", "skip", "error"}, default="zero"
        What to do with queries of qrels that have no list in the run: treat their lists as empty, so they count as 0,
        like trec_eval's option -c; leave them out; or raise an error.
    exclude : dict, frame, sparse matrix, path or iterable of tuples, default=None
        Pairs of a query and a document to remove from the run, such as the items that a user has in the training data:
        ``{query: documents}``, a frame or file, or tuples ``(query, document)``. They remain in qrels.
    duplicates : {"error", "first", "best"}, default="error"
        What to do with a document that is twice in a list of the run or in the judgments of a query, such as an item
        that was bought twice: raise an error; keep the first; or keep the one with the highest score or label.
    parents : dict or callable, default=None
        The document of each passage, if the run ranks passages of the documents that were judged. The best passage of
        a document stands for it.
    condense : bool, default=False
        Whether to remove returned documents that nobody judged, as in evaluate.
    documents : frame, or dict of dicts or Series, default=None
        Columns for custom metrics, by document id: a frame with a column of ids or an index of ids, or
        ``{"price": {document: price}}``.
    by, groups : dict or Series, default=None
        Slice and group of each query, by its id. Tuples make one slice per combination.
    queries : array-like of shape (n_queries,), default=None
        Query id of each row if the run is an array.
    columns : dict, default=None
        Names of columns, such as ``{"query": "customer_id", "label": "stars"}``, for frames and files in which they
        are not the usual ones. The keys are "query", "document", "label", "score" and "rank", of which 1 is the first.
        If frames differ, ``{"qrels": {"query": "customer"}, "run": {"query": "user"}}`` names them separately. The
        usual names are query, qid, query_id, topic, user, user_id; document, docno, docid, item, item_id, passage_id,
        corpus-id; label, relevance, rel, rating, grade; score, prediction, rank.

    Returns
    -------
    report : RankingReport
        Report with the queries in the order of qrels.

    Raises
    ------
    TypeError
        If ``qrels``, ``run`` or another argument has the wrong type.
    ValueError
        If a document is twice in a list, a label, score or id is NaN, a rank repeats within a query, qrels and run
        share no query or have documents of different types, nothing of ``exclude`` occurs elsewhere, two columns could
        be meant, or a file is invalid.

    See Also
    --------
    evaluate : Evaluate documents that are all judged and scored.

    Examples
    --------
    Alice's relevant items are at ranks 1 and 3 and make an average precision of (1/1 + 2/3) / 2 = 5/6; one of two for
    bob was returned, at rank 2, which makes (1/2) / 2 = 1/4:

    >>> from skrank_metrics import evaluate_run
    >>> bought = {"alice": ["tea", "milk"], "bob": ["rice", "salt"]}
    >>> recommended = {"alice": ["tea", "rice", "milk"], "bob": ["tea", "salt", "milk"]}
    >>> evaluate_run(bought, recommended, ["map", "recall@3"]).per_query
    {'map': array([0.83333333, 0.25      ]), 'recall@3': array([1. , 0.5])}
    """
    check_choice(missing, "missing", MISSING)
    check_choice(duplicates, "duplicates", DUPLICATES)
    check_bool(condense, "condense")
    named = columns_by_argument(columns)
    _check_used(columns, (qrels, run, exclude, documents))
    returned = read_lists(run, "run", named["run"], duplicates=duplicates, queries=queries)
    convention = convention or ("trec_eval" if returned.in_trec else "sklearn")
    bound = bind_metrics(metrics, convention)
    in_trec_eval = convention == "trec_eval"
    score_type = returned.score_type or ("float32" if in_trec_eval else "float64")
    if score_type == "float32" and not returned.ranked:
        returned = _in_float32(returned)
    if parents is not None:
        returned = with_parents(returned, parents, duplicates)
    judged = read_lists(
        qrels, "qrels", named["qrels"], duplicates=duplicates, negative=in_trec_eval
    )
    excluded = None
    if exclude is not None:
        excluded = read_lists(exclude, "exclude", named["exclude"])
        _check_excluded(excluded, judged, returned)
    ids, left_out = _evaluated_queries(judged, returned, missing)
    known, ranked = judged.of_queries(ids), returned.of_queries(ids)
    if excluded is not None:
        excluded = excluded.of_queries(ids)
    ranked, labels, others = join_documents(known, ranked, excluded, duplicates)
    if (labels < 0).all():
        left_out = (*left_out, *_check_documents(judged, returned))
    own = {}
    if documents is not None:
        listed = [*ranked.documents.tolist(), *others.documents.tolist()]
        own = columns_by_id(documents, named["documents"], listed)
    ranking = rank_lists(
        ranked,
        np.concatenate((labels, others.values)),
        others,
        own,
        _described(ids, sample_weight=sample_weight, by=by, groups=groups),
        condense=condense,
        by_id=in_trec_eval and any(metric.get("ties") == "stable" for metric in bound.values()),
    )
    del returned, ranked, labels, others, judged, known, excluded  # as large as the input
    return evaluate_ranking(ranking, bound, left_out=left_out)


def _described(ids: list[Any], *, sample_weight: Any, by: Any, groups: Any) -> Queries:
    """The queries with their weights, slices and groups."""
    query_ids = to_id_array(ids, "queries")
    weights = None
    if sample_weight is not None:
        given = values_by_id(sample_weight, ids, "sample_weight")
        weights = check_weights(given, len(ids), "query")
    one_each = Grouping(query_ids, np.ones(len(ids), dtype=np.intp), None)
    found: dict[str, NDArray[Any]] = {}
    for name, values in (("by", by), ("groups", groups)):
        if values is not None:
            column = values_by_id(values, ids, name)
            found[name] = slice_of_query(column, one_each, name=name)
    return Queries(query_ids, weights, **found)


def _in_float32(lists: Lists) -> Lists:
    """Scores that are equal if they agree to about seven digits; ranks would tie beyond 2^24."""
    with np.errstate(over="ignore"):  # beyond float32, scores are infinite
        return replace(lists, values=lists.values.astype(np.float32).astype(np.float64))


def _check_used(columns: Any, sources: Iterable[Any]) -> None:
    """Refuse names of columns if nothing has columns."""
    if columns is None:
        return
    if not any(
        has_columns(source) or isinstance(source, str) or hasattr(source, "__fspath__")
        for source in sources
    ):
        raise ValueError("columns= applies to frames and files; got none.")


def _check_excluded(excluded: Lists, judged: Lists, returned: Lists) -> None:
    """Refuse exclusions that cannot match, such as ids of another type."""
    if not len(excluded):
        return
    queries = {*judged.queries, *returned.queries}
    if queries.isdisjoint(excluded.queries):
        raise ValueError(
            f"exclude and run share no query: {excluded.queries[0]!r} ... against {returned.queries[0]!r} ..."
        )
    others = [lists for lists in (returned, judged) if len(lists)]
    if others and all(share_no_document(excluded, lists) for lists in others):
        one, other = (lists.documents[np.array([0])].tolist()[0] for lists in (excluded, others[0]))
        raise ValueError(
            f"exclude and {others[0].argument} share no document: {one!r} ... against {other!r} ..."
        )


def _check_documents(judged: Lists, returned: Lists) -> tuple[str, ...]:
    """A finding if no returned document was judged for any query; an error if the ids are of different types."""
    if not share_no_document(judged, returned):
        return ()
    one, other = (lists.documents[np.array([0])].tolist()[0] for lists in (returned, judged))
    example = f"{one!r} ... against {other!r} ..."
    if not have_kinds_in_common(judged, returned):
        raise ValueError(
            f"run and qrels share no document: {example} The ids are of different types; convert one of the two."
        )
    return (f"No document in common: run and qrels share none, {example}, so no list has a hit.",)


def _evaluated_queries(
    judged: Lists, returned: Lists, missing: str
) -> tuple[list[Any], tuple[str, ...]]:
    """The queries to evaluate, in the order of qrels, and findings about others; words before a colon are a kind."""
    known, ranked = set(judged.queries), set(returned.queries)
    if known.isdisjoint(ranked):
        one, other = ([*lists.queries, None][0] for lists in (returned, judged))
        raise ValueError(f"run and qrels share no query: {one!r} ... against {other!r} ...")
    absent = [query for query in judged.queries if query not in ranked]
    if absent and missing == "error":
        raise ValueError(
            f"run has no list for {counted(len(absent), 'query')} of qrels, such as {absent[0]!r}."
        )
    found = []
    if absent:
        fate = "counted as empty lists."
        if missing == "skip":
            fate = "left out; missing='zero' counts them as 0."
        found.append(f"Queries without a list: {len(absent)}, {fate}")
    unjudged = len(ranked - known)
    if unjudged:
        found.append(f"Queries without judgments: {unjudged}, ignored.")
    if missing == "skip":
        return [query for query in judged.queries if query in ranked], tuple(found)
    return judged.queries, tuple(found)
