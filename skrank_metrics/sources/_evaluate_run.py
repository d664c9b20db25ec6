"""The report of ranked lists and a separate truth, joined by the ids of queries and documents."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack, get_args, overload

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.documents import Queries
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._input.arrays import check_weights
from skrank_metrics._input.columns import ColumnNames
from skrank_metrics._input.parameters import by_text, check_bool, check_choice
from skrank_metrics._input.query_ids import to_id_array
from skrank_metrics._input.slices import slice_of_query
from skrank_metrics._input.types import ByQueryId, Columns, Ids, Lists
from skrank_metrics.decisions._compare import compare_reports
from skrank_metrics.decisions._evaluate import evaluate_ranking
from skrank_metrics.metrics._record import Metrics
from skrank_metrics.metrics.conventions import CONVENTIONS, ConventionName
from skrank_metrics.metrics.names import bind_metrics
from skrank_metrics.reports.facts import Origin
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.sources.columns import columns_by_argument, has_columns
from skrank_metrics.sources.join import (
    Duplicates,
    check_excluded_queries,
    check_types,
    columns_by_id,
    find_exclusions,
    find_lost,
    find_no_hit,
    find_unmatched_queries,
    join_documents,
    rank_lists,
    values_by_id,
    with_parents,
)
from skrank_metrics.sources.lists import JoinedLists
from skrank_metrics.sources.lists_by_id import read_lists, refuse_text

if TYPE_CHECKING:
    from skrank_metrics.decisions.comparison import Comparison


# Several runs in one argument, told from a single run by the depth of the dict.

Runs: TypeAlias = Mapping[
    str, Mapping[Any, Mapping[Any, float] | Sequence[Any]] | PathLike[str] | str
]
HOLDERS = (Mapping, list, tuple, np.ndarray, Set)  # of documents; none is a score


def runs_by_name(run: Any) -> dict[str, Any] | None:
    """The runs of a dict of runs; None if it is a single run."""
    if not isinstance(run, Mapping):
        return None
    first = next((value for value in run.values() if _is_run(value) is not None), None)
    if not _is_run(first):  # the usual case, with many queries
        return None
    for name, value in run.items():
        if isinstance(value, str) and " " in value.strip() and not os.path.exists(value):
            refuse_text("run", name, value)
        if _is_run(value) is False:
            raise ValueError(
                f"run must be a single run, or a dict of runs; got both: {name!r} holds the documents of a query."
            )
    return by_text(run.items(), "run")


def _is_run(value: Any) -> bool | None:
    """Whether an entry of a dict is a run rather than the documents of a query; None if it is empty."""
    if isinstance(value, Mapping | list | tuple) and not value:
        return None
    # A run holds lists by query; the documents of a query have scores.
    if isinstance(value, Mapping):
        return isinstance(next(iter(value.values())), HOLDERS)
    if isinstance(value, list | tuple):  # ids can be tuples and frozen sets
        return isinstance(value[0], list | np.ndarray)
    if isinstance(value, np.ndarray):
        return value.ndim > 1
    # Frames, what trec.read_run returns, and open files.
    holds_lists = has_columns(value) or hasattr(value, "lists") or hasattr(value, "read")
    return holds_lists or isinstance(value, str | PathLike)


# The evaluation of runs against one truth: queries without lists, exclusions, the join, and the report.

Missing: TypeAlias = Literal["zero", "skip", "error"]
IdType: TypeAlias = Literal["given", "text"]
MISSING = get_args(Missing)
IDS = get_args(IdType)
DUPLICATES = get_args(Duplicates)
SCORE_TYPES = ("float32", "float64")


@dataclass(frozen=True)
class RunPlan:
    """How to join runs with the truth; the options of ``evaluate_run``."""

    convention: ConventionName | None = None
    sample_weight: Any = None
    missing: Missing = "zero"
    exclude: Any = None
    duplicates: Duplicates = "error"
    parents: Any = None
    condense: bool = False
    documents: Any = None
    by: Any = None
    groups: Any = None
    queries: Any = None
    columns: Mapping[str, Any] | None = None
    ids: IdType = "given"

    def __post_init__(self) -> None:
        check_choice(self.missing, "missing", MISSING)
        check_choice(self.duplicates, "duplicates", DUPLICATES)
        check_choice(self.ids, "ids", IDS)
        check_bool(self.condense, "condense")


def report_runs(
    qrels: Any, runs: Mapping[str, Any], metrics: Metrics, plan: RunPlan
) -> dict[str, RankingReport]:
    """The report of each run."""
    names = columns_by_argument(plan.columns)
    sources = (qrels, *runs.values(), plan.exclude, plan.documents)
    # To ask a lazy frame for its columns may take long.
    if plan.columns is not None and not any(map(_may_have_columns, sources)):
        raise ValueError("columns= applies to frames and files; got none.")
    lists = {}
    for name, run in runs.items():
        with _naming(name, runs):
            lists[name] = read_lists(
                run,
                "run",
                names["run"],
                plan.ids,
                duplicates=plan.duplicates,
                queries=plan.queries,
            )
    convention = plan.convention or _default_convention(lists)
    bound = bind_metrics(metrics, convention)
    ties_by_id = CONVENTIONS[convention].ties_by_id
    # The convention comes before qrels, since it says what negative labels mean.
    judged = read_lists(
        qrels,
        "qrels",
        names["qrels"],
        plan.ids,
        duplicates=plan.duplicates,
        negative=ties_by_id is not None,
    )
    if plan.missing == "skip":
        _check_same_queries(judged, lists)
    excluded = JoinedLists.empty("exclude")
    if plan.exclude is not None:
        excluded = read_lists(plan.exclude, "exclude", names["exclude"], plan.ids)
        check_excluded_queries(excluded, [*lists.values(), judged])
    reports = {}
    for name in runs:
        # Lists can be as large as everything else, and are not needed twice.
        returned = lists.pop(name)
        read = tuple(one.read for one in (judged, returned, excluded) if one.read is not None)
        with _naming(name, runs):
            findings = find_unmatched_queries(
                judged, returned, plan.missing, is_only=len(runs) == 1
            )
            ranking, others = _rank(judged, returned, excluded, names["documents"], plan)
        findings += others
        del returned
        if ties_by_id == "id":
            ranking = ranking.by_id()
        reports[name] = evaluate_ranking(
            ranking, bound, left_out=tuple(findings), origin=Origin(convention, read)
        )
    return reports


@contextmanager
def _naming(name: str, runs: Mapping[str, Any]) -> Iterator[None]:
    """Errors about one of several runs say which one; those about a file name it already."""
    try:
        yield
    except (TypeError, ValueError) as error:
        message = str(error)
        run = runs[name]
        is_file = isinstance(run, str | PathLike) and str(run) in message
        if len(runs) == 1 or is_file:
            raise
        message = _RUN.sub(f"run {name!r}", message).replace("run[", f"run[{name!r}][")
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(message) from None


# The argument in a message, rather than "a run", a part of a name, or an expression such as run[...].
_RUN = re.compile(r"(?<!a )\brun\b(?=[ :;,]|$)")


def _check_same_queries(judged: JoinedLists, lists: Mapping[str, JoinedLists]) -> None:
    """Without the queries that they lack, runs must have the same ones."""
    wanted = set(judged.queries)
    (first, one), *others = lists.items()
    for name, other in others:
        differing = (set(one.queries) ^ set(other.queries)) & wanted
        if differing:
            query = next(query for query in judged.queries if query in differing)
            raise ValueError(
                f"missing='skip' would leave different queries in {first!r} and {name!r}, such as {query!r}, and only "
                "rankings of the same queries can be compared. Pass missing='zero'."
            )


def _may_have_columns(source: Any) -> bool:
    return has_columns(source) or isinstance(source, str | PathLike)


def _default_convention(lists: Mapping[str, JoinedLists]) -> ConventionName:
    """The convention of trec_eval for runs in the format of TREC."""
    in_trec = {one.in_trec for one in lists.values()}
    if len(in_trec) > 1:
        raise ValueError(
            "Only some of the runs are in the format of TREC, for which the convention is 'trec_eval' by default. Pass "
            "convention='trec_eval' or another one for all."
        )
    # Whoever has files of TREC expects the numbers of its program.
    return "trec_eval" if in_trec == {True} else "sklearn"


def _rank(
    judged: JoinedLists,
    returned: JoinedLists,
    excluded: JoinedLists,
    names: ColumnNames,
    plan: RunPlan,
) -> tuple[Ranking, list[str]]:
    """The ranking of a run, and findings about documents that do not match."""
    if returned.score_type == "float32":
        # Beyond float32, scores are infinite.
        with np.errstate(over="ignore"):
            rounded = returned.values.astype(np.float32).astype(np.float64)
        returned = replace(returned, values=rounded)
    if plan.parents is not None:
        returned = with_parents(returned, plan.parents, plan.duplicates)
    findings = []
    check_types(judged, returned, excluded)
    ids = judged.queries
    if plan.missing == "skip":
        with_list = set(returned.queries)
        ids = [query for query in ids if query in with_list]
    of_qrels, of_exclude = judged.of_queries(ids), excluded.of_queries(ids)
    ranked, labels, others = join_documents(
        of_qrels, returned.of_queries(ids), of_exclude, plan.duplicates
    )
    # The findings cost a look at each document.
    if len(excluded):
        findings += find_exclusions(excluded, judged, returned)
        findings += find_lost(of_exclude, of_qrels, plan.duplicates)
    if (labels[: len(ranked)] < 0).all():
        findings += find_no_hit(judged, returned)
    columns = {}
    if plan.documents is not None:
        # Columns are looked up for documents that were returned or judged, not for a whole catalogue.
        documents = [*ranked.documents.tolist(), *others.documents.tolist()]
        columns = columns_by_id(plan.documents, names, documents)
    # Ranks would tie beyond 2^24.
    in_float32 = not returned.ranked and returned.score_type is None
    ranking = rank_lists(
        ranked,
        labels,
        others,
        columns,
        _described(ids, plan),
        condense=plan.condense,
        in_float32=in_float32,
    )
    return ranking, findings


def _described(ids: list[Any], plan: RunPlan) -> Queries:
    """The queries with their weights, slices and groups."""
    query_ids = to_id_array(ids, "queries")
    weights = None
    if plan.sample_weight is not None:
        given = values_by_id(plan.sample_weight, ids, "sample_weight")
        weights = check_weights(given, len(ids), "query")
    found: dict[str, NDArray[Any]] = {}
    for name, values in (("by", plan.by), ("groups", plan.groups)):
        if values is not None:
            column = values_by_id(values, ids, name)
            found[name] = slice_of_query(column, ids=query_ids, name=name)
    return Queries(query_ids, weights, **found)


# The report of ranked lists and a separate truth, joined by the ids of queries and documents.


class RunOptions(TypedDict, total=False):
    """Options of evaluate_run."""

    convention: ConventionName | None
    sample_weight: ByQueryId | None
    missing: Missing
    exclude: Lists | Iterable[tuple[Any, Any]] | None
    duplicates: Duplicates
    parents: Mapping[Any, Any] | Callable[[Any], Any] | None
    condense: bool
    documents: Columns | None
    by: ByQueryId | None
    groups: ByQueryId | None
    queries: Ids | None
    columns: Mapping[str, Any] | None
    ids: IdType


@overload
def evaluate_run(
    qrels: Lists, run: Runs, metrics: Metrics = ..., **options: Unpack[RunOptions]
) -> Comparison: ...


@overload
def evaluate_run(
    qrels: Lists,
    run: Lists | Sequence[Any],
    metrics: Metrics = ...,
    **options: Unpack[RunOptions],
) -> RankingReport: ...


def evaluate_run(
    qrels: Lists,
    run: Lists | Sequence[Any],
    metrics: Metrics = ("ndcg@10", "map", "mrr"),
    *,
    convention: ConventionName | None = None,
    sample_weight: ByQueryId | None = None,
    missing: Missing = "zero",
    exclude: Lists | Iterable[tuple[Any, Any]] | None = None,
    duplicates: Duplicates = "error",
    parents: Mapping[Any, Any] | Callable[[Any], Any] | None = None,
    condense: bool = False,
    documents: Columns | None = None,
    by: ByQueryId | None = None,
    groups: ByQueryId | None = None,
    queries: Ids | None = None,
    columns: Mapping[str, Any] | None = None,
    ids: IdType = "given",
) -> RankingReport | Comparison:
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
        sparse matrix of scipy, whose rows are the queries 0, 1, ... and whose columns are documents; a file of rows
        (Parquet, CSV, TSV, Arrow), or a folder or pattern of these; a dict in JSON; what trec.read_qrels returns; or a
        TREC file. Ids can be integers, strings, or anything hashable; those in texts are strings.
    run : dict, frame, array, Run, path or open file
        What was returned: ``{query: {document: score}}``; ``{query: ranked list of documents}``; a frame or file with
        scores, or with ranks, which count 1, 2, 3, ... or 0, 1, 2, ... from row to row in each list unless ``columns``
        names them; an array of document ids of shape (n_queries, n_ranks), as searches for nearest neighbours return
        them, in which -1, None, NaN and masked entries are padding; what trec.read_run returns; a TREC file; or one
        with lines of "query document rank". A dict of several runs by name, ``{"bm25": run, "dense": other}``, is
        evaluated and compared.
    metrics : str, metric, sequence or dict of them, default=("ndcg@10", "map", "mrr")
        Metrics to compute, as in evaluate. Names of trec_eval, such as "P_5" and "ndcg_cut_10", are also accepted.
    convention : default=None
        As in evaluate. The default convention is "trec_eval" if the run is in the format of TREC, else "sklearn".
        Ties that are "stable" are in the order of the run, but in the conventions "trec_eval", "ir_measures" and "beir"
        by document id descending. These also compare scores in float32, unless ``trec.read_run`` says otherwise. In
        these and in "ranx", labels below 0 mean that a document was not judged.
    sample_weight : dict or Series, default=None
        Weight of each query, by its id.
    missing : {"zero", "skip", "error"}, default="zero"
        What to do with queries of qrels that have no list in the run: treat their lists as empty, so they count as 0,
        like trec_eval's option -c; leave them out; or raise an error.
    exclude : dict, frame, sparse matrix, path or iterable of tuples, default=None
        Pairs of a query and a document to remove from the run, such as the items that a user has in the training data:
        ``{query: documents}``, a frame or file, or tuples ``(query, document)``. They remain in qrels. With
        ``parents``, name documents, not passages.
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
        usual names are query, qid, query_id, topic, topic_id, user, user_id, customer_id, era; document, document_id,
        docno, docid, item, item_id, passage_id, corpus-id, movie_id, article_id; label, relevance, rel, rating, grade
        (else weight); score, prediction, rank. If a frame has both, scores and ranks
        must agree, unless one of them is named here.

    ids : {"given", "text"}, default="given"
        With "text", all ids are taken as text, so that 7 in Parquet is "7" in a TREC file. The ids in all other
        arguments must be text, too.

    Returns
    -------
    report : RankingReport, or Comparison of several runs
        Report with the queries in the order of qrels.

    Raises
    ------
    TypeError
        If ``qrels``, ``run`` or another argument has the wrong type.
    ValueError
        If a document is twice in a list, a label, score or id is NaN, a rank repeats within a query, qrels and run
        share no query, ids that belong together are of different types (1 and "1"), two columns could be meant, or a
        file is invalid.

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
    plan = RunPlan(
        convention,
        sample_weight,
        missing,
        exclude,
        duplicates,
        parents,
        condense,
        documents,
        by,
        groups,
        queries,
        columns,
        ids,
    )
    runs = runs_by_name(run)
    if runs is None:
        return report_runs(qrels, {"": run}, metrics, plan)[""]
    return compare_reports(report_runs(qrels, runs, metrics, plan))
