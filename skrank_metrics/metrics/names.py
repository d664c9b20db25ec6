"""Names of metrics: ``name[(param=value, ...)][@k]``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import check_choice, nearest
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import COLUMNS, NEGATIVE, Metric, MetricFunction, MetricLike
from skrank_metrics.metrics._registry import REGISTRY
from skrank_metrics.metrics.conventions import (
    CONVENTIONS,
    ConventionName,
    convention_defaults,
    own_spelling,
)

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
# Names of peers for the same number. Those of trec_eval, such as "P_5" and "ndcg_cut_10", are in its convention.
_OF_PEERS = {
    "p": "precision",
    "r": "recall",
    "rr": "mrr",
    "rprec": "r_precision",
    "success": "hit_rate",
    "hit": "hit_rate",
    "hr": "hit_rate",
    "ap": "map",
}
# Common names elsewhere that no convention has and that are spelled like other metrics here, or like none.
_ELSEWHERE = {"average_precision": "map", "gmap": "map(average=geometric)", "roc_auc": "auc"}
# Names of metrics with a parameter.
_WITH_PARAMETER = {"nerr": ("err", {"normalize": True})}
_GRAMMAR = 'like "ndcg@10", "map" or "ndcg(gain=exp2)@10"'


def get_metric(
    metric: MetricLike, *, convention: ConventionName = "sklearn", **params: Any
) -> BoundMetric:
    """Get a metric by name, ready to be called.

    Parameters
    ----------
    metric : str, metric function or bound metric
        A name such as "ndcg@10", "map" or "ndcg(gain=exp2)@10": the metric, its parameters in parentheses, and the
        cutoff rank after "@". "NDCG@10" and "ndcg_at_10" are the same as "ndcg@10", and "nerr@10" is
        "err(normalize=True)@10". Common names of the same metrics are accepted, too: "P@5", "R@5", "RR", "Rprec",
        "success@5", "HR@5", "P_5", "ndcg_cut_10"; and, with a convention, all names of that library. If smaller
        values are better, as for "fall_out@10", "neg_fall_out@10" is the negative.
    convention : str, default="sklearn"
        Library whose defaults apply to parameters that are not set explicitly, to reproduce its values, such as
        "lightgbm", "trec_eval" or "quepid". An unknown name raises an error that lists all.
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


def get_metrics(
    *metrics: MetricLike, convention: ConventionName = "sklearn", **params: Any
) -> dict[str, BoundMetric]:
    """Get several metrics by name, with the same settings for all.

    The result is accepted wherever an argument is called ``metrics``.

    Parameters
    ----------
    *metrics : str, metric functions or bound metrics
        Metrics as in get_metric. "ndcg@1,5,10" is short for three names.
    convention : str, default="sklearn"
        Library whose defaults apply to all metrics, as in get_metric.
    **params
        Parameters of all metrics, such as ``ties="worst"`` or ``replace_undefined_by=1``. They must not contradict a
        name. Metrics that are defined for every query have no value to replace.

    Returns
    -------
    metrics : dict of str to BoundMetric
        The metrics by their names as given.

    Raises
    ------
    TypeError, ValueError
        As get_metric, and if there are no metrics, two different ones have the same name, or a parameter contradicts
        a name.

    See Also
    --------
    evaluate : Compute several metrics of a ranking.

    Examples
    --------
    The relevant document is tied with another one, so at worst it is at rank 2:

    >>> from skrank_metrics import evaluate, get_metrics
    >>> metrics = get_metrics("mrr", "recall@1,2", ties="worst")
    >>> evaluate([1, 0], [3.0, 3.0], qid=["a", "a"], metrics=metrics).mean
    {'mrr': 0.5, 'recall@1': 0.0, 'recall@2': 1.0}
    """
    if not metrics:
        raise ValueError("metrics must name at least one metric; got none.")
    if params.get("k") is not None:
        raise TypeError(
            "k must be part of the names, as in 'ndcg@10'; got k as a further parameter."
        )
    found: dict[str, BoundMetric] = {}
    for metric in expand(metrics, convention):
        name = metric if isinstance(metric, str) else str(bind(metric))
        bound = _with_params(metric, convention, params)
        if found.setdefault(name, bound).definition != bound.definition:
            raise ValueError(f"metrics must have different names; got two named {name!r}.")
    return found


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
            names if names and ("@" in metric or _in_trec_eval(names[0], convention)) else [metric]
        )
    return found


def bind_metrics(metrics: Any, convention: ConventionName = "sklearn") -> dict[str, BoundMetric]:
    """Bind what an argument ``metrics=`` holds: a name, a metric, a sequence of them, or a dict by name."""
    if isinstance(metrics, Mapping):
        bound = {name: _bind_named(name, metrics[name], convention) for name in metrics}
    elif isinstance(metrics, Sequence | np.ndarray) and not isinstance(metrics, str):
        bound = get_metrics(*metrics, convention=convention)
    else:
        bound = get_metrics(metrics, convention=convention)
    if not bound:
        raise ValueError("metrics must name at least one metric; got none.")
    for metric in bound.values():
        if metric.average is None:
            raise ValueError(
                f"metrics must not have average=None in a report; got {str(metric)!r}. Leave average out: "
                "report.per_query holds the values per query."
            )
    return bound


