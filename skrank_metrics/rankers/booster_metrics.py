"""The metrics of this package inside LightGBM, XGBoost and CatBoost."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from skrank_metrics._engine.from_rows import ranking_from_rows
from skrank_metrics._engine.per_query import per_query
from skrank_metrics._input.arrays import IntArray
from skrank_metrics._input.parameters import check_choice
from skrank_metrics._input.types import Booster
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import MetricLike
from skrank_metrics.metrics.conventions import CONVENTIONS
from skrank_metrics.metrics.names import agree, get_metric

# Names of XGBoost's own metrics; a custom metric of the same name would share their list of values.
_COMPUTED_BY_XGBOOST = re.compile(r"(ndcg|map|auc)(@\d+)?")


@dataclass(frozen=True)
class BoosterMetric:
    """A metric computed per query, named for boosters."""

    metric: BoundMetric

    @property
    def __name__(self) -> str:
        # XGBoost parses names from a line of text, in which a space ends them.
        return str(self.metric).replace(" ", "")

    def _value(self, y_true: Any, y_score: Any, sizes: Any, sample_weight: Any) -> float:
        return float(
            self.metric(y_true, y_score, qid=self._qid(sizes), sample_weight=sample_weight)
        )

    def _qid(self, sizes: Any) -> IntArray:
        if sizes is None or not len(sizes):
            raise ValueError(
                f"{self.__name__} needs queries, but the data hold none. Pass group= and eval_group= to "
                "LGBMRanker.fit, group= to lightgbm.Dataset, or qid= to xgboost.DMatrix."
            )
        return np.repeat(np.arange(len(sizes)), np.asarray(sizes, dtype=np.intp))


class LightGBMMetric(BoosterMetric):
    """A metric that LightGBM can call, from its scikit-learn interface or from ``lightgbm.train``."""

    # LGBMRanker counts the parameters to decide whether to pass weights and group sizes.
    def __call__(
        self, y_true: Any, y_score: Any, weight: Any = None, group: Any = None
    ) -> tuple[str, float, bool]:
        """Compute the metric from (y_true, y_score, weight, group), or (y_score, dataset) in ``lightgbm.train``."""
        if hasattr(y_score, "get_label"):
            dataset, y_score = y_score, y_true
            y_true, weight, group = dataset.get_label(), dataset.get_weight(), dataset.get_group()
        return (
            self.__name__,
            self._value(y_true, y_score, group, weight),
            self.metric.greater_is_better,
        )


class XGBoostMetric(BoosterMetric):
    """A metric that ``xgboost.train`` and ``xgboost.dask.train`` can call."""

    @property
    def __name__(self) -> str:
        name = super().__name__
        return f"{name}_skrank" if _COMPUTED_BY_XGBOOST.fullmatch(name) else name

    def __call__(self, y_score: Any, dmatrix: Any) -> tuple[str, float]:
        """Compute the metric on predictions for a DMatrix."""
        if not hasattr(dmatrix, "get_uint_info"):
            raise TypeError(
                f"dmatrix must be an xgboost.DMatrix, as xgb.train(custom_metric=) passes; got "
                f"{type(dmatrix).__name__}. XGBRanker passes no queries: set eval_metric=builtin_metric(...) there."
            )
        from xgboost import collective

        y_true, weights = dmatrix.get_label(), dmatrix.get_weight()
        sizes = np.diff(dmatrix.get_uint_info("group_ptr").astype(np.intp))
        if collective.get_world_size() > 1:
            return self.__name__, self._value_over_workers(
                collective, y_true, y_score, sizes, weights
            )
        return self.__name__, self._value(
            y_true, y_score, sizes, np.repeat(weights, sizes) if len(weights) else None
        )

    def _value_over_workers(
        self, collective: Any, y_true: Any, y_score: Any, sizes: Any, weights: Any
    ) -> float:
        """The value over all workers, returned by each of them, so that XGBoost's average over workers is the same."""
        sums = (0.0, 0.0)
        failure: Exception | None = None
        try:
            # A worker may have no rows.
            if len(sizes) or len(y_true):
                sums = self._sums(y_true, y_score, sizes, weights)
        except Exception as error:
            # It is raised below, since the other workers wait for the sums of this one.
            failure = error
        # The number of failures is summed, too, so that all workers stop if one fails.
        parts = np.array([*sums, len(sizes), failure is not None], dtype=np.float64)
        terms, shares, n_queries, n_failed = collective.allreduce(parts, collective.Op.SUM).tolist()
        if failure is not None:
            raise failure
        if n_failed:
            raise ValueError(
                f"{self.__name__} failed in another worker; see its log for the error."
            )
        if not n_queries:
            self._qid(())
        return self.metric.of_sums(terms, shares)

    def _sums(self, y_true: Any, y_score: Any, sizes: Any, weights: Any) -> tuple[float, float]:
        """Sums over the queries of this worker."""
        if self.metric.average == "median":
            raise ValueError(
                "average must not be 'median' if there are several workers, since they only share sums; leave it out."
            )
        ranking = ranking_from_rows(y_true, y_score, qid=self._qid(sizes))
        (result,) = per_query(ranking, [self.metric.computation])
        terms, shares = self.metric.terms(
            result, weights.astype(np.float64) if len(weights) else None
        )
        return math.fsum(terms.tolist()), math.fsum(shares.tolist())


