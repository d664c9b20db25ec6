"""Metrics by name, bound to their parameters."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from skrank_metrics._input.parameters import check_choice, nearest
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import COLUMNS, NEGATIVE, Metric, MetricFunction, MetricLike
from skrank_metrics.metrics._registry import REGISTRY
from skrank_metrics.metrics.conventions import CONVENTIONS, ConventionName, convention_defaults
from skrank_metrics.metrics.grammar import GRAMMAR, parse

# Metrics by the names that they have here and in other libraries.

MAX_LENGTH = 64

_FLAT = re.compile(r"(?i)\A([a-z0-9_]*)_at_([1-9][0-9]*)\Z")
# ndcg@5,10 or, as in trec_eval, P_5,10
_CUTOFFS = re.compile(r"([^@]*@|[A-Za-z_]*_)([1-9][0-9]*(?:, ?[1-9][0-9]*)+)")
# The cutoff in a library's name: ndcg@k, P_k, MAP:top=k, ndcgAt(k), but not the word in RetrievalMAP(top_k=k).
_RANK = re.compile(r"(?<=[_@=(])k\b(?!=)")
# Names of peers for the same number. Those of trec_eval, such as "P_5" and "ndcg_cut_10", are in its convention. A name
# of one of scikit-learn's scorers, such as "average_precision", would mean two things in searches.
_OF_PEERS = {
    "p": "precision",
    "r": "recall",
    "rr": "mrr",
    "rprec": "r_precision",
    "success": "hit_rate",
    "hit": "hit_rate",
    "hr": "hit_rate",
    "ap": "map",
    "mean_average_precision": "map",
    "reciprocal_rank": "mrr",
    "gmap": "map(average=geometric)",
    "gm_map": "map(average=geometric)",
    "gm_bpref": "bpref(average=geometric)",
    "set_p": "precision(divisor=retrieved)",
    "set_recall": "recall",
    "set_f": "f1(divisor=retrieved)",
    "nerr": "err(normalize=true)",
    "r_cap": "recall(normalizer=min)",
}


def _function_of(name: str) -> MetricFunction | None:
    """Metric function of a name; without "neg_", the name stands for the function's own value."""
    return REGISTRY.get(name) or REGISTRY.get(NEGATIVE + name)


def expand(metrics: Iterable[Any]) -> list[Any]:
    """Replace names with several cutoffs, such as "ndcg@1,5,10", by one name per cutoff."""
    found = list[Any]()
    for metric in metrics:
        several = None
        # Longer names are refused when they are read.
        if isinstance(metric, str) and len(metric) <= MAX_LENGTH:
            several = _CUTOFFS.fullmatch(metric)
        if several is None:
            found.append(metric)
        else:
            found += [several[1] + k.strip() for k in several[2].split(",")]
    return found


def read(spec: str, convention: str) -> tuple[MetricFunction, bool, dict[str, Any]]:
    """The function of a name, whether the name stands for its negative, and the parameters that it sets."""
    # Names may come from requests and files, so what they cost is bounded.
    if len(spec) > MAX_LENGTH:
        raise ValueError(
            f"A metric name must be at most {MAX_LENGTH} characters long; got {len(spec)}."
        )
    if _CUTOFFS.fullmatch(spec):
        raise ValueError(
            f"A single metric is required here; got {spec!r} with several cutoffs. Pass one."
        )
    in_library = own_spelling(spec, convention)
    # Names of trec_eval are understood everywhere: they are common, and like no name of this package.
    here = in_library or own_spelling(spec, "trec_eval") or spec
    try:
        word, own = parse(_FLAT.sub(r"\1@\2", here))
    except ValueError as error:
        first = re.split(r"[^a-z0-9_]", spec.strip().lower())[0]
        raise ValueError(f"{error}{_hint(first, spec)}") from None
    given = word.lower()
    name, implied = parse(_OF_PEERS.get(given, given))
    k = own.get("k")
    function = _function_of(name)
    if function is None:
        known = ", ".join(sorted(REGISTRY))
        raise ValueError(f"Unknown metric {word!r}.{_hint(name, spec, k)} Known: {known}.")
    params = implied | own
    # "map@10" is the metric of this package, but "AP@10" and "map_cut_10" are known from elsewhere.
    is_of_peer = here != spec or given != name
    if name == "map" and k is not None and is_of_peer and in_library is None:
        _check_divides_by_relevant(spec, convention, params)
    return function, name.startswith(NEGATIVE), params


