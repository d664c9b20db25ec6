"""The report of ranked lists and a separate truth, joined by the ids of queries and documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.documents import Documents, Queries
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._input.arrays import (
    FloatArray,
    IntArray,
    Mask,
    check_bool,
    check_choice,
    check_weights,
    document_columns,
)
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.query_ids import to_id_array
from skrank_metrics._input.slices import slice_of_query
from skrank_metrics._output.result import counted
from skrank_metrics.metrics.names import bind_metrics
from skrank_metrics.reports.evaluate import evaluate_ranking
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.sources.ids import Lists, comparable, ids_of
from skrank_metrics.sources.lists_by_id import lists_of

MISSING = ("zero", "skip", "error")
SCORE_TYPES = ("float32", "float64")


def evaluate_run(
    qrels: Any,
    run: Any,
    metrics: Any = ("ndcg@10", "map", "mrr"),
    *,
    convention: str | None = None,
    sample_weight: Any = None,
    missing: str = "zero",
    exclude: Any = None,
    condense: bool = False,
    documents: Any = None,
    by: Any = None,
    groups: Any = None,
    queries: Any = None,
    query: str = "query",
    document: str = "document",
    label: str | None = None,
    score: str | None = None,
    rank: str | None = None,
    score_type: str | None = None,
) -> RankingReport:
    """Evaluate ranked lists against judgments, joined by the ids of queries and documents.

    For recommenders, retrieval and TREC, where what is true and what was returned come separately. Judged documents
    that were not returned count in the number of relevant documents and in the ideal order. Returned documents that
    nobody judged are not relevant. Queries that are only in the run are ignored. ``health`` of the report says how many
    queries were missing or ignored. Reports over the same qrels can be compared, whatever was returned.

    Parameters
    ----------
    qrels : dict, frame, Qrels, path or open file
        What is relevant: ``{query: {document: label}}``; ``{query: relevant documents}``, as lists or sets; a frame of
        pandas, polars or pyarrow with one row per judgment, or of two columns if all of these documents are relevant; a
        Parquet, CSV, TSV or Arrow file of such rows; what trec.read_qrels returns; or a TREC file. Ids can be integers,
        strings, or anything hashable; those in texts are strings.
    run : dict, frame, array, Run, path or open file
        What was returned: ``{query: {document: score}}``; ``{query: ranked list of documents}``; a frame or file with
        scores or ranks; an array of document ids of shape (n_queries, n_ranks), as searches for nearest neighbours
        return them, in which -1 or None is padding; what trec.read_run returns; or a TREC file.
    metrics : str, metric, sequence or dict of them, default=("ndcg@10", "map", "mrr")
        Metrics to compute, as in evaluate. trec_eval's names, such as "P_5" and "ndcg_cut_10", are also accepted.
    convention : default=None
        As in evaluate. The default convention is "trec_eval" if the run is in the format of TREC, else "sklearn".
        Ties that are "stable" are in the order of the run, or in the convention "trec_eval", by document id descending.
    sample_weight : dict or Series, default=None
        Weight of each query, by its id.
    missing : {"zero", "skip", "error"}, default="zero"
        What to do with queries of qrels that have no list in the run: treat their lists as empty, so they count as 0,
        like trec_eval's option -c; leave them out; or raise an error.
    exclude : dict, frame, path or iterable of tuples, default=None
        Pairs of a query and a document to remove from the run, such as the items that a user has in the training data:
        ``{query: documents}``, a frame or file, or tuples ``(query, document)``. They remain in qrels.
    condense : bool, default=False
        Whether to remove returned documents that nobody judged, as in evaluate.
    documents : frame, or dict of dicts or Series, default=None
        Columns for own metrics, by document id: a frame with a column of ids (named by ``document``) or an index of
        ids, or ``{"price": {document: price}}``.
    by, groups : dict or Series, default=None
        Slice and group of each query, by its id. Tuples make one slice per combination.
    queries : array-like of shape (n_queries,), default=None
        Query id of each row if the run is an array.
    query, document : str, default="query", "document"
        Columns of ids in frames.
    label, score, rank : str, default=None
        Column of labels in a frame of qrels, and of scores or of ranks, of which 1 is the first, in a frame of a run.
        None means "label", and "score" or, if there is no such column, "rank".
    score_type : {"float32", "float64"}, default=None
        Precision in which scores are compared. In float32, scores that agree to about seven digits are tied, as in
        trec_eval 9 and pytrec_eval; trec_eval 10 compares in float64. None means float32 in the convention "trec_eval",
        else float64.

    Returns
    -------
    report : RankingReport
        Report with the queries in the order of qrels.

    Raises
    ------
    TypeError
        If ``qrels``, ``run`` or another argument has the wrong type.
    ValueError
        If a document is twice in a list, a label or score is NaN, a rank repeats within a query, qrels and run share no
        query or no document, or a file is invalid.

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
    names = {"query": query, "document": document, "label": label, "score": score, "rank": rank}
    returned = lists_of(run, "run", names, queries)
    convention = convention or ("trec_eval" if returned.in_trec else "sklearn")
    bound = bind_metrics(metrics, convention)
    in_trec_eval = convention == "trec_eval"
    score_type = score_type or ("float32" if in_trec_eval else "float64")
    if check_choice(score_type, "score_type", SCORE_TYPES) == "float32":
        with np.errstate(over="ignore"):  # beyond float32, scores are infinite
            returned = replace(
                returned, values=returned.values.astype(np.float32).astype(np.float64)
            )
    judged = lists_of(qrels, "qrels", names, negative=in_trec_eval)
    seen = None if exclude is None else lists_of(exclude, "exclude", names)
    ids, left_out = _evaluated_queries(judged, returned, missing)
    by_id = in_trec_eval and any(metric.get("ties") == "stable" for metric in bound.values())
    returned, labels, others = _match_documents(judged, returned, seen, ids)
    ranking = _ranking(returned, labels, others, _columns_by_id(documents, document), by_id=by_id)
    del returned, labels, others, judged, seen  # as large as the input
    columns = {"by": by, "groups": groups, "sample_weight": sample_weight}
    columns = {
        name: _by_id(of_query, ids, name)
        for name, of_query in columns.items()
        if of_query is not None
    }
    given = columns.pop("sample_weight", None)
    weights = None if given is None else check_weights(given, len(ids), "query")
    ids_of_queries = ranking.documents.queries.ids
    rows = Grouping(ids_of_queries, np.ones(len(ids), dtype=np.intp), None)
    slices = {name: slice_of_query(column, rows, name=name) for name, column in columns.items()}
    truth = replace(
        ranking.documents,
        queries=Queries(ids_of_queries, weights, **slices),
        condense=check_bool(condense, "condense"),
    )
    return evaluate_ranking(replace(ranking, documents=truth), bound, left_out=left_out)


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
        fate = (
            "left out; missing='zero' counts them as 0."
            if missing == "skip"
            else "counted as empty lists."
        )
        found.append(f"Queries without a list: {len(absent)}, {fate}")
    if unjudged := len(ranked - known):
        found.append(f"Queries without judgments: {unjudged}, ignored.")
    return [query for query in judged.queries if missing != "skip" or query in ranked], tuple(found)


