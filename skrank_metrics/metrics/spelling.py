"""Metrics by the names that they have here and in other libraries."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterable
from typing import Any

from skrank_metrics._input.parameters import check_choice, nearest
from skrank_metrics.metrics._record import NEGATIVE, MetricFunction
from skrank_metrics.metrics._registry import REGISTRY
from skrank_metrics.metrics.conventions import CONVENTIONS, convention_defaults
from skrank_metrics.metrics.grammar import parse

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
    "accuracy": "hit_rate",
    "ap": "map",
    "mean_average_precision": "map",
    "reciprocal_rank": "mrr",
    "gmap": "map(average=geometric)",
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
    _check_is_one(spec)
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
    if k is not None:
        # "map@10" is the metric of this package, but "AP@10" and "map_cut_10" are known from elsewhere.
        is_of_peer = here != spec or given != name
        if name == "map" and is_of_peer and in_library is None:
            _check_divides_by_relevant(spec, convention, params)
    return function, name.startswith(NEGATIVE), params


def _check_is_one(spec: str) -> None:
    # Names may come from requests and files, so what they cost is bounded.
    if len(spec) > MAX_LENGTH:
        raise ValueError(
            f"A metric name must be at most {MAX_LENGTH} characters long; got {len(spec)}."
        )
    if len(expand([spec])) > 1:
        raise ValueError(
            f"A single metric is required here; got {spec!r} with several cutoffs. Pass one."
        )


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
    for convention in CONVENTIONS:
        own = own_spelling(spec, convention)
        if own:
            return f" Did you mean {own!r}, or get_metric({spec!r}, convention={convention!r})?"
    known = [name.removeprefix(NEGATIVE) for name in REGISTRY]
    # Whoever writes "average_precision", even misspelled, does not mean "precision".
    if difflib.get_close_matches(word, ["average_precision"], cutoff=0.8):
        word = "map"
    return nearest(word, known, f"@{k}" if k else "")
