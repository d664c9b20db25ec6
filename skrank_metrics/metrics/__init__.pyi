"""Signatures of the metric functions. Written by docs/generate.py; do not edit."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skrank_metrics.metrics.custom import check_metric as check_metric
from skrank_metrics.metrics.custom import make_metric as make_metric
from skrank_metrics.metrics.names import get_metric as get_metric
from skrank_metrics.metrics.names import get_metric_names as get_metric_names
from skrank_metrics.metrics.names import get_metrics as get_metrics

_FloatArray: TypeAlias = NDArray[np.float64]
_Ids: TypeAlias = ArrayLike | Sequence[Hashable]
_Ties: TypeAlias = Literal["average", "best", "worst", "stable"]
_Gain: TypeAlias = (
    Literal["linear", "exp2", "binary"]
    | Callable[[_FloatArray], ArrayLike]
    | Sequence[float]
    | Mapping[Any, float]
    | NDArray[Any]
)
_Discount: TypeAlias = (
    Literal["log2", "reciprocal", "jarvelin"] | Callable[[_FloatArray], ArrayLike]
)
_Ideal: TypeAlias = Literal["judged", "shown", "all", "retrieved", "top"] | float

__all__ = [
    "auc_score",
    "bpref_score",
    "cg_score",
    "check_metric",
    "dcg_score",
    "err_score",
    "f1_at_k_score",
    "fall_out_score",
    "get_metric",
    "get_metric_names",
    "get_metrics",
    "hit_rate_score",
    "judged_score",
    "kendall_tau_distance",
    "kendall_tau_score",
    "make_metric",
    "map_score",
    "mrr_score",
    "ndcg_score",
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
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "micro", "median", "geometric"] = "macro",
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> float:
    r"""Area under the ROC curve: the share of relevant/non-relevant pairs ranked correctly.

    .. math::

        \mathrm{AUC} = \frac{\text{concordant pairs}}{\text{pairs of a relevant and a non-relevant document}}

    The mean over queries is known as group AUC (GAUC). Labels may be negative if ``relevance_threshold`` is set. Undefined for a query with documents of only one class.

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
        How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest
        label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure
        or with decreasing gains, ordering by label need not give the extreme values.
    min_documents : int, default=1
        Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.
    replace_undefined_by : float, default=0.0
        Value of queries for which the metric is undefined. NaN leaves them out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of queries, finite and >= 0. Must not vary within a query.
    average : {"macro", "micro", "median", "geometric", None}, default="macro"
        Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to
        1e-5 if smaller (trec_eval's GMAP), or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in R, the number of relevant documents,
        and in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were
        ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be
        NaN. bpref leaves them out. A query without judged documents is undefined. If None, all documents were
        judged.
    relevance_threshold : float or None, default=None
        Smallest label of a relevant document. If None, labels above 0 are relevant.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights or options are invalid, or their lengths differ.

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
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def bpref_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "median", "geometric"] = "macro",
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> float:
    r"""Binary preference: the mean over relevant documents of 1 - non-relevant documents above / min(R, N).

    .. math::

        \mathrm{bpref} = \frac{1}{R} \sum_{i=1}^{n} \mathrm{rel}_i \left( 1 - \frac{\min(\text{non-relevant
        documents above } i, R)}{\min(R, N)} \right)

    N is the number of non-relevant documents, of which at most R count, as in trec_eval. Mark documents that nobody
    judged with ``judged`` instead of labelling them 0: they are left out of the list before anything else. Relevant
    documents that were not retrieved count 0. Undefined for a query with no relevant document.

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
        How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest
        label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure
        or with decreasing gains, ordering by label need not give the extreme values.
    min_documents : int, default=1
        Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.
    replace_undefined_by : float, default=0.0
        Value of queries for which the metric is undefined. NaN leaves them out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of queries, finite and >= 0. Must not vary within a query.
    average : {"macro", "micro", "median", "geometric", None}, default="macro"
        Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to
        1e-5 if smaller (trec_eval's GMAP), or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in R, the number of relevant documents,
        and in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were
        ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be
        NaN. bpref leaves them out. A query without judged documents is undefined. If None, all documents were
        judged.
    relevance_threshold : float or None, default=None
        Smallest label of a relevant document. If None, labels above 0 are relevant.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights or options are invalid, or their lengths differ.

    References
    ----------
    C. Buckley, E. M. Voorhees (2004). Retrieval evaluation with incomplete information. SIGIR 2004.
    https://doi.org/10.1145/1008992.1009000

    Examples
    --------
    Relevant at ranks 1 and 3, with 0 and 1 others above; R = 2 and N = 2: (1 + (1 - 1/2)) / 2.

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
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def cg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "median", "geometric"] = "macro",
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
) -> float:
    r"""Cumulative gain: the sum of the labels of the first k documents.

    .. math::

        \mathrm{CG}@k = \sum_{i=1}^{k} \mathrm{label}_i

    Without a cutoff, it does not depend on the order. Undefined for a query with no relevant document.

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
        Cutoff rank: only the first k documents of each query count. If None, all count.
    ties : {"average", "best", "worst", "stable"}, default="average"
        How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest
        label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure
        or with decreasing gains, ordering by label need not give the extreme values.
    min_documents : int, default=1
        Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.
    replace_undefined_by : float, default=0.0
        Value of queries for which the metric is undefined. NaN leaves them out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of queries, finite and >= 0. Must not vary within a query.
    average : {"macro", "micro", "median", "geometric", None}, default="macro"
        Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to
        1e-5 if smaller (trec_eval's GMAP), or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in R, the number of relevant documents,
        and in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were
        ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be
        NaN. bpref leaves them out. A query without judged documents is undefined. If None, all documents were
        judged.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, ∞). An array if average=None.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights or options are invalid, or their lengths differ.

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
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
) -> _FloatArray: ...
@overload
def dcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "median", "geometric"] = "macro",
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    gain: _Gain = "linear",
    discount: _Discount = "log2",
) -> float:
    r"""Discounted cumulative gain: the sum over ranks of gain / discount.

    .. math::

        \mathrm{DCG}@k = \sum_{i=1}^{k} \frac{\mathrm{gain}(\mathrm{label}_i)}{\mathrm{discount}(i)}, \quad
        \text{by default } \sum_{i=1}^{k} \frac{\mathrm{label}_i}{\log_2(i + 1)}

    The defaults agree with ``sklearn.metrics.dcg_score``; ``gain="exp2"`` is the default gain of LightGBM and XGBoost.
    For labels 0 and 1, linear and exponential gains are the same. Undefined for a query with no relevant document.

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
        Cutoff rank: only the first k documents of each query count. If None, all count.
    ties : {"average", "best", "worst", "stable"}, default="average"
        How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest
        label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure
        or with decreasing gains, ordering by label need not give the extreme values.
    min_documents : int, default=1
        Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.
    replace_undefined_by : float, default=0.0
        Value of queries for which the metric is undefined. NaN leaves them out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of queries, finite and >= 0. Must not vary within a query.
    average : {"macro", "micro", "median", "geometric", None}, default="macro"
        Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to
        1e-5 if smaller (trec_eval's GMAP), or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in R, the number of relevant documents,
        and in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were
        ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be
        NaN. bpref leaves them out. A query without judged documents is undefined. If None, all documents were
        judged.
    gain : "linear", "exp2", "binary", callable, sequence of float or dict, default="linear"
        Gain of a label: the label itself, 2^label - 1, 1 if it is above 0, a function of an array of labels, the
        gains of the grades 0, 1, 2, ..., or a dict of gains by grade.
    discount : "log2", "reciprocal", "jarvelin" or callable, default="log2"
        Divisor of the gain at a rank: log2(rank + 1); the rank; log2(rank), but 1 at ranks 1 and 2, as in the
        first paper on DCG; or a function of an array of ranks.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, ∞). An array if average=None.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights or options are invalid, or their lengths differ.

    References
    ----------
    K. Järvelin, J. Kekäläinen (2002). Cumulated gain-based evaluation of IR techniques. ACM TOIS 20(4).
    https://doi.org/10.1145/582415.582418

    Examples
    --------
    The gains at ranks 1 and 3 are 3 and 7, and their discounts log2(2) = 1 and log2(4) = 2: 3/1 + 7/2.

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
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    gain: _Gain = "linear",
    discount: _Discount = "log2",
) -> _FloatArray: ...
@overload
def err_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "median", "geometric"] = "macro",
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    p: float = 1.0,
    gain: Literal["binary", "linear", "exp2"] = "exp2",
    max_grade: float = 4,
    normalize: bool = False,
    relevance_threshold: float | None = None,
) -> float:
    r"""Expected reciprocal rank: the mean of 1 / rank at which the reader is satisfied, 0 if the reader never is.

    .. math::

        \mathrm{ERR}@k = \sum_{i=1}^{k} \frac{s_i}{i} \prod_{j=1}^{i-1} p \, (1 - s_j), \quad \text{by default }
        s_i = \frac{2^{\mathrm{label}_i} - 1}{2^{\mathrm{max\_grade}}}

    A document satisfies the reader with the probability given by ``gain``; otherwise the reader goes on with
    probability p. With ``normalize=True``, it is divided by its value for the ideal order; "nerr" is a name for this. Undefined for a query with no relevant document.

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
        Cutoff rank: only the first k documents of each query count. If None, all count.
    ties : {"average", "best", "worst", "stable"}, default="average"
        How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest
        label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure
        or with decreasing gains, ordering by label need not give the extreme values.
    min_documents : int, default=1
        Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.
    replace_undefined_by : float, default=0.0
        Value of queries for which the metric is undefined. NaN leaves them out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of queries, finite and >= 0. Must not vary within a query.
    average : {"macro", "micro", "median", "geometric", None}, default="macro"
        Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to
        1e-5 if smaller (trec_eval's GMAP), or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in R, the number of relevant documents,
        and in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were
        ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be
        NaN. bpref leaves them out. A query without judged documents is undefined. If None, all documents were
        judged.
    p : float in (0, 1], default=1.0
        Probability that an unsatisfied reader goes on to the next rank.
    gain : {"binary", "linear", "exp2"}, default="exp2"
        Probability that a document satisfies the reader: 1 if relevant, else 0; the label itself, which must be
        in [0, 1]; or (2^label - 1) / 2^max_grade.
    max_grade : float in (0, 1000], default=4
        Largest possible grade. Only for gain="exp2".
    normalize : bool, default=False
        Whether to divide by the value of the ideal order: nERR.
    relevance_threshold : float or None, default=None
        Smallest label of a relevant document. If None, labels above 0 are relevant.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights or options are invalid, or their lengths differ.

    References
    ----------
    O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan (2009). Expected reciprocal rank for graded relevance. CIKM 2009.
    https://doi.org/10.1145/1645953.1646033

    Examples
    --------
    The reader is satisfied at rank 1 with probability 15/16, else at rank 2 with 3/16: 15/16 + 1/2 * 1/16 * 3/16.

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
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    p: float = 1.0,
    gain: Literal["binary", "linear", "exp2"] = "exp2",
    max_grade: float = 4,
    normalize: bool = False,
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def f1_at_k_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "micro", "median", "geometric"] = "macro",
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    beta: float = 1.0,
    divisor: Literal["k", "retrieved"] = "k",
    relevance_threshold: float | None = None,
) -> float:
    r"""F1 at k: the harmonic mean of precision and recall at k, 2 hits / (k + R).

    .. math::

        \mathrm{F}_1@k = \frac{2}{k + R} \sum_{i=1}^{k} \mathrm{rel}_i

    With ``beta``, it is F-beta, (1 + beta^2) hits / (k + beta^2 R): precision if beta is 0, close to recall if beta is
    large. Undefined for a query with no relevant document.

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
        Cutoff rank: only the first k documents of each query count. If None, all count.
    ties : {"average", "best", "worst", "stable"}, default="average"
        How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest
        label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure
        or with decreasing gains, ordering by label need not give the extreme values.
    min_documents : int, default=1
        Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.
    replace_undefined_by : float, default=0.0
        Value of queries for which the metric is undefined. NaN leaves them out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of queries, finite and >= 0. Must not vary within a query.
    average : {"macro", "micro", "median", "geometric", None}, default="macro"
        Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to
        1e-5 if smaller (trec_eval's GMAP), or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in R, the number of relevant documents,
        and in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were
        ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be
        NaN. bpref leaves them out. A query without judged documents is undefined. If None, all documents were
        judged.
    beta : float in [0, 1000], default=1.0
        Weight of recall relative to precision.
    divisor : {"k", "retrieved"}, default="k"
        Divide by k even if fewer documents were ranked, or by min(k, n).
    relevance_threshold : float or None, default=None
        Smallest label of a relevant document. If None, labels above 0 are relevant.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights or options are invalid, or their lengths differ.

    References
    ----------
    C. J. van Rijsbergen (1974). Foundation of evaluation. Journal of Documentation 30(4).
    https://doi.org/10.1108/eb026584

    Examples
    --------
    Three of the first five documents are relevant, and four overall: 2 * 3 / (5 + 4).

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
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    beta: float = 1.0,
    divisor: Literal["k", "retrieved"] = "k",
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def fall_out_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "micro", "median", "geometric"] = "macro",
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> float:
    r"""Fall-out at k: non-relevant documents among the first k, divided by N, the number of non-relevant documents.

    .. math::

        \mathrm{fallout}@k = \frac{1}{N} \sum_{i=1}^{\min(k, n)} (1 - \mathrm{rel}_i)

    This is the false positive rate of showing the first k. Smaller is better; strings and scorers use the negative.
    Documents that were not judged count as not relevant in both numbers. Undefined for a query with relevant documents only.

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
        Cutoff rank: only the first k documents of each query count. If None, all count.
    ties : {"average", "best", "worst", "stable"}, default="average"
        How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest
        label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure
        or with decreasing gains, ordering by label need not give the extreme values.
    min_documents : int, default=1
        Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.
    replace_undefined_by : float, default=0.0
        Value of queries for which the metric is undefined. NaN leaves them out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of queries, finite and >= 0. Must not vary within a query.
    average : {"macro", "micro", "median", "geometric", None}, default="macro"
        Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to
        1e-5 if smaller (trec_eval's GMAP), or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in R, the number of relevant documents,
        and in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were
        ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be
        NaN. bpref leaves them out. A query without judged documents is undefined. If None, all documents were
        judged.
    relevance_threshold : float or None, default=None
        Smallest label of a relevant document. If None, labels above 0 are relevant.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights or options are invalid, or their lengths differ.

    References
    ----------
    J. A. Swets (1963). Information retrieval systems. Science 141(3577).
    https://doi.org/10.1126/science.141.3577.245

    Examples
    --------
    One of the first three documents is not relevant, and three are not relevant overall:

    >>> from skrank_metrics import fall_out_score
    >>> round(fall_out_score([[1, 0, 1, 0, 1, 0]], [[6, 5, 4, 3, 2, 1]], k=3), 4)
    0.3333
    """

@overload
def fall_out_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def hit_rate_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "median", "geometric"] = "macro",
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> float:
    r"""Hit rate: 1 if any of the first k documents is relevant, else 0.

    .. math::

        \mathrm{HR}@k = 1 - \prod_{i=1}^{k} (1 - \mathrm{rel}_i)

    The mean is the share of queries with a hit: the user-level hit rate. The item-level hit rate, hits divided by
    recommended items, is precision with ``average="micro"``. Undefined for a query with no relevant document.

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
        Cutoff rank: only the first k documents of each query count. If None, all count.
    ties : {"average", "best", "worst", "stable"}, default="average"
        How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest
        label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure
        or with decreasing gains, ordering by label need not give the extreme values.
    min_documents : int, default=1
        Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.
    replace_undefined_by : float, default=0.0
        Value of queries for which the metric is undefined. NaN leaves them out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of queries, finite and >= 0. Must not vary within a query.
    average : {"macro", "micro", "median", "geometric", None}, default="macro"
        Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to
        1e-5 if smaller (trec_eval's GMAP), or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in R, the number of relevant documents,
        and in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were
        ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be
        NaN. bpref leaves them out. A query without judged documents is undefined. If None, all documents were
        judged.
    relevance_threshold : float or None, default=None
        Smallest label of a relevant document. If None, labels above 0 are relevant.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights or options are invalid, or their lengths differ.

    References
    ----------
    C. D. Manning, P. Raghavan, H. Schütze (2008). Introduction to Information Retrieval, chapter 8.
    https://doi.org/10.1017/CBO9780511809071

    Examples
    --------
    Of two users, only the first has a relevant item among the first two:

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
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def judged_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "micro", "median", "geometric"] = "macro",
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
) -> float:
    r"""Judged at k: the share of the first k documents that were judged, relevant or not.

    .. math::

        \mathrm{judged}@k = \frac{1}{\min(k, n)} \sum_{i=1}^{\min(k, n)} \mathrm{judged}_i

    If it differs between rankings, comparisons that count unjudged documents as not relevant favour the ranking with
    more judgments, such as the one that the judgments were made for. It is 1 if ``judged`` is None. Undefined for a query with no ranked document.

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
        Cutoff rank: only the first k documents of each query count. If None, all count.
    ties : {"average", "best", "worst", "stable"}, default="average"
        How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest
        label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure
        or with decreasing gains, ordering by label need not give the extreme values.
    min_documents : int, default=1
        Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.
    replace_undefined_by : float, default=0.0
        Value of queries for which the metric is undefined. NaN leaves them out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of queries, finite and >= 0. Must not vary within a query.
    average : {"macro", "micro", "median", "geometric", None}, default="macro"
        Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to
        1e-5 if smaller (trec_eval's GMAP), or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in R, the number of relevant documents,
        and in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were
        ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be
        NaN. bpref leaves them out. A query without judged documents is undefined. If None, all documents were
        judged.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights or options are invalid, or their lengths differ.

    References
    ----------
    S. MacAvaney, C. Macdonald, I. Ounis (2022). Streamlining evaluation with ir-measures. ECIR 2022.
    https://doi.org/10.1007/978-3-030-99739-7_38

    Examples
    --------
    The second of the first two documents was not judged:

    >>> from skrank_metrics import judged_score
    >>> judged_score([[1, 0, 2]], [[3, 2, 1]], k=2, judged=[[True, False, True]])
    0.5
    """