def own_spelling(spec: str, convention: Any) -> str | None:
    """Spell another library's name of a metric as this package does; None if it is not one."""
    for pattern, name in _names_of(check_choice(convention, "convention", CONVENTIONS)):
        match = pattern.fullmatch(spec)
        if match:
            return "@".join([name, *match.groups()])
    return None


@functools.cache
def _names_of(convention: str) -> list[tuple[re.Pattern[str], str]]:
    """Patterns of another library's names, with the name here."""
    found = []
    for name, names in CONVENTIONS[convention].names.items():
        for spelled in names.split(", "):
            # Names such as ndcgAt(k) have parentheses, which would be a group of the pattern.
            pattern = _RANK.sub("([1-9][0-9]*)", re.escape(spelled))
            found.append((re.compile(pattern), name))
    return found


def _check_divides_by_relevant(spec: str, convention: str, params: dict[str, Any]) -> None:
    """Refuse peers' names of average precision at a cutoff, which mean another number than "map@10"."""
    chosen = {**convention_defaults(convention, "map"), **params}
    if chosen.get("normalizer") != "relevant":
        k = params["k"]
        raise ValueError(
            f"{spec!r} divides by the number of relevant documents elsewhere, but 'map@{k}' by at most {k}. Pass "
            f"convention='trec_eval', or 'map(normalizer=relevant)@{k}'."
        )


def _hint(word: str, spec: str, k: str | None = None) -> str:
    """What may have been meant: a name of another library, or one that is spelled alike."""
    if _function_of(word):  # so the cutoff is wrong
        return ""
    glued = re.fullmatch(r"(\w*[a-z])(\d+)", word)
    function = _function_of(glued[1]) if glued else None
    if glued and function is not None and function.record.has_cutoff:
        return f" Did you mean '{glued[1]}@{glued[2]}'?"
    for convention in CONVENTIONS:
        own = own_spelling(spec, convention)
        if own:
            return f" Did you mean {own!r}, or get_metric({spec!r}, convention={convention!r})?"
    known = [name.removeprefix(NEGATIVE) for name in REGISTRY]
    # Whoever writes "average_precision", even misspelled, does not mean "precision".
    if difflib.get_close_matches(word, ["average_precision"], cutoff=0.8):
        word = "map"
    return nearest(word, known, f"@{k}" if k else "")


# Metrics by name, bound to their parameters.


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
        Further parameters of the metric function, such as ``ties="worst"``. They must not contradict the name.

    Returns
    -------
    bound : BoundMetric
        Called with ``y_true``, ``y_score``, ``qid`` and ``sample_weight``, it returns the value.

    Raises
    ------
    ValueError
        If the metric or the value of a parameter is unknown, or if the convention has a metric of this name that no
        parameters reproduce, such as XGBoost's auc; or if a parameter contradicts the name.
    TypeError
        If ``metric`` is neither a name nor a metric, or a parameter is unknown.

    Examples
    --------
    The first relevant document is at rank 2:

    >>> from skrank_metrics import get_metric
    >>> get_metric("mrr@10")([0, 1, 1], [3.0, 2.0, 1.0], qid=["a", "a", "a"])
    0.5
    """
    named = bind(metric, convention)
    for name, value in params.items():
        if name in named.params and not agree(named.replace(**{name: value}), named):
            raise ValueError(
                f"{name} must not contradict the metric; got {name}={value!r} and {str(named)!r}. Leave out one of "
                "them."
            )
    bound = in_convention(named, convention, **params)
    own, chosen = bound.record.name, CONVENTIONS[convention]
    # A metric that has a name there differs only in details, such as rounding, and is allowed.
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

    >>> from skrank_metrics import evaluate
    >>> from skrank_metrics.metrics import get_metrics
    >>> metrics = get_metrics("mrr", "recall@1,2", ties="worst")
    >>> evaluate([1, 0], [3.0, 3.0], qid=["a", "a"], metrics=metrics).mean
    {'mrr': 0.5, 'recall@1': 0.0, 'recall@2': 1.0}
    """
    if not metrics:
        raise ValueError("metrics must name at least one metric; got none.")
    # A cutoff for all would contradict the names, which are the keys of every result.
    if params.get("k") is not None:
        raise TypeError(
            "k must be part of the names, as in 'ndcg@10'; got k as a further parameter."
        )
    found: dict[str, BoundMetric] = {}
    for metric in expand(metrics):
        # Names stay as given, so that a report shows what its user wrote.
        name = metric if isinstance(metric, str) else str(bind(metric))
        bound = bind(metric, convention)
        chosen = dict(params)
        # A count has no undefined queries, but the other metrics of the list may.
        if bound.always_defined:
            chosen.pop("replace_undefined_by", None)
        bound = get_metric(bound, convention=convention, **chosen)
        # The same metric twice does no harm; another one under its name would be lost.
        if found.setdefault(name, bound).definition != bound.definition:
            raise ValueError(f"metrics must have different names; got two named {name!r}.")
    return found


