"""Read and evaluate files of judgments and runs, in the formats of TREC and trec_eval."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.query_lists import QueryLists
from skrank_metrics._input.arrays import FloatArray, IntArray, Mask, check_bool, check_choice
from skrank_metrics._input.grouping import Grouping, concatenate_ranges
from skrank_metrics.reports.evaluate import bind_metrics
from skrank_metrics.reports.ranking_report import RankingReport, evaluate_lists
from skrank_metrics.sources.ids import match_pairs
from skrank_metrics.sources.trec_lines import QRELS, RUN, TrecLines, read_lines

SCORE_TYPES = ("float32", "float64")


@dataclass(frozen=True, repr=False, eq=False)
class _File:
    """The lines of a file as columns."""

    _lines: TrecLines

    @property
    def qid(self) -> NDArray[np.object_]:
        """Topic of each line."""
        return np.array([topic.decode() for topic in self._lines.topics], dtype=object)[self._lines.codes]

    @property
    def document(self) -> NDArray[np.object_]:
        """Document of each line."""
        return np.array(self._lines.documents.tolist(), dtype=object)

    @property
    def n_topics(self) -> int:
        """Number of topics."""
        return len(self._lines.topics)

    def __len__(self) -> int:
        return len(self._lines.values)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._lines.name}: {self.n_topics} topics, {len(self)} lines>"


class Qrels(_File):
    """Relevance judgments (qrels), in the order of the file.

    Attributes
    ----------
    qid : ndarray of str of shape (n_lines,)
        Topic of each line.
    document : ndarray of str of shape (n_lines,)
        Document of each line.
    label : ndarray of int of shape (n_lines,)
        Label of each line. A negative label means that the document was not judged.
    n_topics : int
        Number of topics.
    """

    @property
    def label(self) -> NDArray[np.int64]:
        """Label of each line."""
        return self._lines.values.astype(np.int64)


class Run(_File):
    """A run, which ranks documents for topics, in the order of the file.

    Attributes
    ----------
    qid : ndarray of str of shape (n_lines,)
        Topic of each line.
    document : ndarray of str of shape (n_lines,)
        Document of each line.
    score : ndarray of float of shape (n_lines,)
        Score of each line.
    n_topics : int
        Number of topics.
    """

    @property
    def score(self) -> FloatArray:
        """Score of each line."""
        return self._lines.values


def read_qrels(path: Any) -> Qrels:
    """Read judgments, lines of "topic iteration document label" as in TREC's qrels.

    Parameters
    ----------
    path : str, path or open file
        The file, in UTF-8, which may be gzipped; "-" is standard input. Fields are separated by spaces or tabs, and
        blank lines are skipped. The iteration is ignored.

    Returns
    -------
    qrels : Qrels
        The columns of the file.

    Raises
    ------
    ValueError
        If a line does not have four fields, a label is not a whole number, or a document occurs twice in a topic. The
        message has the file, the number of the line, and the line.

    Examples
    --------
    >>> import io
    >>> from skrank_metrics.trec import read_qrels
    >>> read_qrels(io.StringIO("301 0 doc-a 1")).label
    array([1])
    """
    return Qrels(read_lines(path, QRELS))


def read_run(path: Any) -> Run:
    """Read a run, lines of "topic Q0 document rank score tag" as in TREC's results.

    Parameters
    ----------
    path : str, path or open file
        The file, in UTF-8, which may be gzipped; "-" is standard input. Fields are separated by spaces or tabs, and
        blank lines are skipped. As in trec_eval, the rank is ignored: scores order the documents.

    Returns
    -------
    run : Run
        The columns of the file.

    Raises
    ------
    ValueError
        If a line does not have six fields, a score is not a number, or a document occurs twice in a topic. The message
        has the file, the number of the line, and the line.

    Examples
    --------
    >>> import io
    >>> from skrank_metrics.trec import read_run
    >>> read_run(io.StringIO("301 Q0 doc-a 1 7.5 mine")).score
    array([7.5])
    """
    return Run(read_lines(path, RUN))


def evaluate_run(
    qrels: Any,
    run: Any,
    metrics: Any = ("ndcg@10", "map", "mrr"),
    *,
    complete: bool = False,
    score_type: str = "float32",
    convention: str = "trec_eval",
    ties: str | None = None,
    replace_undefined_by: float | None = None,
) -> RankingReport:
    r"""Evaluate a run against judgments as trec_eval does.

    Documents are ordered by score, and those with equal scores by id, descending as bytes. Retrieved documents without
    a judgment or with a negative label are not relevant, and bpref ignores them. Judged documents that were not
    retrieved count in the number of relevant documents and in the ideal order. Topics that are only in the run are
    ignored. ``health`` of the report says how many topics were left out.

    Parameters
    ----------
    qrels : Qrels, str, path or open file
        Judgments, or a file for read_qrels.
    run : Run, str, path or open file
        Ranked documents, or a file for read_run.
    metrics : sequence of str, metric functions or bound metrics, default=("ndcg@10", "map", "mrr")
        Metrics to compute, as in evaluate. trec_eval's names, such as "P_5" and "ndcg_cut_10", are also accepted.
    complete : bool, default=False
        Whether topics that are only in the judgments count as 0, as with trec_eval's option -c. If False, they are left
        out.
    score_type : {"float32", "float64"}, default="float32"
        Precision in which scores are compared. In float32, scores that agree to about seven digits are tied, as in
        trec_eval 9 and pytrec_eval. trec_eval 10 compares in float64.
    convention : str, default="trec_eval"
        Library whose defaults apply to parameters that the names do not set, as in evaluate.
    ties : {"average", "best", "worst", "stable"}, default=None
        How documents with equal scores are ordered; "stable" means by id, descending. If None, the convention decides.
    replace_undefined_by : float, default=None
        Value of topics without relevant documents, as in evaluate.

    Returns
    -------
    report : RankingReport
        Report with the topics in the order of the run, followed by those that are only in the judgments.

    Raises
    ------
    TypeError
        If ``qrels`` or ``run`` is not a file. For labels and scores in memory, use evaluate with ``qid``, ``retrieved``
        and ``judged``, and ``convention="trec_eval"``.
    ValueError
        If a file is invalid, the files have no topic in common, or a metric is unknown.

    Examples
    --------
    Two documents have the same score, so "doc-b" comes before "doc-a". The relevant documents are "doc-a", with a
    precision of 1/2, and "doc-c", which was not retrieved and counts as 0, so average precision is 1/4:

    >>> import io
    >>> from skrank_metrics.trec import evaluate_run
    >>> qrels = io.StringIO("301 0 doc-a 1\n301 0 doc-c 1")
    >>> run = io.StringIO("301 Q0 doc-a 1 7.5 mine\n301 Q0 doc-b 2 7.5 mine")
    >>> evaluate_run(qrels, run, ["map", "recip_rank"]).mean
    {'map': 0.25, 'recip_rank': 0.5}
    """
    shared = {"ties": ties, "replace_undefined_by": replace_undefined_by}
    bound = bind_metrics(metrics, convention, **{name: value for name, value in shared.items() if value is not None})
    check_bool(complete, "complete")
    check_choice(score_type, "score_type", SCORE_TYPES)
    judgments = qrels if isinstance(qrels, Qrels) else Qrels(read_lines(qrels, QRELS, "qrels"))
    ranking = run if isinstance(run, Run) else Run(read_lines(run, RUN, "run"))
    lists = _query_lists(judgments._lines, ranking._lines, complete, np.dtype(score_type))
    left_out = tuple(_left_out(judgments._lines, ranking._lines, complete))
    return evaluate_lists(lists, bound, left_out=left_out)


def _left_out(qrels: TrecLines, run: TrecLines, complete: bool) -> Iterator[str]:
    """Findings about topics that are only in the judgments or only in the run; the words before a colon are a kind."""
    judged, ranked = set(qrels.topics), set(run.topics)
    unranked, unjudged = len(judged - ranked), len(ranked - judged)
    if unranked and not complete:
        yield f"Topics without a ranking: {unranked}, left out; complete=True counts them as 0."
    if unjudged:
        yield f"Topics without judgments: {unjudged}, ignored."


def _query_lists(qrels: TrecLines, run: TrecLines, complete: bool, score_type: np.dtype[Any]) -> QueryLists:
    """Documents of each topic: first the retrieved ones in order, then those that were only judged."""
    judged = set(qrels.topics)
    in_both = [topic for topic in run.topics if topic in judged]
    if not in_both:
        raise ValueError(
            f"{run.name} must have a topic of {qrels.name}; got topics such as {run.topics[0].decode()!r} and "
            f"{qrels.topics[0].decode()!r}."
        )
    topics = list(dict.fromkeys([*in_both, *qrels.topics])) if complete else in_both
    run, qrels = _of_topics(run, topics), _of_topics(qrels, topics)
    rows, places = match_pairs((run.codes, run.documents), (qrels.codes, qrels.documents))
    labels = np.full(len(run.values), -1.0)
    labels[rows] = qrels.values[places]
    only_judged = qrels.values >= 0
    only_judged[places] = False
    left = np.concatenate((np.flatnonzero(only_judged), _of_empty(run, qrels, only_judged)))
    left = left[np.argsort(qrels.codes[left], kind="stable")]
    with np.errstate(over="ignore"):  # beyond float32, scores are infinite
        scores = run.values.astype(score_type)
    order = _order(run, scores)
    codes, scores = run.codes, scores.astype(np.float64)
    if order is not None:
        codes, labels, scores = codes[order], labels[order], scores[order]
    ids = np.array([topic.decode() for topic in topics])
    return _join(ids, codes, labels, scores, qrels.codes[left], qrels.values[left])


def _of_empty(run: TrecLines, qrels: TrecLines, only_judged: Mask) -> IntArray:
    """The first judgment of each topic without documents, only negative labels: trec_eval -c counts these as 0."""
    topics, first = np.unique(qrels.codes, return_index=True)
    return first[~np.isin(topics, np.concatenate((run.codes, qrels.codes[only_judged])))]


def _of_topics(lines: TrecLines, topics: list[bytes]) -> TrecLines:
    """The lines of some topics, which are renumbered."""
    number = {topic: place for place, topic in enumerate(topics)}
    codes = np.array([number.get(topic, -1) for topic in lines.topics])[lines.codes]
    numbered = replace(lines, topics=tuple(topics), codes=codes)
    rows = np.flatnonzero(codes >= 0)
    return replace(numbered, codes=codes[rows], documents=lines.documents.take(rows), values=lines.values[rows])


def _order(run: TrecLines, scores: NDArray[np.floating[Any]]) -> IntArray | None:
    """Order of lines by topic, score descending, and id descending; None if they are in this order."""
    codes, order = run.codes, None
    same_topic = codes[1:] == codes[:-1]
    if ((codes[1:] < codes[:-1]) | (same_topic & (scores[1:] > scores[:-1]))).any():
        order = np.lexsort((-scores, codes))
        codes, scores = codes[order], scores[order]
        same_topic = codes[1:] == codes[:-1]
    same = same_topic & (scores[1:] == scores[:-1])
    if not same.any():
        return order
    order = np.arange(len(scores)) if order is None else order
    tied = np.flatnonzero(np.concatenate((same, [False])) | np.concatenate(([False], same)))
    groups = np.cumsum(np.concatenate(([True], ~same)))[tied]
    order[tied] = order[tied][run.documents.take(order[tied]).order_within(groups)]
    return order


def _join(
    ids: NDArray[Any], ranked: IntArray, labels: FloatArray, scores: FloatArray, judged: IntArray, others: FloatArray
) -> QueryLists:
    """Join the ranked documents of each topic and those that were only judged, both given by topic."""
    sizes = np.bincount(ranked, minlength=len(ids)), np.bincount(judged, minlength=len(ids))
    n_documents = sizes[0] + sizes[1]
    starts = np.cumsum(n_documents) - n_documents
    places = concatenate_ranges(starts, sizes[0])
    retrieved = np.zeros(int(n_documents.sum()), dtype=bool)
    retrieved[places] = True
    all_labels, all_scores = np.empty(len(retrieved)), np.zeros(len(retrieved))
    all_labels[places], all_labels[~retrieved], all_scores[places] = labels, others, scores
    known: Mask = all_labels >= 0
    return QueryLists(
        Grouping(ids, n_documents, None),
        np.maximum(all_labels, 0),
        all_scores,
        None,
        None if retrieved.all() else retrieved,
        judged=None if known.all() else known,
    )