@overload
def judged_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
) -> _FloatArray: ...
@overload
def kendall_tau_distance(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "micro", "median", "geometric"] = "macro",
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    normalize: bool = False,
) -> float:
    r"""Kendall tau distance: the number of pairs of documents with the less relevant one ranked above.

    .. math::

        \left| \{ (i, j) : i < j, \; \mathrm{label}_i < \mathrm{label}_j \} \right|

    Pairs with tied scores count 1/2. Smaller is better; strings and scorers use the negative. With ``normalize=True``,
    it is the share of the pairs with different labels, undefined if there are none. The number itself is always
    defined, and is 0 for a query that nobody judged.

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
        How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest
        label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure
        or with decreasing gains, ordering by label need not give the extreme values.
    min_documents : int, default=1
        Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.
    replace_undefined_by : float, default=0.0
        Value of queries for which the metric is undefined. NaN leaves them out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of queries, finite and >= 0. Must not vary within a query.
    average : {"macro", "micro", "median", "geometric", None}, default="macro"
        Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to
        1e-5 if smaller (trec_eval's GMAP), or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in R, the number of relevant documents,
        and in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were
        ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be
        NaN. bpref leaves them out. A query without judged documents is undefined. If None, all documents were
        judged.
    normalize : bool, default=False
        Whether to divide by the number of pairs with different labels.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, ∞). An array if average=None.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights or options are invalid, or their lengths differ.

    References
    ----------
    M. G. Kendall (1938). A new measure of rank correlation. Biometrika 30.
    https://doi.org/10.1093/biomet/30.1-2.81

    Examples
    --------
    Two of the three pairs are inverted, 0 above 1 and 0 above 2:

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
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    normalize: bool = False,
) -> _FloatArray: ...
@overload
def kendall_tau_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "median"] = "macro",
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
) -> float:
    r"""Kendall tau-b: (concordant - discordant) / geometric mean of all pairs and the pairs with different labels.

    .. math::

        \tau_b = \frac{\text{concordant pairs} - \text{discordant pairs}}{\sqrt{\text{pairs with different labels}
        \cdot n (n - 1) / 2}}

    Tau-b corrects for equal labels. For tied scores, it is the expectation over the orders of the tied documents, so
    constant scores give 0. Without tied scores, it equals ``scipy.stats.kendalltau``. Undefined for a query with no two documents with different labels.

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
        How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest
        label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure
        or with decreasing gains, ordering by label need not give the extreme values.
    min_documents : int, default=1
        Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.
    replace_undefined_by : float, default=0.0
        Value of queries for which the metric is undefined. NaN leaves them out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of queries, finite and >= 0. Must not vary within a query.
    average : {"macro", "micro", "median", "geometric", None}, default="macro"
        Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to
        1e-5 if smaller (trec_eval's GMAP), or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in R, the number of relevant documents,
        and in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were
        ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be
        NaN. bpref leaves them out. A query without judged documents is undefined. If None, all documents were
        judged.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [-1, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights or options are invalid, or their lengths differ.

    References
    ----------
    M. G. Kendall (1945). The treatment of ties in ranking problems. Biometrika 33(3).
    https://doi.org/10.1093/biomet/33.3.239

    Examples
    --------
    One pair is in order and two are inverted: (1 - 2) / sqrt(3 * 3).

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
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
) -> _FloatArray: ...
@overload
def map_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "median", "geometric"] = "macro",
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    normalizer: Literal["min", "relevant", "hits", "k"] = "min",
    relevance_threshold: float | None = None,
) -> float:
    r"""Mean average precision: the mean of the precision at the ranks of the relevant documents.

    .. math::

        \mathrm{AP}@k = \frac{1}{\min(k, R)} \sum_{i=1}^{k} \mathrm{rel}_i \, \frac{\mathrm{hits}_i}{i}, \quad
        \mathrm{hits}_i = \sum_{j=1}^{i} \mathrm{rel}_j

    Undefined for a query with no relevant document.

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
        Cutoff rank: only the first k documents of each query count. If None, all count.
    ties : {"average", "best", "worst", "stable"}, default="average"
        How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest
        label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure
        or with decreasing gains, ordering by label need not give the extreme values.
    min_documents : int, default=1
        Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.
    replace_undefined_by : float, default=0.0
        Value of queries for which the metric is undefined. NaN leaves them out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of queries, finite and >= 0. Must not vary within a query.
    average : {"macro", "micro", "median", "geometric", None}, default="macro"
        Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to
        1e-5 if smaller (trec_eval's GMAP), or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in R, the number of relevant documents,
        and in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were
        ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be
        NaN. bpref leaves them out. A query without judged documents is undefined. If None, all documents were
        judged.
    normalizer : {"min", "relevant", "hits", "k"}, default="min"
        Divisor of the sum of precisions: min(k, R), so that perfect rankings have 1 at any k; R, as in trec_eval;
        the number of relevant documents in the top k; or k. The first two differ only if k < R.
    relevance_threshold : float or None, default=None
        Smallest label of a relevant document. If None, labels above 0 are relevant.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights or options are invalid, or their lengths differ.

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
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    normalizer: Literal["min", "relevant", "hits", "k"] = "min",
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def mrr_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "median", "geometric"] = "macro",
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> float:
    r"""Mean reciprocal rank: 1 / rank of the first relevant document, 0 if it is not among the first k.

    .. math::

        \mathrm{RR}@k = \sum_{i=1}^{k} \frac{\mathrm{rel}_i}{i} \prod_{j=1}^{i-1} (1 - \mathrm{rel}_j)

    Undefined for a query with no relevant document.

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
        Cutoff rank: only the first k documents of each query count. If None, all count.
    ties : {"average", "best", "worst", "stable"}, default="average"
        How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest
        label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure
        or with decreasing gains, ordering by label need not give the extreme values.
    min_documents : int, default=1
        Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.
    replace_undefined_by : float, default=0.0
        Value of queries for which the metric is undefined. NaN leaves them out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of queries, finite and >= 0. Must not vary within a query.
    average : {"macro", "micro", "median", "geometric", None}, default="macro"
        Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to
        1e-5 if smaller (trec_eval's GMAP), or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in R, the number of relevant documents,
        and in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were
        ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be
        NaN. bpref leaves them out. A query without judged documents is undefined. If None, all documents were
        judged.
    relevance_threshold : float or None, default=None
        Smallest label of a relevant document. If None, labels above 0 are relevant.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights or options are invalid, or their lengths differ.

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
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def ndcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "median", "geometric"] = "macro",
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    gain: _Gain = "linear",
    discount: _Discount = "log2",
    ideal: _Ideal = "judged",
) -> float:
    r"""Normalized discounted cumulative gain: DCG / DCG of the ideal order.

    .. math::

        \mathrm{NDCG}@k = \frac{\mathrm{DCG}@k}{\mathrm{DCG}@k \text{ of the ideal order}}

    The defaults agree with ``sklearn.metrics.ndcg_score`` for each query; ``gain="exp2"`` is the default gain of
    LightGBM and XGBoost. Other ideals than that of all judged documents reproduce the values of other tools, but let a
    list look better for what it lacks. Undefined for a query with no relevant document.

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
        Cutoff rank: only the first k documents of each query count. If None, all count.
    ties : {"average", "best", "worst", "stable"}, default="average"
        How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest
        label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure
        or with decreasing gains, ordering by label need not give the extreme values.
    min_documents : int, default=1
        Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.
    replace_undefined_by : float, default=0.0
        Value of queries for which the metric is undefined. NaN leaves them out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of queries, finite and >= 0. Must not vary within a query.
    average : {"macro", "micro", "median", "geometric", None}, default="macro"
        Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to
        1e-5 if smaller (trec_eval's GMAP), or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in R, the number of relevant documents,
        and in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were
        ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be
        NaN. bpref leaves them out. A query without judged documents is undefined. If None, all documents were
        judged.
    gain : "linear", "exp2", "binary", callable, sequence of float or dict, default="linear"
        Gain of a label: the label itself, 2^label - 1, 1 if it is above 0, a function of an array of labels, the
        gains of the grades 0, 1, 2, ..., or a dict of gains by grade.
    discount : "log2", "reciprocal", "jarvelin" or callable, default="log2"
        Divisor of the gain at a rank: log2(rank + 1); the rank; log2(rank), but 1 at ranks 1 and 2, as in the
        first paper on DCG; or a function of an array of ranks.
    ideal : "judged", "shown", "all", "retrieved", "top" or float, default="judged"
        Documents of the ideal order, cut at k: all judged ones; as many of these as the list shows; all, without
        the cutoff; only those that were retrieved; only the first k retrieved ones, unless ties are averaged; or
        documents of a given grade, whose gain no label may exceed.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights or options are invalid, or their lengths differ.

    References
    ----------
    K. Järvelin, J. Kekäläinen (2002). Cumulated gain-based evaluation of IR techniques. ACM TOIS 20(4).
    https://doi.org/10.1145/582415.582418

    Examples
    --------
    Query "a" is in ideal order. In query "b", the only relevant document is at rank 3, with discount log2(4) = 2:

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
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    gain: _Gain = "linear",
    discount: _Discount = "log2",
    ideal: _Ideal = "judged",
) -> _FloatArray: ...
@overload
def pairwise_accuracy_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "micro", "median", "geometric"] = "macro",
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
) -> float:
    r"""Pairwise accuracy: the share of pairs of documents with different labels that are ranked correctly.

    .. math::

        \frac{\text{concordant pairs}}{\text{pairs with different labels}}

    Pairs with tied scores count 1/2. Undefined for a query with no two documents with different labels.

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
        How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest
        label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure
        or with decreasing gains, ordering by label need not give the extreme values.
    min_documents : int, default=1
        Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.
    replace_undefined_by : float, default=0.0
        Value of queries for which the metric is undefined. NaN leaves them out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of queries, finite and >= 0. Must not vary within a query.
    average : {"macro", "micro", "median", "geometric", None}, default="macro"
        Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to
        1e-5 if smaller (trec_eval's GMAP), or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in R, the number of relevant documents,
        and in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were
        ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be
        NaN. bpref leaves them out. A query without judged documents is undefined. If None, all documents were
        judged.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights or options are invalid, or their lengths differ.

    References
    ----------
    T. Joachims (2002). Optimizing search engines using clickthrough data. KDD 2002.
    https://doi.org/10.1145/775047.775067

    Examples
    --------
    Only one of the three pairs is in order, 2 above 1:

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
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
) -> _FloatArray: ...
@overload
def pfound_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "median", "geometric"] = "macro",
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    p: float = 0.85,
    gain: Literal["binary", "linear", "exp2"] = "linear",
    max_grade: float = 4,
    relevance_threshold: float | None = None,
) -> float:
    r"""PFound: the probability that a reader who stops with probability 1 - p at each rank finds a satisfying document.

    .. math::

        \mathrm{pFound}@k = \sum_{i=1}^{k} s_i \prod_{j=1}^{i-1} p \, (1 - s_j), \quad \text{by default } s_i =
        \mathrm{label}_i

    This is Yandex's metric, based on the cascade model of clicks. Undefined for a query with no relevant document.

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
        Cutoff rank: only the first k documents of each query count. If None, all count.
    ties : {"average", "best", "worst", "stable"}, default="average"
        How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest
        label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure
        or with decreasing gains, ordering by label need not give the extreme values.
    min_documents : int, default=1
        Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.
    replace_undefined_by : float, default=0.0
        Value of queries for which the metric is undefined. NaN leaves them out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of queries, finite and >= 0. Must not vary within a query.
    average : {"macro", "micro", "median", "geometric", None}, default="macro"
        Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to
        1e-5 if smaller (trec_eval's GMAP), or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in R, the number of relevant documents,
        and in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were
        ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be
        NaN. bpref leaves them out. A query without judged documents is undefined. If None, all documents were
        judged.
    p : float in (0, 1], default=0.85
        Probability that an unsatisfied reader goes on to the next rank.
    gain : {"binary", "linear", "exp2"}, default="linear"
        Probability that a document satisfies the reader: 1 if relevant, else 0; the label itself, which must be
        in [0, 1]; or (2^label - 1) / 2^max_grade.
    max_grade : float in (0, 1000], default=4
        Largest possible grade. Only for gain="exp2".
    relevance_threshold : float or None, default=None
        Smallest label of a relevant document. If None, labels above 0 are relevant.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights or options are invalid, or their lengths differ.

    References
    ----------
    N. Craswell, O. Zoeter, M. Taylor, B. Ramsey (2008). An experimental comparison of click position-bias models. WSDM 2008.
    https://doi.org/10.1145/1341531.1341545

    Examples
    --------
    The reader is satisfied at rank 1 with probability 0.4, or else goes on with 0.6 * 0.85 to rank 2: 0.4 + 0.51 * 1.

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
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
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
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "micro", "median", "geometric"] = "macro",
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    divisor: Literal["k", "retrieved", "min"] = "k",
    relevance_threshold: float | None = None,
) -> float:
    r"""Precision at k: relevant documents among the first k, divided by k.

    .. math::

        \mathrm{P}@k = \frac{1}{k} \sum_{i=1}^{k} \mathrm{rel}_i

    With ``average="micro"``, hits and recommended items are pooled over queries: the item-level hit rate. Undefined for a query with no relevant document.

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
        Cutoff rank: only the first k documents of each query count. If None, all count.
    ties : {"average", "best", "worst", "stable"}, default="average"
        How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest
        label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure
        or with decreasing gains, ordering by label need not give the extreme values.
    min_documents : int, default=1
        Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.
    replace_undefined_by : float, default=0.0
        Value of queries for which the metric is undefined. NaN leaves them out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of queries, finite and >= 0. Must not vary within a query.
    average : {"macro", "micro", "median", "geometric", None}, default="macro"
        Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to
        1e-5 if smaller (trec_eval's GMAP), or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in R, the number of relevant documents,
        and in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were
        ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be
        NaN. bpref leaves them out. A query without judged documents is undefined. If None, all documents were
        judged.
    divisor : {"k", "retrieved", "min"}, default="k"
        Divide by k even if fewer documents were ranked; by min(k, n); or by min(k, R), so that perfect rankings
        have 1 at any k, as in implicit, which pools over queries (micro).
    relevance_threshold : float or None, default=None
        Smallest label of a relevant document. If None, labels above 0 are relevant.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights or options are invalid, or their lengths differ.

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
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    divisor: Literal["k", "retrieved", "min"] = "k",
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def q_measure_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "median", "geometric"] = "macro",
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    gain: _Gain = "linear",
    beta: float = 1.0,
) -> float:
    r"""Q-measure: average precision that blends precision with gains.

    .. math::

        \mathrm{Q}@k = \frac{1}{\min(k, R)} \sum_{i=1}^{k} \mathrm{rel}_i \, \frac{\mathrm{hits}_i + \beta \,
        \mathrm{CG}_i}{i + \beta \, \mathrm{CG}_i \text{ of the ideal order}}

    With beta=0, it is average precision, whatever the gain. Undefined for a query with no relevant document.

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
        Cutoff rank: only the first k documents of each query count. If None, all count.
    ties : {"average", "best", "worst", "stable"}, default="average"
        How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest
        label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure
        or with decreasing gains, ordering by label need not give the extreme values.
    min_documents : int, default=1
        Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.
    replace_undefined_by : float, default=0.0
        Value of queries for which the metric is undefined. NaN leaves them out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of queries, finite and >= 0. Must not vary within a query.
    average : {"macro", "micro", "median", "geometric", None}, default="macro"
        Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to
        1e-5 if smaller (trec_eval's GMAP), or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in R, the number of relevant documents,
        and in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were
        ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be
        NaN. bpref leaves them out. A query without judged documents is undefined. If None, all documents were
        judged.
    gain : "linear", "exp2", "binary", callable, sequence of float or dict, default="linear"
        Gain of a label: the label itself, 2^label - 1, 1 if it is above 0, a function of an array of labels, the
        gains of the grades 0, 1, 2, ..., or a dict of gains by grade.
    beta : float in [0, inf), default=1.0
        Weight of gains relative to hits.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights or options are invalid, or their lengths differ.

    References
    ----------
    T. Sakai (2007). On the reliability of information retrieval metrics based on graded relevance. Information Processing & Management 43(2).
    https://doi.org/10.1016/j.ipm.2006.07.020

    Examples
    --------
    At rank 2, there is 1 hit, the gain is 2 and the ideal gain 2: (1 + 2) / (2 + 2).

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
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
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
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "median", "geometric"] = "macro",
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> float:
    r"""R-precision: precision at rank R, the number of relevant documents; it equals recall at R.

    .. math::

        \mathrm{P}@R = \frac{1}{R} \sum_{i=1}^{R} \mathrm{rel}_i

    Undefined for a query with no relevant document.

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
        How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest
        label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure
        or with decreasing gains, ordering by label need not give the extreme values.
    min_documents : int, default=1
        Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.
    replace_undefined_by : float, default=0.0
        Value of queries for which the metric is undefined. NaN leaves them out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of queries, finite and >= 0. Must not vary within a query.
    average : {"macro", "micro", "median", "geometric", None}, default="macro"
        Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to
        1e-5 if smaller (trec_eval's GMAP), or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in R, the number of relevant documents,
        and in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were
        ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be
        NaN. bpref leaves them out. A query without judged documents is undefined. If None, all documents were
        judged.
    relevance_threshold : float or None, default=None
        Smallest label of a relevant document. If None, labels above 0 are relevant.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights or options are invalid, or their lengths differ.

    References
    ----------
    C. D. Manning, P. Raghavan, H. Schütze (2008). Introduction to Information Retrieval, chapter 8.
    https://doi.org/10.1017/CBO9780511809071

    Examples
    --------
    Two of the three relevant documents are among the first three:

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
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def rbp_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "median", "geometric"] = "macro",
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    p: float = 0.8,
    gain: Literal["binary", "linear", "exp2"] = "binary",
    max_grade: float = 4,
    normalize: bool = False,
    relevance_threshold: float | None = None,
) -> float:
    r"""Rank-biased precision: (1 - p) times the sum over ranks of p^(rank - 1) * gain.

    .. math::

        \mathrm{RBP}@k = (1 - p) \sum_{i=1}^{k} p^{i-1} \, \mathrm{gain}(\mathrm{label}_i)

    This is the rate at which a reader who goes on to the next rank with probability p finds relevant documents. It is
    below 1 even if all documents are relevant, since lists end. With ``normalize=True``, it is 1 for such a list, but
    not relative to the ideal order, which is what LensKit calls normalized. Undefined for a query with no relevant document.

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
        Cutoff rank: only the first k documents of each query count. If None, all count.
    ties : {"average", "best", "worst", "stable"}, default="average"
        How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest
        label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure
        or with decreasing gains, ordering by label need not give the extreme values.
    min_documents : int, default=1
        Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.
    replace_undefined_by : float, default=0.0
        Value of queries for which the metric is undefined. NaN leaves them out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of queries, finite and >= 0. Must not vary within a query.
    average : {"macro", "micro", "median", "geometric", None}, default="macro"
        Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to
        1e-5 if smaller (trec_eval's GMAP), or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in R, the number of relevant documents,
        and in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were
        ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be
        NaN. bpref leaves them out. A query without judged documents is undefined. If None, all documents were
        judged.
    p : float in (0, 1), default=0.8
        Probability that the reader goes on to the next rank.
    gain : {"binary", "linear", "exp2"}, default="binary"
        Probability that a document satisfies the reader: 1 if relevant, else 0; the label itself, which must be
        in [0, 1]; or (2^label - 1) / 2^max_grade.
    max_grade : float in (0, 1000], default=4
        Largest possible grade. Only for gain="exp2".
    normalize : bool, default=False
        Whether to divide by the largest possible value for a list of this length, cut at k: 1 - p^min(k, n).
    relevance_threshold : float or None, default=None
        Smallest label of a relevant document. If None, labels above 0 are relevant.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights or options are invalid, or their lengths differ.

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
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    p: float = 0.8,
    gain: Literal["binary", "linear", "exp2"] = "binary",
    max_grade: float = 4,
    normalize: bool = False,
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def recall_at_k_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "micro", "median", "geometric"] = "macro",
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    normalizer: Literal["relevant", "min"] = "relevant",
    relevance_threshold: float | None = None,
) -> float:
    r"""Recall at k: relevant documents among the first k, divided by R, the number of relevant documents.

    .. math::

        \mathrm{recall}@k = \frac{1}{R} \sum_{i=1}^{k} \mathrm{rel}_i

    Undefined for a query with no relevant document.

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
        Cutoff rank: only the first k documents of each query count. If None, all count.
    ties : {"average", "best", "worst", "stable"}, default="average"
        How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest
        label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure
        or with decreasing gains, ordering by label need not give the extreme values.
    min_documents : int, default=1
        Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.
    replace_undefined_by : float, default=0.0
        Value of queries for which the metric is undefined. NaN leaves them out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of queries, finite and >= 0. Must not vary within a query.
    average : {"macro", "micro", "median", "geometric", None}, default="macro"
        Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to
        1e-5 if smaller (trec_eval's GMAP), or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in R, the number of relevant documents,
        and in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were
        ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be
        NaN. bpref leaves them out. A query without judged documents is undefined. If None, all documents were
        judged.
    normalizer : {"relevant", "min"}, default="relevant"
        Divide by R, or by min(k, R), so that perfect rankings have 1 at any k, as in BEIR (capped recall).
    relevance_threshold : float or None, default=None
        Smallest label of a relevant document. If None, labels above 0 are relevant.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [0, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights or options are invalid, or their lengths differ.

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
    k: int | np.integer[Any] | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    normalizer: Literal["relevant", "min"] = "relevant",
    relevance_threshold: float | None = None,
) -> _FloatArray: ...
@overload
def spearman_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: _Ids | None = None,
    ties: _Ties = "average",
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "median"] = "macro",
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
) -> float:
    r"""Spearman's rho: the correlation of ranks by label with ranks by score.

    .. math::

        \rho = \frac{\operatorname{cov}(r_i, i)}{\operatorname{std}(r_i) \operatorname{std}(i)}, \quad r_i \text{
        the rank by label of the document at rank } i

    Documents with equal labels share their mean rank. For tied scores, it is the expectation over the orders of the
    tied documents, so constant scores give 0. Without tied scores, it equals ``scipy.stats.spearmanr``. Undefined for a query with no two documents with different labels.

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
        How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest
        label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure
        or with decreasing gains, ordering by label need not give the extreme values.
    min_documents : int, default=1
        Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.
    replace_undefined_by : float, default=0.0
        Value of queries for which the metric is undefined. NaN leaves them out of the mean.
    sample_weight : array-like of shape (n_documents,) or, in 2-D, (n_queries,), default=None
        Weights of queries, finite and >= 0. Must not vary within a query.
    average : {"macro", "micro", "median", "geometric", None}, default="macro"
        Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to
        1e-5 if smaller (trec_eval's GMAP), or one value per query in order of first appearance.
    retrieved : array-like of bool, of the shape of y_true, default=None
        False for documents that were judged but not ranked. They count in R, the number of relevant documents,
        and in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were
        ranked.
    judged : array-like of bool, of the shape of y_true, default=None
        False for documents that nobody judged: they count as not relevant, whatever their label, which may be
        NaN. bpref leaves them out. A query without judged documents is undefined. If None, all documents were
        judged.

    Returns
    -------
    score : float or ndarray of shape (n_queries,)
        In [-1, 1]. An array if average=None.

    Raises
    ------
    TypeError
        If y_true is 1-D and there are no query ids, or an argument has the wrong type.
    ValueError
        If labels, scores, ids, weights or options are invalid, or their lengths differ.

    References
    ----------
    C. Spearman (1904). The proof and measurement of association between two things. The American Journal of Psychology 15(1).
    https://doi.org/10.2307/1412159

    Examples
    --------
    The first two of three documents are swapped: 1 - 6 * (1 + 1 + 0) / (3 * (9 - 1)).

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
    min_documents: int | np.integer[Any] = 1,
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    judged: ArrayLike | None = None,
) -> _FloatArray: ...
