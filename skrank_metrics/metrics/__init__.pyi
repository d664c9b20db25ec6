"""Signatures of the metric functions. Written by docs/generate.py; do not edit."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

_FloatArray: TypeAlias = NDArray[np.float64]
_Ids: TypeAlias = ArrayLike | Sequence[Hashable]
_Ties: TypeAlias = Literal["average", "best", "worst", "stable"]
_Gain: TypeAlias = Literal["linear", "exp2"] | Callable[[_FloatArray], ArrayLike] | Sequence[float] | NDArray[Any]
_Discount: TypeAlias = Literal["log2", "reciprocal"] | Callable[[_FloatArray], ArrayLike]

__all__ = [
    "auc_score",
    "bpref_score",
    "cg_score",
    "dcg_score",
    "err_score",
    "f1_at_k_score",
    "hit_rate_score",
    "kendall_tau_distance",
    "kendall_tau_score",
    "map_score",
    "mrr_score",
    "ndcg_score",
    "nerr_score",
    "pairwise_accuracy_score",
    "pfound_score",
    "precision_at_k_score",
    "q_measure_score",
    "r_precision_score",
    "rbp_score",
    "recall_at_k_score",
    "spearman_score",
]

@overload
def auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "micro"] = "macro",
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> float:
    """Area under the ROC curve of each query: the share of pairs, relevant and not, with the relevant one above.

    Its mean over queries is known as group AUC (GAUC). Undefined for a query with documents of one class only.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, largest first. May be infinite, but not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with
        an index level named 'qid', see with_qid.
    ties : {"average", "best", "worst", "stable"}, default="average"
        Order of documents with equal scores: the expectation over all their orders, the best label first, the
        worst first, or the order of rows.
    replace_undefined_by : float, default=0.0
        Value of a query for which the metric is undefined. NaN leaves such queries out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights, finite and >= 0, which must not vary within a query.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio pooled over documents, or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked: they count in R and in the ideal order, never in the
        ranking, and their scores are ignored. None means that all were ranked.
    relevance_threshold : float or None, default=None
        A document is relevant if its label is at least this; None means if it is above 0.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If a 1-D y_true comes without query ids, or an argument is of the wrong type.
    ValueError
        If labels are NaN, infinite or negative, scores are NaN, an id is missing, lengths differ, weights vary
        within a query, or an option has an unknown value.

    References
    ----------
    J. A. Hanley, B. J. McNeil (1982). The meaning and use of the area under a receiver operating characteristic (ROC) curve. Radiology 143(1).
    https://doi.org/10.1148/radiology.143.1.7063747

    Examples
    --------
    The relevant document is above one of the two others:

    >>> from skrank_metrics import auc_score
    >>> auc_score([[0, 1, 0]], [[3, 2, 1]])
    0.5
    """

@overload
def auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def bpref_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> float:
    """Binary preference: 1 - (documents above that are not relevant) / min(R, N), averaged over the relevant documents.

    N is the number of documents that are not relevant, and R of them at most count, as in trec_eval. Only judged
    documents may be passed: leave out the others rather than label them 0. Undefined for a query with no relevant document.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, largest first. May be infinite, but not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with
        an index level named 'qid', see with_qid.
    ties : {"average", "best", "worst", "stable"}, default="average"
        Order of documents with equal scores: the expectation over all their orders, the best label first, the
        worst first, or the order of rows.
    replace_undefined_by : float, default=0.0
        Value of a query for which the metric is undefined. NaN leaves such queries out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights, finite and >= 0, which must not vary within a query.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio pooled over documents, or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked: they count in R and in the ideal order, never in the
        ranking, and their scores are ignored. None means that all were ranked.
    relevance_threshold : float or None, default=None
        A document is relevant if its label is at least this; None means if it is above 0.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If a 1-D y_true comes without query ids, or an argument is of the wrong type.
    ValueError
        If labels are NaN, infinite or negative, scores are NaN, an id is missing, lengths differ, weights vary
        within a query, or an option has an unknown value.

    References
    ----------
    C. Buckley, E. M. Voorhees (2004). Retrieval evaluation with incomplete information. SIGIR 2004.
    https://doi.org/10.1145/1008992.1009000

    Examples
    --------
    Relevant at ranks 1 and 3, below 0 and 1 others; R = 2 and N = 2: (1 + (1 - 1/2)) / 2.

    >>> from skrank_metrics import bpref_score
    >>> bpref_score([[1, 0, 1, 0]], [[4, 3, 2, 1]])
    0.75
    """

@overload
def bpref_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def cg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
) -> float:
    """Cumulative gain: the sum of the labels of the first k documents.

    Over the whole list it does not depend on the order.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, largest first. May be infinite, but not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with
        an index level named 'qid', see with_qid.
    k : int or None, default=None
        Cutoff rank: only the first k documents of each ranking count. None means all.
    ties : {"average", "best", "worst", "stable"}, default="average"
        Order of documents with equal scores: the expectation over all their orders, the best label first, the
        worst first, or the order of rows.
    replace_undefined_by : float, default=0.0
        Value of a query for which the metric is undefined. NaN leaves such queries out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights, finite and >= 0, which must not vary within a query.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio pooled over documents, or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked: they count in R and in the ideal order, never in the
        ranking, and their scores are ignored. None means that all were ranked.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, ∞). An array if average=None.

    Raises
    ------
    TypeError
        If a 1-D y_true comes without query ids, or an argument is of the wrong type.
    ValueError
        If labels are NaN, infinite or negative, scores are NaN, an id is missing, lengths differ, weights vary
        within a query, or an option has an unknown value.

    References
    ----------
    K. Järvelin, J. Kekäläinen (2002). Cumulated gain-based evaluation of IR techniques. ACM TOIS 20(4).
    https://doi.org/10.1145/582415.582418

    Examples
    --------
    The first three labels in ranked order are 3, 2 and 3:

    >>> from skrank_metrics import cg_score
    >>> cg_score([[3, 2, 3, 0, 1, 2]], [[6, 5, 4, 3, 2, 1]], k=3)
    8.0
    """

@overload
def cg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
) -> _FloatArray: ...
@overload
def dcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
    gain: _Gain = "linear",
    discount: _Discount = "log2",
) -> float:
    """Discounted cumulative gain: the sum over ranks of gain / discount.

    With the defaults, the number of scikit-learn's function of this name; with ``gain="exp2"``, the variant of the
    boosters. On labels 0 and 1 both are the same.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, largest first. May be infinite, but not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with
        an index level named 'qid', see with_qid.
    k : int or None, default=None
        Cutoff rank: only the first k documents of each ranking count. None means all.
    ties : {"average", "best", "worst", "stable"}, default="average"
        Order of documents with equal scores: the expectation over all their orders, the best label first, the
        worst first, or the order of rows.
    replace_undefined_by : float, default=0.0
        Value of a query for which the metric is undefined. NaN leaves such queries out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights, finite and >= 0, which must not vary within a query.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio pooled over documents, or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked: they count in R and in the ideal order, never in the
        ranking, and their scores are ignored. None means that all were ranked.
    gain : "linear", "exp2", callable or sequence of float, default="linear"
        Gain of a label: the label itself, 2^label - 1, a function of an array of labels, or the gains of the
        grades 0, 1, 2, ...
    discount : "log2", "reciprocal" or callable, default="log2"
        What the gain at a rank is divided by: log2(rank + 1), the rank, or a function of an array of ranks.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, ∞). An array if average=None.

    Raises
    ------
    TypeError
        If a 1-D y_true comes without query ids, or an argument is of the wrong type.
    ValueError
        If labels are NaN, infinite or negative, scores are NaN, an id is missing, lengths differ, weights vary
        within a query, or an option has an unknown value.

    References
    ----------
    K. Järvelin, J. Kekäläinen (2002). Cumulated gain-based evaluation of IR techniques. ACM TOIS 20(4).
    https://doi.org/10.1145/582415.582418

    Examples
    --------
    Gains 3 and 7 at ranks 1 and 3, where the discounts are log2(2) = 1 and log2(4) = 2: 3/1 + 7/2.

    >>> from skrank_metrics import dcg_score
    >>> dcg_score([[2, 0, 3]], [[0.9, 0.5, 0.1]], gain="exp2")
    6.5
    """

@overload
def dcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    gain: _Gain = "linear",
    discount: _Discount = "log2",
) -> _FloatArray: ...
@overload
def err_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
    p: float = 1.0,
    gain: Literal["binary", "linear", "exp2"] = "exp2",
    max_grade: float = 4,
    relevance_threshold: float | None = None,
) -> float:
    """Expected reciprocal rank: 1 / rank at which the reader is satisfied, on average; 0 where that never happens.

    The reader is satisfied by a document with the probability that ``gain`` gives, and else goes on with probability p.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, largest first. May be infinite, but not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with
        an index level named 'qid', see with_qid.
    k : int or None, default=None
        Cutoff rank: only the first k documents of each ranking count. None means all.
    ties : {"average", "best", "worst", "stable"}, default="average"
        Order of documents with equal scores: the expectation over all their orders, the best label first, the
        worst first, or the order of rows.
    replace_undefined_by : float, default=0.0
        Value of a query for which the metric is undefined. NaN leaves such queries out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights, finite and >= 0, which must not vary within a query.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio pooled over documents, or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked: they count in R and in the ideal order, never in the
        ranking, and their scores are ignored. None means that all were ranked.
    p : float in (0, 1], default=1.0
        Probability that a reader who is not satisfied goes on to the next rank.
    gain : {"binary", "linear", "exp2"}, default="exp2"
        Probability that a document satisfies its reader: 1 if relevant, else 0; the label itself, which must lie
        in [0, 1]; or (2^label - 1) / 2^max_grade.
    max_grade : float in (0, 1000], default=4
        Largest grade there can be. Only for gain="exp2".
    relevance_threshold : float or None, default=None
        A document is relevant if its label is at least this; None means if it is above 0.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If a 1-D y_true comes without query ids, or an argument is of the wrong type.
    ValueError
        If labels are NaN, infinite or negative, scores are NaN, an id is missing, lengths differ, weights vary
        within a query, or an option has an unknown value.

    References
    ----------
    O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan (2009). Expected reciprocal rank for graded relevance. CIKM 2009.
    https://doi.org/10.1145/1645953.1646033

    Examples
    --------
    Satisfied at rank 1 with probability 15/16, else at rank 2 with 3/16: 15/16 + 1/2 * 1/16 * 3/16.

    >>> from skrank_metrics import err_score
    >>> err_score([[4, 2, 0]], [[3, 2, 1]])
    0.943359375
    """

@overload
def err_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    p: float = 1.0,
    gain: Literal["binary", "linear", "exp2"] = "exp2",
    max_grade: float = 4,
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def f1_at_k_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "micro"] = "macro",
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> float:
    """F1 at k: the harmonic mean of precision and recall at k, 2 hits / (k + R). Undefined for a query with no relevant document.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, largest first. May be infinite, but not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with
        an index level named 'qid', see with_qid.
    k : int or None, default=None
        Cutoff rank: only the first k documents of each ranking count. None means all.
    ties : {"average", "best", "worst", "stable"}, default="average"
        Order of documents with equal scores: the expectation over all their orders, the best label first, the
        worst first, or the order of rows.
    replace_undefined_by : float, default=0.0
        Value of a query for which the metric is undefined. NaN leaves such queries out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights, finite and >= 0, which must not vary within a query.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio pooled over documents, or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked: they count in R and in the ideal order, never in the
        ranking, and their scores are ignored. None means that all were ranked.
    relevance_threshold : float or None, default=None
        A document is relevant if its label is at least this; None means if it is above 0.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If a 1-D y_true comes without query ids, or an argument is of the wrong type.
    ValueError
        If labels are NaN, infinite or negative, scores are NaN, an id is missing, lengths differ, weights vary
        within a query, or an option has an unknown value.

    References
    ----------
    C. J. van Rijsbergen (1974). Foundation of evaluation. Journal of Documentation 30(4).
    https://doi.org/10.1108/eb026584

    Examples
    --------
    Three of the first five documents are relevant, of four in all: 2 * 3 / (5 + 4).

    >>> from skrank_metrics import f1_at_k_score
    >>> round(f1_at_k_score([[1, 0, 1, 1, 0, 1, 0]], [[7, 6, 5, 4, 3, 2, 1]], k=5), 4)
    0.6667
    """

@overload
def f1_at_k_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def hit_rate_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> float:
    """Hit rate: 1 where any of the first k documents is relevant, else 0; its mean is the share of queries with a hit.

    This is the hit rate at user level. The one at item level, hits / recommended items, is the precision with
    ``average="micro"``. Undefined for a query with no relevant document.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, largest first. May be infinite, but not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with
        an index level named 'qid', see with_qid.
    k : int or None, default=None
        Cutoff rank: only the first k documents of each ranking count. None means all.
    ties : {"average", "best", "worst", "stable"}, default="average"
        Order of documents with equal scores: the expectation over all their orders, the best label first, the
        worst first, or the order of rows.
    replace_undefined_by : float, default=0.0
        Value of a query for which the metric is undefined. NaN leaves such queries out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights, finite and >= 0, which must not vary within a query.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio pooled over documents, or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked: they count in R and in the ideal order, never in the
        ranking, and their scores are ignored. None means that all were ranked.
    relevance_threshold : float or None, default=None
        A document is relevant if its label is at least this; None means if it is above 0.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If a 1-D y_true comes without query ids, or an argument is of the wrong type.
    ValueError
        If labels are NaN, infinite or negative, scores are NaN, an id is missing, lengths differ, weights vary
        within a query, or an option has an unknown value.

    References
    ----------
    C. D. Manning, P. Raghavan, H. Schütze (2008). Introduction to Information Retrieval, chapter 8.
    https://doi.org/10.1017/CBO9780511809071

    Examples
    --------
    The first user finds a relevant item among the first two, the second one does not:

    >>> from skrank_metrics import hit_rate_score
    >>> hit_rate_score([[0, 1, 0], [0, 0, 1]], [[3, 2, 1], [3, 2, 1]], k=2)
    0.5
    """

@overload
def hit_rate_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def kendall_tau_distance(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "micro"] = "macro",
    retrieved: ArrayLike | None = None,
    normalize: bool = False,
) -> float:
    """Kendall tau distance: the number of pairs of documents of which the less relevant one is ranked above.

    Pairs with tied scores count 1/2. Smaller is better; the name in strings and scorers is that of the negative. With
    ``normalize=True`` it is the share of the pairs with different labels, undefined where there are none.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, largest first. May be infinite, but not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with
        an index level named 'qid', see with_qid.
    ties : {"average", "best", "worst", "stable"}, default="average"
        Order of documents with equal scores: the expectation over all their orders, the best label first, the
        worst first, or the order of rows.
    replace_undefined_by : float, default=0.0
        Value of a query for which the metric is undefined. NaN leaves such queries out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights, finite and >= 0, which must not vary within a query.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio pooled over documents, or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked: they count in R and in the ideal order, never in the
        ranking, and their scores are ignored. None means that all were ranked.
    normalize : bool, default=False
        Whether to divide by the number of pairs of documents with different labels.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, ∞). An array if average=None.

    Raises
    ------
    TypeError
        If a 1-D y_true comes without query ids, or an argument is of the wrong type.
    ValueError
        If labels are NaN, infinite or negative, scores are NaN, an id is missing, lengths differ, weights vary
        within a query, or an option has an unknown value.

    References
    ----------
    M. G. Kendall (1938). A new measure of rank correlation. Biometrika 30.
    https://doi.org/10.1093/biomet/30.1-2.81

    Examples
    --------
    Of the three pairs, 0 above 1 and 0 above 2 are inverted:

    >>> from skrank_metrics import kendall_tau_distance
    >>> kendall_tau_distance([[0, 2, 1]], [[3, 2, 1]])
    2.0
    """

@overload
def kendall_tau_distance(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    normalize: bool = False,
) -> _FloatArray: ...
@overload
def kendall_tau_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
) -> float:
    """Kendall tau-b: concordant less discordant pairs, over the geometric mean of all pairs and those of other labels.

    Documents with equal labels are tied, which tau-b corrects for. Documents with equal scores are not tied in any
    ranking that could be shown: the value is the expectation over their orders, so that a constant score has 0. Where
    no scores tie, it equals scipy.stats.kendalltau. Undefined for a query with no two documents of different labels.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, largest first. May be infinite, but not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with
        an index level named 'qid', see with_qid.
    ties : {"average", "best", "worst", "stable"}, default="average"
        Order of documents with equal scores: the expectation over all their orders, the best label first, the
        worst first, or the order of rows.
    replace_undefined_by : float, default=0.0
        Value of a query for which the metric is undefined. NaN leaves such queries out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights, finite and >= 0, which must not vary within a query.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio pooled over documents, or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked: they count in R and in the ideal order, never in the
        ranking, and their scores are ignored. None means that all were ranked.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [-1, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If a 1-D y_true comes without query ids, or an argument is of the wrong type.
    ValueError
        If labels are NaN, infinite or negative, scores are NaN, an id is missing, lengths differ, weights vary
        within a query, or an option has an unknown value.

    References
    ----------
    M. G. Kendall (1945). The treatment of ties in ranking problems. Biometrika 33(3).
    https://doi.org/10.1093/biomet/33.3.239

    Examples
    --------
    One pair in order, two inverted: (1 - 2) / sqrt(3 * 3).

    >>> from skrank_metrics import kendall_tau_score
    >>> round(kendall_tau_score([[0, 2, 1]], [[3, 2, 1]]), 4)
    -0.3333
    """

@overload
def kendall_tau_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
) -> _FloatArray: ...
@overload
def map_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
    normalizer: Literal["min", "relevant", "hits"] = "min",
    relevance_threshold: float | None = None,
) -> float:
    """Mean average precision: precision at the ranks of the relevant documents, averaged over these documents. Undefined for a query with no relevant document.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, largest first. May be infinite, but not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with
        an index level named 'qid', see with_qid.
    k : int or None, default=None
        Cutoff rank: only the first k documents of each ranking count. None means all.
    ties : {"average", "best", "worst", "stable"}, default="average"
        Order of documents with equal scores: the expectation over all their orders, the best label first, the
        worst first, or the order of rows.
    replace_undefined_by : float, default=0.0
        Value of a query for which the metric is undefined. NaN leaves such queries out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights, finite and >= 0, which must not vary within a query.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio pooled over documents, or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked: they count in R and in the ideal order, never in the
        ranking, and their scores are ignored. None means that all were ranked.
    normalizer : {"min", "relevant", "hits"}, default="min"
        What the sum of precisions is divided by: min(k, R), so that a perfect ranking has 1 at any k; R, as
        trec_eval has it; or the number of relevant documents found in the top k.
    relevance_threshold : float or None, default=None
        A document is relevant if its label is at least this; None means if it is above 0.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If a 1-D y_true comes without query ids, or an argument is of the wrong type.
    ValueError
        If labels are NaN, infinite or negative, scores are NaN, an id is missing, lengths differ, weights vary
        within a query, or an option has an unknown value.

    References
    ----------
    C. Buckley, E. M. Voorhees (2000). Evaluating evaluation measure stability. SIGIR 2000.
    https://doi.org/10.1145/345508.345543

    Examples
    --------
    Relevant at ranks 2, 4 and 5: (1/2 + 2/4 + 3/5) / 3.

    >>> from skrank_metrics import map_score
    >>> round(map_score([[0, 1, 0, 1, 1]], [[5, 4, 3, 2, 1]]), 4)
    0.5333
    """

@overload
def map_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    normalizer: Literal["min", "relevant", "hits"] = "min",
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def mrr_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> float:
    """Mean reciprocal rank: 1 / rank of the first relevant document, 0 where it is not among the first k. Undefined for a query with no relevant document.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, largest first. May be infinite, but not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with
        an index level named 'qid', see with_qid.
    k : int or None, default=None
        Cutoff rank: only the first k documents of each ranking count. None means all.
    ties : {"average", "best", "worst", "stable"}, default="average"
        Order of documents with equal scores: the expectation over all their orders, the best label first, the
        worst first, or the order of rows.
    replace_undefined_by : float, default=0.0
        Value of a query for which the metric is undefined. NaN leaves such queries out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights, finite and >= 0, which must not vary within a query.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio pooled over documents, or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked: they count in R and in the ideal order, never in the
        ranking, and their scores are ignored. None means that all were ranked.
    relevance_threshold : float or None, default=None
        A document is relevant if its label is at least this; None means if it is above 0.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If a 1-D y_true comes without query ids, or an argument is of the wrong type.
    ValueError
        If labels are NaN, infinite or negative, scores are NaN, an id is missing, lengths differ, weights vary
        within a query, or an option has an unknown value.

    References
    ----------
    N. Craswell (2009). Mean reciprocal rank. Encyclopedia of Database Systems.
    https://doi.org/10.1007/978-0-387-39940-9_488

    Examples
    --------
    Relevant at rank 2, at rank 1 and nowhere: (1/2 + 1 + 0) / 3.

    >>> from skrank_metrics import mrr_score
    >>> mrr_score([[0, 1, 0], [1, 0, 0], [0, 0, 0]], [[3, 2, 1], [3, 2, 1], [3, 2, 1]])
    0.5
    """

@overload
def mrr_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def ndcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
    gain: _Gain = "linear",
    discount: _Discount = "log2",
) -> float:
    """Normalised discounted cumulative gain: DCG / DCG of the ideal order.

    With the defaults, the number of scikit-learn's function of this name, query by query; with ``gain="exp2"``, the
    variant of the boosters. Undefined for a query with no relevant document.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, largest first. May be infinite, but not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with
        an index level named 'qid', see with_qid.
    k : int or None, default=None
        Cutoff rank: only the first k documents of each ranking count. None means all.
    ties : {"average", "best", "worst", "stable"}, default="average"
        Order of documents with equal scores: the expectation over all their orders, the best label first, the
        worst first, or the order of rows.
    replace_undefined_by : float, default=0.0
        Value of a query for which the metric is undefined. NaN leaves such queries out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights, finite and >= 0, which must not vary within a query.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio pooled over documents, or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked: they count in R and in the ideal order, never in the
        ranking, and their scores are ignored. None means that all were ranked.
    gain : "linear", "exp2", callable or sequence of float, default="linear"
        Gain of a label: the label itself, 2^label - 1, a function of an array of labels, or the gains of the
        grades 0, 1, 2, ...
    discount : "log2", "reciprocal" or callable, default="log2"
        What the gain at a rank is divided by: log2(rank + 1), the rank, or a function of an array of ranks.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If a 1-D y_true comes without query ids, or an argument is of the wrong type.
    ValueError
        If labels are NaN, infinite or negative, scores are NaN, an id is missing, lengths differ, weights vary
        within a query, or an option has an unknown value.

    References
    ----------
    K. Järvelin, J. Kekäläinen (2002). Cumulated gain-based evaluation of IR techniques. ACM TOIS 20(4).
    https://doi.org/10.1145/582415.582418

    Examples
    --------
    Query "a" is in ideal order. In query "b" the only relevant document is at rank 3, where the discount is
    log2(4) = 2, so that its NDCG is 1/2:

    >>> from skrank_metrics import ndcg_score
    >>> qid = ["a", "b", "a", "b", "b"]
    >>> ndcg_score([2, 0, 1, 0, 1], [0.9, 0.8, 0.1, 0.4, 0.2], qid=qid, average=None)
    array([1. , 0.5])
    """

@overload
def ndcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    gain: _Gain = "linear",
    discount: _Discount = "log2",
) -> _FloatArray: ...
@overload
def nerr_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
    p: float = 1.0,
    gain: Literal["binary", "linear", "exp2"] = "exp2",
    max_grade: float = 4,
    relevance_threshold: float | None = None,
) -> float:
    """Normalised expected reciprocal rank: ERR / ERR of the ideal order. Undefined for a query with no relevant document.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, largest first. May be infinite, but not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with
        an index level named 'qid', see with_qid.
    k : int or None, default=None
        Cutoff rank: only the first k documents of each ranking count. None means all.
    ties : {"average", "best", "worst", "stable"}, default="average"
        Order of documents with equal scores: the expectation over all their orders, the best label first, the
        worst first, or the order of rows.
    replace_undefined_by : float, default=0.0
        Value of a query for which the metric is undefined. NaN leaves such queries out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights, finite and >= 0, which must not vary within a query.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio pooled over documents, or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked: they count in R and in the ideal order, never in the
        ranking, and their scores are ignored. None means that all were ranked.
    p : float in (0, 1], default=1.0
        Probability that a reader who is not satisfied goes on to the next rank.
    gain : {"binary", "linear", "exp2"}, default="exp2"
        Probability that a document satisfies its reader: 1 if relevant, else 0; the label itself, which must lie
        in [0, 1]; or (2^label - 1) / 2^max_grade.
    max_grade : float in (0, 1000], default=4
        Largest grade there can be. Only for gain="exp2".
    relevance_threshold : float or None, default=None
        A document is relevant if its label is at least this; None means if it is above 0.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If a 1-D y_true comes without query ids, or an argument is of the wrong type.
    ValueError
        If labels are NaN, infinite or negative, scores are NaN, an id is missing, lengths differ, weights vary
        within a query, or an option has an unknown value.

    References
    ----------
    O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan (2009). Expected reciprocal rank for graded relevance. CIKM 2009.
    https://doi.org/10.1145/1645953.1646033

    Examples
    --------
    Grade 1 satisfies with probability 1/2 where it is the largest; its document is at rank 2 in place of 1:

    >>> from skrank_metrics import nerr_score
    >>> nerr_score([[0, 1]], [[2, 1]], max_grade=1)
    0.5
    """

@overload
def nerr_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    p: float = 1.0,
    gain: Literal["binary", "linear", "exp2"] = "exp2",
    max_grade: float = 4,
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def pairwise_accuracy_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "micro"] = "macro",
    retrieved: ArrayLike | None = None,
) -> float:
    """Pairwise accuracy: the share of the pairs of documents with different labels that are in the right order.

    Pairs with tied scores count 1/2. Undefined for a query with no two documents of different labels.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, largest first. May be infinite, but not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with
        an index level named 'qid', see with_qid.
    ties : {"average", "best", "worst", "stable"}, default="average"
        Order of documents with equal scores: the expectation over all their orders, the best label first, the
        worst first, or the order of rows.
    replace_undefined_by : float, default=0.0
        Value of a query for which the metric is undefined. NaN leaves such queries out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights, finite and >= 0, which must not vary within a query.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio pooled over documents, or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked: they count in R and in the ideal order, never in the
        ranking, and their scores are ignored. None means that all were ranked.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If a 1-D y_true comes without query ids, or an argument is of the wrong type.
    ValueError
        If labels are NaN, infinite or negative, scores are NaN, an id is missing, lengths differ, weights vary
        within a query, or an option has an unknown value.

    References
    ----------
    T. Joachims (2002). Optimizing search engines using clickthrough data. KDD 2002.
    https://doi.org/10.1145/775047.775067

    Examples
    --------
    Of the three pairs only 2 above 1 is in order:

    >>> from skrank_metrics import pairwise_accuracy_score
    >>> round(pairwise_accuracy_score([[0, 2, 1]], [[3, 2, 1]]), 4)
    0.3333
    """

@overload
def pairwise_accuracy_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
) -> _FloatArray: ...
@overload
def pfound_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
    p: float = 0.85,
    gain: Literal["binary", "linear", "exp2"] = "linear",
    max_grade: float = 4,
    relevance_threshold: float | None = None,
) -> float:
    """Probability of being found: that a reader, who gives up with probability 1 - p at each rank, gets satisfied.

    The cascade of click models, read as a metric: Yandex's pFound.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, largest first. May be infinite, but not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with
        an index level named 'qid', see with_qid.
    k : int or None, default=None
        Cutoff rank: only the first k documents of each ranking count. None means all.
    ties : {"average", "best", "worst", "stable"}, default="average"
        Order of documents with equal scores: the expectation over all their orders, the best label first, the
        worst first, or the order of rows.
    replace_undefined_by : float, default=0.0
        Value of a query for which the metric is undefined. NaN leaves such queries out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights, finite and >= 0, which must not vary within a query.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio pooled over documents, or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked: they count in R and in the ideal order, never in the
        ranking, and their scores are ignored. None means that all were ranked.
    p : float in (0, 1], default=0.85
        Probability that a reader who is not satisfied goes on to the next rank.
    gain : {"binary", "linear", "exp2"}, default="linear"
        Probability that a document satisfies its reader: 1 if relevant, else 0; the label itself, which must lie
        in [0, 1]; or (2^label - 1) / 2^max_grade.
    max_grade : float in (0, 1000], default=4
        Largest grade there can be. Only for gain="exp2".
    relevance_threshold : float or None, default=None
        A document is relevant if its label is at least this; None means if it is above 0.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If a 1-D y_true comes without query ids, or an argument is of the wrong type.
    ValueError
        If labels are NaN, infinite or negative, scores are NaN, an id is missing, lengths differ, weights vary
        within a query, or an option has an unknown value.

    References
    ----------
    N. Craswell, O. Zoeter, M. Taylor, B. Ramsey (2008). An experimental comparison of click position-bias models. WSDM 2008.
    https://doi.org/10.1145/1341531.1341545

    Examples
    --------
    Satisfied at rank 1 with probability 0.4, or goes on with 0.6 * 0.85 to rank 2, where it is 1: 0.4 + 0.51.

    >>> from skrank_metrics import pfound_score
    >>> round(pfound_score([[0.4, 1.0]], [[2, 1]]), 4)
    0.91
    """

@overload
def pfound_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    p: float = 0.85,
    gain: Literal["binary", "linear", "exp2"] = "linear",
    max_grade: float = 4,
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def precision_at_k_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "micro"] = "macro",
    retrieved: ArrayLike | None = None,
    divisor: Literal["k", "retrieved"] = "k",
    relevance_threshold: float | None = None,
) -> float:
    """Precision at k: relevant documents among the first k, divided by k.

    With ``average="micro"`` hits and recommended items are pooled over queries, which is the hit rate at item level.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, largest first. May be infinite, but not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with
        an index level named 'qid', see with_qid.
    k : int or None, default=None
        Cutoff rank: only the first k documents of each ranking count. None means all.
    ties : {"average", "best", "worst", "stable"}, default="average"
        Order of documents with equal scores: the expectation over all their orders, the best label first, the
        worst first, or the order of rows.
    replace_undefined_by : float, default=0.0
        Value of a query for which the metric is undefined. NaN leaves such queries out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights, finite and >= 0, which must not vary within a query.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio pooled over documents, or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked: they count in R and in the ideal order, never in the
        ranking, and their scores are ignored. None means that all were ranked.
    divisor : {"k", "retrieved"}, default="k"
        Divide by k even where fewer documents were ranked, or by the number that was, min(k, n).
    relevance_threshold : float or None, default=None
        A document is relevant if its label is at least this; None means if it is above 0.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If a 1-D y_true comes without query ids, or an argument is of the wrong type.
    ValueError
        If labels are NaN, infinite or negative, scores are NaN, an id is missing, lengths differ, weights vary
        within a query, or an option has an unknown value.

    References
    ----------
    C. D. Manning, P. Raghavan, H. Schütze (2008). Introduction to Information Retrieval, chapter 8.
    https://doi.org/10.1017/CBO9780511809071

    Examples
    --------
    Three of the first five documents are relevant:

    >>> from skrank_metrics import precision_at_k_score
    >>> precision_at_k_score([[1, 0, 1, 1, 0, 1, 0]], [[7, 6, 5, 4, 3, 2, 1]], k=5)
    0.6
    """

@overload
def precision_at_k_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    divisor: Literal["k", "retrieved"] = "k",
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def q_measure_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
    gain: _Gain = "linear",
    beta: float = 1.0,
) -> float:
    """Q-measure: average precision whose precision is blended with gains.

    At the rank i of each relevant document it takes (hits + beta * CG) / (i + beta * ideal CG), both up to i, and
    averages over min(k, R) documents. With beta=0, or on labels 0 and 1 in the ideal order, it is average precision. Undefined for a query with no relevant document.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, largest first. May be infinite, but not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with
        an index level named 'qid', see with_qid.
    k : int or None, default=None
        Cutoff rank: only the first k documents of each ranking count. None means all.
    ties : {"average", "best", "worst", "stable"}, default="average"
        Order of documents with equal scores: the expectation over all their orders, the best label first, the
        worst first, or the order of rows.
    replace_undefined_by : float, default=0.0
        Value of a query for which the metric is undefined. NaN leaves such queries out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights, finite and >= 0, which must not vary within a query.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio pooled over documents, or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked: they count in R and in the ideal order, never in the
        ranking, and their scores are ignored. None means that all were ranked.
    gain : "linear", "exp2", callable or sequence of float, default="linear"
        Gain of a label: the label itself, 2^label - 1, a function of an array of labels, or the gains of the
        grades 0, 1, 2, ...
    beta : float in [0, inf), default=1.0
        Weight of gains against hits.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If a 1-D y_true comes without query ids, or an argument is of the wrong type.
    ValueError
        If labels are NaN, infinite or negative, scores are NaN, an id is missing, lengths differ, weights vary
        within a query, or an option has an unknown value.

    References
    ----------
    T. Sakai (2007). On the reliability of information retrieval metrics based on graded relevance. Information Processing & Management 43(2).
    https://doi.org/10.1016/j.ipm.2006.07.020

    Examples
    --------
    At rank 2 there are 1 hit, a gain of 2, and an ideal gain of 2: (1 + 2) / (2 + 2).

    >>> from skrank_metrics import q_measure_score
    >>> q_measure_score([[0, 2]], [[2, 1]])
    0.75
    """

@overload
def q_measure_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    gain: _Gain = "linear",
    beta: float = 1.0,
) -> _FloatArray: ...
@overload
def r_precision_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> float:
    """R-precision: precision at R, the number of relevant documents of the query, where it equals recall. Undefined for a query with no relevant document.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, largest first. May be infinite, but not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with
        an index level named 'qid', see with_qid.
    ties : {"average", "best", "worst", "stable"}, default="average"
        Order of documents with equal scores: the expectation over all their orders, the best label first, the
        worst first, or the order of rows.
    replace_undefined_by : float, default=0.0
        Value of a query for which the metric is undefined. NaN leaves such queries out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights, finite and >= 0, which must not vary within a query.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio pooled over documents, or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked: they count in R and in the ideal order, never in the
        ranking, and their scores are ignored. None means that all were ranked.
    relevance_threshold : float or None, default=None
        A document is relevant if its label is at least this; None means if it is above 0.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If a 1-D y_true comes without query ids, or an argument is of the wrong type.
    ValueError
        If labels are NaN, infinite or negative, scores are NaN, an id is missing, lengths differ, weights vary
        within a query, or an option has an unknown value.

    References
    ----------
    C. D. Manning, P. Raghavan, H. Schütze (2008). Introduction to Information Retrieval, chapter 8.
    https://doi.org/10.1017/CBO9780511809071

    Examples
    --------
    Three documents are relevant, and two of them are among the first three:

    >>> from skrank_metrics import r_precision_score
    >>> round(r_precision_score([[1, 0, 1, 0, 1]], [[5, 4, 3, 2, 1]]), 4)
    0.6667
    """

@overload
def r_precision_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def rbp_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
    p: float = 0.8,
    gain: Literal["binary", "linear", "exp2"] = "binary",
    max_grade: float = 4,
    relevance_threshold: float | None = None,
) -> float:
    """Rank-biased precision: (1 - p) times the sum over ranks of p^(rank - 1) * gain.

    The rate at which a reader meets what is relevant who goes on to the next rank with probability p, whatever there
    is. Lists end, so that even a list of nothing but relevant documents stays below 1.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, largest first. May be infinite, but not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with
        an index level named 'qid', see with_qid.
    k : int or None, default=None
        Cutoff rank: only the first k documents of each ranking count. None means all.
    ties : {"average", "best", "worst", "stable"}, default="average"
        Order of documents with equal scores: the expectation over all their orders, the best label first, the
        worst first, or the order of rows.
    replace_undefined_by : float, default=0.0
        Value of a query for which the metric is undefined. NaN leaves such queries out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights, finite and >= 0, which must not vary within a query.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio pooled over documents, or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked: they count in R and in the ideal order, never in the
        ranking, and their scores are ignored. None means that all were ranked.
    p : float in (0, 1], default=0.8
        Probability that a reader who is not satisfied goes on to the next rank.
    gain : {"binary", "linear", "exp2"}, default="binary"
        Probability that a document satisfies its reader: 1 if relevant, else 0; the label itself, which must lie
        in [0, 1]; or (2^label - 1) / 2^max_grade.
    max_grade : float in (0, 1000], default=4
        Largest grade there can be. Only for gain="exp2".
    relevance_threshold : float or None, default=None
        A document is relevant if its label is at least this; None means if it is above 0.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If a 1-D y_true comes without query ids, or an argument is of the wrong type.
    ValueError
        If labels are NaN, infinite or negative, scores are NaN, an id is missing, lengths differ, weights vary
        within a query, or an option has an unknown value.

    References
    ----------
    A. Moffat, J. Zobel (2008). Rank-biased precision for measurement of retrieval effectiveness. ACM TOIS 27(1).
    https://doi.org/10.1145/1416950.1416952

    Examples
    --------
    Relevant at ranks 1 and 3: (1 - 1/2) * (1 + 1/4).

    >>> from skrank_metrics import rbp_score
    >>> rbp_score([[1, 0, 1]], [[3, 2, 1]], p=0.5)
    0.625
    """

@overload
def rbp_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    p: float = 0.8,
    gain: Literal["binary", "linear", "exp2"] = "binary",
    max_grade: float = 4,
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def recall_at_k_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "micro"] = "macro",
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> float:
    """Recall at k: relevant documents among the first k, divided by all R relevant ones of the query. Undefined for a query with no relevant document.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, largest first. May be infinite, but not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with
        an index level named 'qid', see with_qid.
    k : int or None, default=None
        Cutoff rank: only the first k documents of each ranking count. None means all.
    ties : {"average", "best", "worst", "stable"}, default="average"
        Order of documents with equal scores: the expectation over all their orders, the best label first, the
        worst first, or the order of rows.
    replace_undefined_by : float, default=0.0
        Value of a query for which the metric is undefined. NaN leaves such queries out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights, finite and >= 0, which must not vary within a query.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio pooled over documents, or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked: they count in R and in the ideal order, never in the
        ranking, and their scores are ignored. None means that all were ranked.
    relevance_threshold : float or None, default=None
        A document is relevant if its label is at least this; None means if it is above 0.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If a 1-D y_true comes without query ids, or an argument is of the wrong type.
    ValueError
        If labels are NaN, infinite or negative, scores are NaN, an id is missing, lengths differ, weights vary
        within a query, or an option has an unknown value.

    References
    ----------
    C. D. Manning, P. Raghavan, H. Schütze (2008). Introduction to Information Retrieval, chapter 8.
    https://doi.org/10.1017/CBO9780511809071

    Examples
    --------
    Three of the four relevant documents are among the first five:

    >>> from skrank_metrics import recall_at_k_score
    >>> recall_at_k_score([[1, 0, 1, 1, 0, 1, 0]], [[7, 6, 5, 4, 3, 2, 1]], k=5)
    0.75
    """

@overload
def recall_at_k_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def spearman_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
) -> float:
    """Spearman's rho: the correlation of ranks by label with ranks by score.

    Documents with equal labels share their mean rank. For documents with equal scores it is the expectation over their
    orders, so that a constant score has 0. Where no scores tie, it equals scipy.stats.spearmanr. Undefined for a query with no two documents of different labels.

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    y_score : array-like of the shape of y_true
        Scores to rank by, largest first. May be infinite, but not NaN.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with
        an index level named 'qid', see with_qid.
    ties : {"average", "best", "worst", "stable"}, default="average"
        Order of documents with equal scores: the expectation over all their orders, the best label first, the
        worst first, or the order of rows.
    replace_undefined_by : float, default=0.0
        Value of a query for which the metric is undefined. NaN leaves such queries out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights, finite and >= 0, which must not vary within a query.
    average : {"macro", "micro", None}, default="macro"
        Mean over queries, ratio pooled over documents, or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked: they count in R and in the ideal order, never in the
        ranking, and their scores are ignored. None means that all were ranked.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [-1, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If a 1-D y_true comes without query ids, or an argument is of the wrong type.
    ValueError
        If labels are NaN, infinite or negative, scores are NaN, an id is missing, lengths differ, weights vary
        within a query, or an option has an unknown value.

    References
    ----------
    C. Spearman (1904). The proof and measurement of association between two things. The American Journal of Psychology 15(1).
    https://doi.org/10.2307/1412159

    Examples
    --------
    The first two of three documents have changed places: 1 - 6 * (1 + 1 + 0) / (3 * (9 - 1)).

    >>> from skrank_metrics import spearman_score
    >>> spearman_score([[1, 2, 0]], [[3, 2, 1]])
    0.5
    """

@overload
def spearman_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
) -> _FloatArray: ...