def in_convention(metric: Any, convention: str, **params: Any) -> BoundMetric:
    """Return the metric with the defaults of a convention, even if they do not reproduce the library."""
    bound = bind(metric, convention)
    defaults = convention_defaults(convention, bound.record.name)
    # What a name or a keyword sets wins over the library's default.
    return BoundMetric(bound.function, {**defaults, **bound.params, **params}, bound.negative)


def bind(metric: Any, convention: str = "sklearn") -> BoundMetric:
    """Return the metric with the parameters that its name sets; the convention only tells how to read the name."""
    if isinstance(metric, str):
        function, negative, params = read(metric, convention)
        try:
            return BoundMetric(function, params, negative)
        except (TypeError, ValueError) as error:
            # A bad name is a bad value, not a bad type.
            raise ValueError(f"{metric!r}: {error}") from None
    if isinstance(metric, BoundMetric):
        return metric
    if not isinstance(metric, MetricFunction) or not isinstance(metric.record, Metric):
        hint = " Make a metric from your own function with make_metric." if callable(metric) else ""
        raise TypeError(
            f"metric must be a name {GRAMMAR} or a metric function of skrank_metrics; got {type(metric).__name__}."
            f"{hint}"
        )
    # Of a metric function, nothing is set.
    return BoundMetric(metric, {})


def bind_metrics(metrics: Any, convention: ConventionName = "sklearn") -> dict[str, BoundMetric]:
    """Bind what an argument ``metrics=`` holds: a name, a metric, a sequence of them, or a dict by name."""
    # Keys of a dict name the columns of the report.
    if isinstance(metrics, Mapping):
        bound = {name: _bind_named(name, metrics[name], convention) for name in metrics}
    else:
        is_one = isinstance(metrics, str) or not isinstance(metrics, Sequence | np.ndarray)
        bound = get_metrics(*([metrics] if is_one else metrics), convention=convention)
    if not bound:
        raise ValueError("metrics must name at least one metric; got none.")
    for one in bound.values():
        one.check_one_value()
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
    # A key that is a metric's name must not be the title of another metric, in a table that is read later.
    is_same = meant.function is bound.function and meant.negative == bound.negative
    if not is_same or not agree(bound.replace(**meant.params), bound):
        raise ValueError(
            f"metrics must not hold {str(bound)!r} under the name {name!r}, a different metric."
        )
    return bound


def agree(one: BoundMetric, other: BoundMetric) -> bool:
    """Whether two metrics give the same values and means."""
    return one.definition == other.definition and one.average == other.average


def get_metric_names() -> list[str]:
    """List the names of all metrics, as used in strings such as "ndcg@10".

    Returns
    -------
    names : list of str
        In alphabetical order.

    Examples
    --------
    >>> from skrank_metrics.metrics import get_metric_names
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
    # Columns of equal definition hold equal values, so the first of them will do.
    for name, own in columns.items():
        if own is not None and agree(own, bound):
            return name
    return None


def check_column(metric: Any, columns: Mapping[str, BoundMetric | None]) -> str:
    """Name of the column that holds a metric; raise an error if there is none."""
    return str(check_choice(column_of(metric, columns) or metric, "metric", columns))
