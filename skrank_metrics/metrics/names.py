"""Names of metrics: ``name[(param=value, ...)][@k]``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import check_choice, nearest
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import NEGATIVE, Metric, MetricFunction
from skrank_metrics.metrics._registry import REGISTRY
from skrank_metrics.metrics.conventions import CONVENTIONS, convention_defaults, own_spelling

MAX_LENGTH = 64

# Matching never backtracks, so it takes linear time. Unlike int(), "[0-9]" accepts ASCII digits only.
_SPEC = re.compile(r"([A-Za-z][A-Za-z0-9_]*)(?:\(([^()@]*)\))?(?:@([1-9][0-9]*))?")
_FLAT = re.compile(r"([a-z0-9_]*)_at_([1-9][0-9]*)")
_CUTOFFS = re.compile(
    r"([^@]*@|[A-Za-z_]*_)([1-9][0-9]*(?:, ?[1-9][0-9]*)+)"
)  # ndcg@5,10 or, as in trec_eval, P_5,10
_NAME_AND_RANK = re.compile(r"([a-z_]+?)_?([1-9][0-9]*)")
_PARAM = re.compile(r" ?([a-z_]+) ?= ?([A-Za-z0-9_.+-]+) ?")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?")
_WORDS = {"none": None, "true": True, "false": False, "nan": float("nan")}
# Common names elsewhere that no convention has and that are spelled like other metrics here, or like none.
_ELSEWHERE = {"average_precision": "map", "gmap": "map(average=geometric)", "roc_auc": "auc"}
# Names of metrics with a parameter.
_WITH_PARAMETER = {"nerr": ("err", {"normalize": True})}
_GRAMMAR = 'like "ndcg@10", "map" or "ndcg(gain=exp2)@10"'


def get_metric(metric: Any, *, convention: str = "sklearn", **params: Any) -> BoundMetric:
    """Get a metric by name, ready to be called.

    Parameters
    ----------
    metric : str, metric function or bound metric
        A name such as "ndcg@10", "map" or "ndcg(gain=exp2)@10": the metric, its parameters in parentheses, and the
        cutoff rank after "@". "NDCG@10" and "ndcg_at_10" are the same as "ndcg@10", and "nerr@10" is
        "err(normalize=True)@10". With a convention, the names of that library are also accepted, such as trec_eval's
        "P_5". If smaller values are better, as for "fall_out@10", "neg_fall_out@10" is the negative.
    convention : str, default="sklearn"
        Library whose defaults apply to parameters that are not set explicitly, to reproduce its values: "sklearn",
        "trec_eval", "lightgbm", "xgboost", "catboost", "ranx", "ir_measures", "rax", "spark", "tf_ranking" or
        "torchmetrics".
    **params
        Further parameters of the metric function, such as ``ties="worst"``. They override those in the name.

    Returns
    -------
    bound : BoundMetric
        Called with ``y_true``, ``y_score``, ``qid`` and ``sample_weight``, it returns the value.

    Raises
    ------
    ValueError
        If the metric or the value of a parameter is unknown, or if the convention has a metric of this name that no
        parameters reproduce, such as XGBoost's auc.
    TypeError
        If ``metric`` is neither a name nor a metric, or a parameter is unknown.

    Examples
    --------
    The first relevant document is at rank 2:

    >>> from skrank_metrics import get_metric
    >>> get_metric("mrr@10")([0, 1, 1], [3.0, 2.0, 1.0], qid=["a", "a", "a"])
    0.5
    """
    bound = in_convention(metric, convention, **params)
    own, chosen = bound.record.name, CONVENTIONS[convention]
    if own in chosen.differs and own not in chosen.names:
        raise ValueError(
            f"metric {own!r} of convention={convention!r} cannot be reproduced: {chosen.differs[own]} Leave out the "
            f"convention to compute {own!r} as this package does."
        )
    return bound


def in_convention(metric: Any, convention: str, **params: Any) -> BoundMetric:
    """Return the metric with the defaults of a convention, even if they do not reproduce the library."""
    bound = bind(metric, convention)
    defaults = convention_defaults(convention, bound.record.name)
    return BoundMetric(bound.function, {**defaults, **bound.params, **params}, bound.negative)


def bind(metric: Any, convention: str = "sklearn") -> BoundMetric:
    """Return the metric with the parameters that its name sets; the convention only tells how to read the name."""
    if isinstance(metric, str):
        return _parse(metric, convention)
    if isinstance(metric, BoundMetric):
        return metric
    if not isinstance(metric, MetricFunction) or not isinstance(metric.record, Metric):
        hint = " Make a metric from your own function with make_metric." if callable(metric) else ""
        raise TypeError(
            f"metric must be a name {_GRAMMAR} or a metric function of skrank_metrics; got {type(metric).__name__}."
            f"{hint}"
        )
    return BoundMetric(metric, {})


def expand(metrics: Iterable[Any], convention: str = "sklearn") -> list[Any]:
    """Replace names with several cutoffs, such as "ndcg@1,5,10", by one name per cutoff."""
    found = list[Any]()
    for metric in metrics:
        several = (
            isinstance(metric, str) and len(metric) <= MAX_LENGTH and _CUTOFFS.fullmatch(metric)
        )
        names = [several[1] + k.strip() for k in several[2].split(",")] if several else []
        found += (
            names if names and ("@" in metric or own_spelling(names[0], convention)) else [metric]
        )
    return found


def bind_metrics(
    metrics: Any, convention: str = "sklearn", **overrides: Any
) -> dict[str, BoundMetric]:
    """Bind one or several metrics, keyed by their names as given. Overrides that are None are ignored."""
    overrides = {name: value for name, value in overrides.items() if value is not None}
    given = (
        [metrics]
        if isinstance(metrics, str) or not isinstance(metrics, Sequence | np.ndarray)
        else list(metrics)
    )
    if not given:
        raise ValueError("metrics must name at least one metric; got none.")
    bound: dict[str, BoundMetric] = {}
    for metric in expand(given, convention):
        name = metric if isinstance(metric, str) else str(bind(metric))
        new = _with_overrides(metric, convention, **overrides)
        if bound.setdefault(name, new).definition != new.definition:
            raise ValueError(f"metrics must have different names; got two named {name!r}.")
    return bound


def _with_overrides(metric: Any, convention: str, **overrides: Any) -> BoundMetric:
    bound = bind(metric, convention)
    for name, value in overrides.items():
        own = bound.params.get(name, value)
        if own != value and not own != own != value != value:
            raise ValueError(
                f"{name} must not contradict a metric; got {name}={value!r} and {str(bound)!r}. Leave out one of them."
            )
    if bound.average is None:
        raise ValueError(
            f"metrics must not have average=None in a report; got {str(bound)!r}. Leave average out: report.per_query "
            "holds the values per query."
        )
    if bound.always_defined:
        overrides.pop("replace_undefined_by", None)
    return get_metric(bound, convention=convention, **overrides)


def _parse(spec: str, convention: str = "sklearn") -> BoundMetric:
    """Parse a name, in the spelling of this package or of a convention."""
    if len(spec) > MAX_LENGTH:
        raise ValueError(
            f"A metric name must be at most {MAX_LENGTH} characters long; got {len(spec)}."
        )
    if len(several := expand([spec], convention)) > 1:
        raise ValueError(
            f"A single metric is required here; got {spec!r} with several cutoffs. Pass one: {several[0]!r}."
        )
    spec = own_spelling(spec, convention) or spec
    flat = _FLAT.fullmatch(spec.lower())
    match = _SPEC.fullmatch(f"{flat[1]}@{flat[2]}" if flat else spec)
    if match is None:
        word = re.split(r"[^a-z0-9_]", spec.strip().lower())[0]
        hint = "" if _function(word) else _hint(word, spec)
        raise ValueError(f"A metric name must be {_GRAMMAR}, with k >= 1; got {spec!r}.{hint}")
    name, inner, k = match[1].lower(), match[2], match[3]
    function = _function(name)
    if function is None:
        raise ValueError(
            f"Unknown metric {match[1]!r}.{_hint(name, spec, k)} Known: {', '.join(sorted(REGISTRY))}."
        )
    params = {
        **_WITH_PARAMETER.get(name, ("", {}))[1],
        **({} if inner is None else _params(inner, spec)),
    }
    if k is not None:
        params["k"] = int(k)
    try:
        return BoundMetric(function, params, negative=name.startswith(NEGATIVE))
    except (TypeError, ValueError) as error:
        # A bad name is a bad value, not a bad type.
        raise ValueError(f"{spec!r}: {error}") from None


def _function(name: str) -> MetricFunction | None:
    """Metric function of a name; without "neg_", the name stands for the function's own value."""
    name = _WITH_PARAMETER.get(name, (name,))[0]
    return REGISTRY.get(name) or REGISTRY.get(NEGATIVE + name)