def _match_documents(
    judged: Lists, returned: Lists, seen: Lists | None, ids: list[Any]
) -> tuple[Lists, FloatArray, Lists]:
    """Returned documents of some queries that are not excluded, their labels, and documents that were only judged.

    Labels are below 0 if nobody judged a document.
    """
    in_dicts = judged.dicts is not None and returned.dicts is not None and seen is None
    parts = [
        part if in_dicts else part.converted()
        for part in (judged, returned, seen)
        if part is not None
    ]
    known, ranked, *_ = parts = [part.of_queries(ids) for part in parts]
    if in_dicts:
        labels, unranked = _looked_up_labels(known, ranked)
    else:
        alike = comparable(parts)
        for part, pairs in zip(parts[:2], alike, strict=False):
            if not part.unique and (row := pairs.repeated()) is not None:
                raise ValueError(f"{part.argument} has {part.pair(row)} twice.")
        if seen is not None:
            kept = np.delete(np.arange(len(ranked.codes)), alike[1].match(alike[2])[0])
            ranked, alike[1] = ranked[kept], alike[1][kept]
        rows, places = alike[1].match(alike[0])
        labels, unranked = np.full(len(ranked.codes), -1.0), np.ones(len(known.codes), dtype=bool)
        labels[rows], unranked[places] = known.values[places], False
    if (labels < 0).all():  # for any query, since the ids may be of two kinds
        of_run, of_qrels = returned.documents.tolist(), judged.documents.tolist()
        if of_run and of_qrels and set(of_run).isdisjoint(of_qrels):
            raise ValueError(
                f"run and qrels share no document: {of_run[0]!r} ... against {of_qrels[0]!r} ..."
            )
    return ranked, labels, known[unranked & (known.values >= 0)]


def _looked_up_labels(judged: Lists, returned: Lists) -> tuple[FloatArray, Mask]:
    """Labels of returned documents, and which judged ones were not returned, by looking up keys of dicts.

    This takes half of the time of matching ids.
    """
    truth, lists, none = judged.dicts or {}, returned.dicts or {}, dict[Any, Any]()
    of_run = ((lists[query], truth[query]) for query in lists if query in truth)
    labels = chain.from_iterable(map(known.get, row, repeat(-1.0)) for row, known in of_run)
    kept = set(judged.queries)
    of_qrels = ((known, lists.get(query, none)) for query, known in truth.items() if query in kept)
    found = chain.from_iterable(map(row.__contains__, known) for known, row in of_qrels)
    return (
        np.fromiter(labels, np.float64, len(returned.codes)),
        ~np.fromiter(found, np.bool_, len(judged.codes)),
    )


