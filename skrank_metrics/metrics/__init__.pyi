"""Signatures of the metric functions. Written by docs/generate.py; do not edit."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Ties: TypeAlias = Literal["average", "best", "worst", "stable"]
_Gain: TypeAlias = Literal["linear", "exp2"] | Callable[[NDArray[np.float64]], ArrayLike] | Sequence[float]
_Discount: TypeAlias = Literal["log2", "reciprocal"] | Callable[[NDArray[np.float64]], ArrayLike]

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
    qid: Any = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "micro"] = "macro",
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> float: ...
@overload
def auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> NDArray[np.float64]: ...
@overload
def bpref_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> float: ...
@overload
def bpref_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> NDArray[np.float64]: ...
@overload
def cg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
) -> float: ...
@overload
def cg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def dcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
    gain: _Gain = "linear",
    discount: _Discount = "log2",
) -> float: ...
@overload
def dcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    gain: _Gain = "linear",
    discount: _Discount = "log2",
) -> NDArray[np.float64]: ...
@overload
def err_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
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
) -> float: ...
@overload
def err_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
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
) -> NDArray[np.float64]: ...
@overload
def f1_at_k_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "micro"] = "macro",
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> float: ...
@overload
def f1_at_k_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> NDArray[np.float64]: ...
@overload
def hit_rate_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> float: ...
@overload
def hit_rate_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> NDArray[np.float64]: ...
@overload
def kendall_tau_distance(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "micro"] = "macro",
    retrieved: ArrayLike | None = None,
    normalize: bool = False,
) -> float: ...
@overload
def kendall_tau_distance(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    normalize: bool = False,
) -> NDArray[np.float64]: ...
@overload
def kendall_tau_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
) -> float: ...
@overload
def kendall_tau_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def map_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
    normalizer: Literal["min", "relevant", "hits"] = "min",
    relevance_threshold: float | None = None,
) -> float: ...
@overload
def map_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    normalizer: Literal["min", "relevant", "hits"] = "min",
    relevance_threshold: float | None = None,
) -> NDArray[np.float64]: ...
@overload
def mrr_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> float: ...
@overload
def mrr_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> NDArray[np.float64]: ...
@overload
def ndcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
    gain: _Gain = "linear",
    discount: _Discount = "log2",
) -> float: ...
@overload
def ndcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    gain: _Gain = "linear",
    discount: _Discount = "log2",
) -> NDArray[np.float64]: ...
@overload
def nerr_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
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
) -> float: ...
@overload
def nerr_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
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
) -> NDArray[np.float64]: ...
@overload
def pairwise_accuracy_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "micro"] = "macro",
    retrieved: ArrayLike | None = None,
) -> float: ...
@overload
def pairwise_accuracy_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
@overload
def pfound_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
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
) -> float: ...
@overload
def pfound_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
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
) -> NDArray[np.float64]: ...
@overload
def precision_at_k_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "micro"] = "macro",
    retrieved: ArrayLike | None = None,
    divisor: Literal["k", "retrieved"] = "k",
    relevance_threshold: float | None = None,
) -> float: ...
@overload
def precision_at_k_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    divisor: Literal["k", "retrieved"] = "k",
    relevance_threshold: float | None = None,
) -> NDArray[np.float64]: ...
@overload
def q_measure_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
    gain: _Gain = "linear",
    beta: float = 1.0,
) -> float: ...
@overload
def q_measure_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    gain: _Gain = "linear",
    beta: float = 1.0,
) -> NDArray[np.float64]: ...
@overload
def r_precision_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> float: ...
@overload
def r_precision_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> NDArray[np.float64]: ...
@overload
def rbp_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
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
) -> float: ...
@overload
def rbp_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
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
) -> NDArray[np.float64]: ...
@overload
def recall_at_k_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro", "micro"] = "macro",
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> float: ...
@overload
def recall_at_k_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    k: int | None = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
    relevance_threshold: float | None = None,
) -> NDArray[np.float64]: ...
@overload
def spearman_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: Literal["macro"] = "macro",
    retrieved: ArrayLike | None = None,
) -> float: ...
@overload
def spearman_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: Any = None,
    ties: _Ties = "average",
    replace_undefined_by: float = 0.0,
    sample_weight: ArrayLike | None = None,
    average: None,
    retrieved: ArrayLike | None = None,
) -> NDArray[np.float64]: ...
