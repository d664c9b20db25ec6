"""Names of metrics: ``name[(param=value, ...)][@k]``."""

from __future__ import annotations

import re
from typing import Any

from skrank_metrics._input.arrays import nearest
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import Metric, MetricFunction
from skrank_metrics.metrics._registry import REGISTRY
from skrank_metrics.metrics.conventions import convention_defaults

MAX_LENGTH = 64

# Matching never backtracks, so it takes linear time. Unlike int(), "[0-9]" accepts ASCII digits only.
_SPEC = re.compile(r"([a-z][a-z0-9_]*)(?:\(([^()@]*)\))?(?:@([1-9][0-9]*))?")
_FLAT = re.compile(r"([a-z0-9_]*)_at_([1-9][0-9]*)")
_PARAM = re.compile(r" ?([a-z_]+) ?= ?([A-Za-z0-9_.+-]+) ?")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?")
_WORDS = {"none": None, "true": True, "false": False, "nan": float("nan")}
# Names elsewhere that are not spelled alike.
_ELSEWHERE = {
    "ap": "map",
    "average_precision": "map",
    "mean_average_precision": "map",
    "p": "precision",
    "reciprocal_rank": "mrr",
    "rr": "mrr",
    "success": "hit_rate",
    "tau": "kendall_tau",
    "roc_auc": "auc",
}
_GRAMMAR = 'like "ndcg@10", "map" or "ndcg(gain=exp2)@10"'


def get_metric(metric: Any, *, convention: str = "sklearn", **params: Any) -> BoundMetric:
    """Return the metric that a name denotes, ready to be called.

    Parameters
    ----------
    metric : str, metric function or bound metric
        A name such as "ndcg@10", "map" or "ndcg(gain=exp2)@10": the metric, its parameters in parentheses, and the
        cutoff rank after "@". "ndcg_at_10" is the same as "ndcg@10".
    convention : {"sklearn", "trec_eval", "lightgbm", "xgboost", "catboost"}, default="sklearn"
        Library whose defaults apply to parameters that are not set explicitly, to reproduce its numbers.
    **params
        Further parameters of the metric function, such as ``ties="worst"``; they override those in the name.

    Returns
    -------
    bound : BoundMetric
        Called with ``y_true``, ``y_score``, ``qid`` and ``sample_weight``, it returns the value.

    Raises
    ------
    ValueError
        If the metric or the value of a parameter is unknown.
    TypeError
        If ``metric`` is neither a name nor a metric, or a parameter is unknown.

    Examples
    --------
    The first relevant document is at rank 2:

    >>> from skrank_metrics import get_metric
    >>> get_metric("mrr@10")([0, 1, 1], [3.0, 2.0, 1.0], qid=["a", "a", "a"])
    0.5
    """
    if isinstance(metric, str):
        bound = parse(metric)
    elif isinstance(metric, BoundMetric):
        bound = metric
    elif isinstance(metric, MetricFunction) and isinstance(metric.record, Metric):
        bound = BoundMetric(metric, {})
    else:
        hint = " Make a metric of your own function with make_metric." if callable(metric) else ""
        raise TypeError(
            f"metric must be a name {_GRAMMAR} or a metric function of skrank_metrics; got {type(metric).__name__}."
            f"{hint}"
        )
    defaults = convention_defaults(convention, bound.record.name)
    return BoundMetric(bound.function, {**defaults, **bound.params, **params}, bound.negative)


def parse(spec: str) -> BoundMetric:
    """Parse a name."""
    if len(spec) > MAX_LENGTH:
        raise ValueError(f"A metric name must be at most {MAX_LENGTH} characters long; got {len(spec)}.")
    match = _SPEC.fullmatch(spec)
    if match is None:
        word = re.split(r"[^a-z0-9_]", spec.strip().lower())[0]
        hint = "" if word in REGISTRY else _hint(word)
        raise ValueError(f"A metric name must be {_GRAMMAR}, in lower case and with k >= 1; got {spec!r}.{hint}")
    name, inner, k = match.groups()
    flat = _FLAT.fullmatch(spec)
    if flat and name not in REGISTRY:
        name, k = flat.groups()
    if name not in REGISTRY:
        raise ValueError(f"Unknown metric {name!r}.{_hint(name)} Known: {', '.join(sorted(REGISTRY))}.")
    params = {} if inner is None else _params(inner, spec)
    if k is not None:
        params["k"] = int(k)
    try:
        return BoundMetric(REGISTRY[name], params, negative=not REGISTRY[name].record.greater_is_better)
    except TypeError as error:
        # A bad name is a bad value, not a bad type.
        raise ValueError(f"{spec!r}: {error}") from None


def _hint(name: str) -> str:
    without_at = re.fullmatch(r"([a-z_]+?)_?([1-9][0-9]*)", name)
    if without_at and without_at[1] in REGISTRY:
        return f" Did you mean '{without_at[1]}@{without_at[2]}'?"
    return f" Did you mean {_ELSEWHERE[name]!r}?" if name in _ELSEWHERE else nearest(name, REGISTRY)


def _params(inner: str, spec: str) -> dict[str, Any]:
    params: dict[str, Any] = {}
    for part in inner.split(","):
        match = _PARAM.fullmatch(part)
        if match is None or match[1] in params or match[1] == "k":
            raise ValueError(
                f"Parameters of a metric name must be written (param=value, ...), each once, and k after '@'; "
                f"got {part!r} in {spec!r}."
            )
        params[match[1]] = _value(match[2])
    return params


def _value(word: str) -> Any:
    if _NUMBER.fullmatch(word):
        return float(word) if "." in word or "e" in word else int(word)
    return _WORDS.get(word.lower(), word)


def get_metric_names() -> list[str]:
    """List the names of all metrics, as used in strings such as "ndcg@10".

    Returns
    -------
    names : list of str
        In alphabetical order.

    Examples
    --------
    >>> from skrank_metrics import get_metric_names
    >>> "ndcg" in get_metric_names()
    True
    """
    return sorted(REGISTRY)
