"""Read and evaluate files of judgments and runs, in the formats of TREC and trec_eval."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import FloatArray
from skrank_metrics._input.parameters import check_choice
from skrank_metrics.sources._evaluate_run import SCORE_TYPES, evaluate_run
from skrank_metrics.sources.lists import JoinedLists
from skrank_metrics.sources.trec_lines import read_lines

__all__ = ["Qrels", "Run", "evaluate_run", "read_qrels", "read_run"]


@dataclass(frozen=True, repr=False, eq=False)
class _File:
    """The lines of a file as columns."""

    lists: JoinedLists
    _name: str

    @property
    def n_topics(self) -> int:
        """Number of topics."""
        return len(self.lists.queries)

    @property
    def qid(self) -> NDArray[np.object_]:
        """Topic of each line, a string."""
        return np.array(self.lists.queries, dtype=object)[self.lists.codes]

    @property
    def document(self) -> NDArray[np.object_]:
        """Document of each line, a string."""
        return np.array(self.lists.documents.tolist(), dtype=object)

    def __len__(self) -> int:
        return len(self.lists.values)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._name}: {self.n_topics} topics, {len(self)} lines>"


class Qrels(_File):
    """Relevance judgments (qrels) by topic: ``qid``, ``document``, ``label`` and ``n_topics``."""

    @property
    def label(self) -> NDArray[np.int64]:
        """Label of each line; a negative one means that the document was not judged."""
        return self.lists.values.astype(np.int64)


class Run(_File):
    """Ranked documents by topic: ``qid``, ``document``, ``score`` and ``n_topics``."""

    @property
    def score(self) -> FloatArray:
        """Score of each line."""
        return self.lists.values


def read_qrels(path: Any) -> Qrels:
    """Read judgments, lines of "topic iteration document label" as in TREC's qrels.

    Parameters
    ----------
    path : str, path or open file
        The file, in UTF-8, which may be gzipped; "-" is standard input. Fields are separated by spaces or tabs, and
        blank lines and comments, which begin with "#", are skipped. The iteration is ignored.

    Returns
    -------
    qrels : Qrels
        The columns of the file.

    Raises
    ------
    ValueError
        If a line, which the message shows, does not have four fields or a label that is a whole number, or a document
        occurs twice in a topic.

    Examples
    --------
    >>> import io
    >>> from skrank_metrics.trec import read_qrels
    >>> read_qrels(io.StringIO("301 0 doc-a 1")).label
    array([1])
    """
    return Qrels(*read_lines(path, "qrels"))


def read_run(path: Any, *, score_type: Literal["float32", "float64"] | None = None) -> Run:
    """Read a run, lines of "topic Q0 document rank score tag" as in TREC's results.

    Parameters
    ----------
    path : str, path or open file
        The file, as in read_qrels. As in trec_eval, the rank is ignored, since scores order the documents, and so is
        anything after the tag.
    score_type : {"float32", "float64"}, default=None
        Precision in which ``evaluate_run`` compares scores. In float32, scores that agree to about seven digits are
        tied, as in trec_eval 9 and pytrec_eval; trec_eval 10 compares in float64. None means float32 in the convention
        "trec_eval", else float64.

    Returns
    -------
    run : Run
        The columns of the file.

    Raises
    ------
    ValueError
        As in read_qrels, if a line has fewer than six fields or a score is not a number.

    Examples
    --------
    >>> import io
    >>> from skrank_metrics.trec import read_run
    >>> read_run(io.StringIO("301 Q0 doc-a 1 7.5 mine")).score
    array([7.5])
    """
    if score_type is not None:
        check_choice(score_type, "score_type", SCORE_TYPES)
    lists, name = read_lines(path, "run")
    return Run(replace(lists, score_type=score_type), name)