def _hint(name: str, spec: str, k: str | None = None) -> str:
    """What may have been meant: a name of another library, or one that is spelled alike."""
    for any_case, convention in product((False, True), CONVENTIONS):
        if own := own_spelling(spec, convention, any_case=any_case):
            other = "" if any_case else f", or get_metric({spec!r}, convention={convention!r})"
            return f" Did you mean {own!r}{other}?"
    without_at = _NAME_AND_RANK.fullmatch(name)
    word, rank = without_at.groups() if without_at and k is None else (name, k)
    ending = f"@{rank}" if rank else ""
    if word in _ELSEWHERE:
        return f" Did you mean '{_ELSEWHERE[word]}{ending}'?"
    return nearest(
        word, [*(own.removeprefix(NEGATIVE) for own in REGISTRY), *_WITH_PARAMETER], ending
    )


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


def column_of(metric: Any, columns: Mapping[str, BoundMetric | None]) -> str | None:
    """Name of the column that holds a metric; None if there is none.

    The metric is the name of the column, or a metric or name with the same definition, such as "NDCG@5".
    """
    if isinstance(metric, str) and metric in columns:
        return metric
    try:
        bound = bind(metric)
    except (TypeError, ValueError):
        return None
    wanted = bound.definition, bound.average
    same = [
        name
        for name, own in columns.items()
        if own is not None and (own.definition, own.average) == wanted
    ]
    return str(bound) if str(bound) in same else same[0] if len(same) == 1 else None


def check_column(metric: Any, columns: Mapping[str, BoundMetric | None]) -> str:
    """Name of the column that holds a metric; raise an error if there is none."""
    return str(check_choice(column_of(metric, columns) or metric, "metric", columns))