def _bind_named(name: Any, metric: Any, convention: ConventionName) -> BoundMetric:
    """Bind an entry of a dict of metrics, whose key may be the name of this metric, but not of another one."""
    if not isinstance(name, str):
        raise TypeError(f"metrics must be keyed by strings; got {name!r}.")
    if name in COLUMNS:
        raise ValueError(
            f"metrics must not be named like another column of reports, {', '.join(COLUMNS)}; got {name!r}."
        )
    bound = get_metric(metric, convention=convention)
    try:
        meant = bind(name, convention)
    except ValueError:  # a name of the user's own
        return bound
    agrees = meant.function is bound.function and meant.negative == bound.negative
    if not agrees or not all(_same(bound.get(p), value) for p, value in meant.params.items()):
        raise ValueError(
            f"metrics must not hold {str(bound)!r} under the name {name!r}, a different metric."
        )
    return bound


def _with_params(metric: Any, convention: ConventionName, params: Mapping[str, Any]) -> BoundMetric:
    """Bind a metric with parameters that are meant for several metrics."""
    bound = bind(metric, convention)
    for name, value in params.items():
        if name in bound.params and not _same(bound.params[name], value):
            raise ValueError(
                f"{name} must not contradict a metric; got {name}={value!r} and {str(bound)!r}. Leave out one of them."
            )
    own = dict(params)
    if bound.always_defined:
        own.pop("replace_undefined_by", None)
    return get_metric(bound, convention=convention, **own)


def _same(one: Any, other: Any) -> bool:
    """Whether two values of a parameter are equal; NaN equals NaN."""
    both_nan = one != one and other != other
    return both_nan or bool(np.array_equal(one, other))


def _parse(spec: str, convention: str = "sklearn") -> BoundMetric:
    """Parse a name, in the spelling of this package or of a convention."""
    if len(spec) > MAX_LENGTH:
        raise ValueError(
            f"A metric name must be at most {MAX_LENGTH} characters long; got {len(spec)}."
        )
    several = expand([spec], convention)
    if len(several) > 1:
        raise ValueError(
            f"A single metric is required here; got {spec!r} with several cutoffs. Pass one: {several[0]!r}."
        )
    own = own_spelling(spec, convention)
    here = own or own_spelling(spec, "trec_eval") or spec
    flat = _FLAT.fullmatch(here.lower())
    match = _SPEC.fullmatch(f"{flat[1]}@{flat[2]}" if flat else here)
    if match is None:
        word = re.split(r"[^a-z0-9_]", spec.strip().lower())[0]
        hint = "" if _function(word) else _hint(word, spec)
        raise ValueError(f"A metric name must be {_GRAMMAR}, with k >= 1; got {spec!r}.{hint}")
    given, inner, k = match[1].lower(), match[2], match[3]
    name = _OF_PEERS.get(given, given)
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
        is_of_peer = own is None and (here != spec or given != name)
        if is_of_peer and name == "map":
            _check_divides_by_relevant(spec, convention, params)
    try:
        return BoundMetric(function, params, negative=name.startswith(NEGATIVE))
    except (TypeError, ValueError) as error:
        # A bad name is a bad value, not a bad type.
        raise ValueError(f"{spec!r}: {error}") from None


def _in_trec_eval(spec: str, convention: str) -> str | None:
    """The spelling here of a name of the convention or of trec_eval."""
    return own_spelling(spec, convention) or own_spelling(spec, "trec_eval")


def _check_divides_by_relevant(spec: str, convention: str, params: Mapping[str, Any]) -> None:
    """Refuse peers' names of average precision at a cutoff, which mean another number than "map@10"."""
    normalizer = {**convention_defaults(convention, "map"), **params}.get("normalizer")
    if normalizer != "relevant":
        named = [peer for peer in CONVENTIONS if own_spelling(spec, peer)]
        k = params["k"]
        raise ValueError(
            f"{spec!r} divides by the number of relevant documents elsewhere, but 'map@{k}' by at most {k}. Pass "
            f"convention={(named or ['trec_eval'])[0]!r}, or 'map(normalizer=relevant)@{k}'."
        )


def _function(name: str) -> MetricFunction | None:
    """Metric function of a name; without "neg_", the name stands for the function's own value."""
    name = _WITH_PARAMETER.get(name, (name,))[0]
    return REGISTRY.get(name) or REGISTRY.get(NEGATIVE + name)


def _hint(name: str, spec: str, k: str | None = None) -> str:
    """What may have been meant: a name of another library, or one that is spelled alike."""
    for any_case, convention in product((False, True), CONVENTIONS):
        own = own_spelling(spec, convention, any_case=any_case)
        if own:
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