def _ranking(
    returned: Lists, labels: FloatArray, others: Lists, columns: Mapping[str, Any], *, by_id: bool
) -> Ranking:
    """The documents by query: those that were returned, in their order or by score and id, and the others."""
    ids, codes = returned.queries, np.concatenate((returned.codes, others.codes))
    # A query without documents gets one that was neither returned nor judged.
    empty = np.flatnonzero(np.bincount(codes, minlength=len(ids)) == 0)
    codes = np.concatenate((codes, empty)).astype(
        np.min_scalar_type(len(ids))
    )  # sorting is fastest for small types
    if by_id:
        rows = np.concatenate((_by_score_and_id(returned), np.arange(len(labels), len(codes))))
        order = rows[np.argsort(codes[rows], kind="stable")]
    else:
        order = np.argsort(codes, kind="stable")

    def arranged(of_returned: NDArray[Any], of_others: NDArray[Any], filler: Any) -> NDArray[Any]:
        return np.concatenate((of_returned, of_others, np.full(len(empty), filler))).take(order)

    retrieved, labels = order < len(labels), arranged(labels, others.values, -1.0)
    judged = labels >= 0
    own, named = (
        dict[str, NDArray[Any]](),
        [*returned.documents.tolist(), *others.documents.tolist()] if columns else [],
    )
    for name, column in columns.items():
        values = np.array(_by_id(column, named, f"documents[{name!r}]", "document"))
        own[name] = np.resize(values, len(order)).take(
            order
        )  # queries without documents get any value
    query_ids = to_id_array(ids, "queries")
    documents = Documents(
        Grouping(query_ids, np.bincount(codes, minlength=len(ids)), None),
        np.maximum(labels, 0, out=labels),
        Queries(query_ids),
        judged=None if judged.all() else judged,
        columns=own,
    )
    scores = arranged(returned.values, np.zeros(len(others.codes)), 0.0)
    return Ranking(documents, scores, None if retrieved.all() else retrieved)


def _by_score_and_id(lists: Lists) -> IntArray:
    """Rows in order of query, score descending, and id descending as text."""
    codes, scores, order = lists.codes, lists.values, np.arange(len(lists.codes))
    if ((codes[1:] < codes[:-1]) | ((codes[1:] == codes[:-1]) & (scores[1:] > scores[:-1]))).any():
        order = np.lexsort((-scores, codes))
        codes, scores = codes[order], scores[order]
    new = np.concatenate(([True], (codes[1:] != codes[:-1]) | (scores[1:] != scores[:-1]), [True]))
    if len(tied := np.flatnonzero(~(new[1:] & new[:-1]))):
        # Python compares code points, which are in the order of their bytes in UTF-8.
        ids = list(map(str, lists.documents[order[tied]].tolist()))
        by_id = np.array(sorted(range(len(ids)), key=ids.__getitem__, reverse=True))
        groups = np.cumsum(new)[tied[by_id]]
        order[tied] = order[tied[by_id[np.argsort(groups, kind="stable")]]]
    return order


def _by_id(values: Any, ids: Sequence[Any], name: str, what: str = "query") -> list[Any]:
    """One value per query or document, from values by its id."""
    table = values
    if hasattr(values, "index") and hasattr(values, "iloc"):
        table = dict(zip(values.index.tolist(), values.tolist(), strict=True))
        if len(table) < len(values):
            raise ValueError(f"{name} has a {what} twice in its index.")
    if not isinstance(table, Mapping):
        raise TypeError(
            f"{name} must be a dict or a Series by {what} id; got {type(values).__name__}."
        )
    if absent := dict.fromkeys(one for one in ids if one not in table):
        raise ValueError(
            f"{name} has no value for {counted(len(absent), what)}, such as {next(iter(absent))!r}."
        )
    return [table[one] for one in ids]


def _columns_by_id(documents: Any, document: str) -> Mapping[str, Any]:
    """Values by document id, by the name of a column."""
    columns = document_columns(documents)
    if documents is None or isinstance(documents, Mapping):
        return columns
    given = columns.pop(document, getattr(documents, "index", None))
    if given is None:
        raise ValueError(f"documents has no column {document!r} of ids; name it with document=.")
    ids = ids_of(given, "documents").tolist()
    if len(set(ids)) < len(ids):
        raise ValueError("documents has a document twice.")
    return {
        name: dict(zip(ids, np.asarray(column), strict=True)) for name, column in columns.items()
    }