def lightgbm_metric(metric: MetricLike, **params: Any) -> LightGBMMetric:
    """Make a metric for ``LGBMRanker.fit(eval_metric=...)`` and ``lightgbm.train(feval=...)``.

    Early stopping then uses the same value as the scorer on the same rows. LightGBM also computes its own metrics
    unless ``metric="None"``; one with the same name, such as "ndcg@5", is recorded in the same list.

    Parameters
    ----------
    metric, **params : object
        Metric to compute, and its parameters, as in get_metric.

    Returns
    -------
    eval_metric : callable
        Called as ``(y_true, y_score, weight, group)`` or ``(y_score, dataset)``. Can be pickled.

    Raises
    ------
    TypeError, ValueError
        As in get_metric; when called, if there are no queries or weights vary within a query.

    Examples
    --------
    The relevant document is first of two in one query and second in the other, so MRR is (1 + 1/2) / 2:

    >>> from skrank_metrics.rankers import lightgbm_metric
    >>> lightgbm_metric("mrr@10")([1, 0, 1, 0], [2.0, 1.0, 1.0, 2.0], None, [2, 2])
    ('mrr@10', 0.75, True)
    """
    return LightGBMMetric(_one_number(metric, params))


def xgboost_metric(metric: MetricLike, **params: Any) -> XGBoostMetric:
    """Make a metric for ``xgboost.train(custom_metric=...)``.

    To stop early by the metric, pass ``xgboost.callback.EarlyStopping(rounds, metric_name=..., maximize=True)``, or
    ``maximize=False`` if smaller is better: XGBoost assumes that larger is better only for ndcg, map and precision, by
    name, and minimizes all other metrics without a warning. The names ndcg, map and auc get the suffix "_skrank", since
    XGBoost would record the values in the same list as those of its own metrics. Scores are float32.

    XGBRanker calls a callable once per query and averages by documents; use builtin_metric there. In
    ``xgboost.dask.train`` and ``SparkXGBRanker``, all workers return the value over the queries of all. The rows of a
    query must be on the same worker, else its parts count as queries.

    Parameters
    ----------
    metric, **params : object
        Metric to compute, and its parameters, as in get_metric.

    Returns
    -------
    custom_metric : callable
        Called as ``(y_score, dmatrix)``; returns the name and the value. Can be pickled.

    Raises
    ------
    TypeError, ValueError
        As in get_metric; when called, if there are no queries, for a median over several workers, or by XGBRanker.

    Examples
    --------
    The rows of lightgbm_metric:

    >>> import numpy as np
    >>> import xgboost
    >>> from skrank_metrics.rankers import xgboost_metric
    >>> dmatrix = xgboost.DMatrix(np.zeros((4, 1)), [1, 0, 1, 0], qid=[0, 0, 1, 1])
    >>> xgboost_metric("mrr@10")(np.array([2.0, 1.0, 1.0, 2.0]), dmatrix)
    ('mrr@10', 0.75)
    """
    return XGBoostMetric(_one_number(metric, params))


def builtin_metric(metric: MetricLike, booster: Booster, **params: Any) -> str:
    """Get the name of XGBoost's or CatBoost's own implementation of a metric.

    XGBRanker and CatBoostRanker pass no queries to a callable; pass this name as their ``eval_metric=`` instead. It
    gives the same value as ``make_ranking_scorer(metric, convention=booster)``.

    Parameters
    ----------
    metric : str, metric function or bound metric
        Metric to compute, as in get_metric.
    booster : {"xgboost", "catboost"}
        Library whose name of the metric to return.
    **params
        Parameters of the metric.

    Returns
    -------
    name : str
        Name for ``XGBRanker(eval_metric=name)`` or ``CatBoostRanker(eval_metric=name)``.

    Raises
    ------
    TypeError, ValueError
        As in get_metric, and if the booster does not have the metric, or not with these parameters.

    Examples
    --------
    >>> from skrank_metrics.rankers import builtin_metric
    >>> builtin_metric("ndcg@10", "xgboost"), builtin_metric("ndcg(gain=exp2)@10", "catboost")
    ('ndcg@10', 'NDCG:top=10;type=Exp')
    """
    check_choice(booster, "booster", ("xgboost", "catboost"))
    names = CONVENTIONS[booster].names
    bound = get_metric(metric, convention=booster, **params)
    name = bound.record.name
    if name not in names:
        raise ValueError(
            f"metric must be one that {booster} computes, {', '.join(names)}; got {name}."
        )
    cutoff = {"k": bound.k} if bound.k else {}
    spelled, own = names[name], get_metric(name, convention=booster, **cutoff)
    # CatBoost's names say which of two gains it uses; all other parameters are as in the convention.
    if spelled.endswith("type=Base") and str(bound.get("gain")) == "exp2":
        spelled, own = spelled.replace("Base", "Exp"), own.replace(gain="exp2")
    if not agree(bound, own):
        raise ValueError(f"metric must be as {booster} computes it, {own}; got {bound}.")
    if bound.k:
        return re.sub(r"\bk\b", str(bound.k), spelled)
    return spelled.replace("top=k", "").replace(":;", ":").rstrip(":")


def _one_number(metric: Any, params: Mapping[str, Any]) -> BoundMetric:
    bound = get_metric(metric, **params)
    bound.check_one_value()
    return bound
