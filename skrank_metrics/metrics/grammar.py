"""How metrics are spelled: ``name[(param=value, ...)][@k]``."""

from __future__ import annotations

import re
from typing import Any

GRAMMAR = 'like "ndcg@10", "map" or "ndcg(gain=exp2)@10"'

# Matching never backtracks, so it takes linear time. Unlike int(), "[0-9]" accepts ASCII digits only.
_SPEC = re.compile(r"([A-Za-z][A-Za-z0-9_]*)(?:\(([^()@]*)\))?(?:@([1-9][0-9]*))?")
_PARAM = re.compile(r" ?([a-z_]+) ?= ?([A-Za-z0-9_.+-]+) ?")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?")
_WORDS = {"none": None, "true": True, "false": False, "nan": float("nan")}


def parse(spec: str) -> tuple[str, dict[str, Any]]:
    """The word that names the metric, and the parameters that are set, the cutoff last."""
    match = _SPEC.fullmatch(spec)
    if match is None:
        names = spec.replace(",", " ").split()
        are_several = len(names) > 1 and all(map(_SPEC.fullmatch, names))
        hint = f" Pass a list: {names}." if are_several else ""
        raise ValueError(f"A metric name must be {GRAMMAR}, with k >= 1; got {spec!r}.{hint}")
    word, inner, k = match.groups()
    params: dict[str, Any] = {} if inner is None else _params(inner, spec)
    if k is not None:
        params["k"] = int(k)
    return word, params


def _params(inner: str, spec: str) -> dict[str, Any]:
    params: dict[str, Any] = {}
    for part in inner.split(","):
        match = _PARAM.fullmatch(part)
        # A value that is given twice, or the cutoff in two places, would leave open which one counts.
        if match is None or match[1] in params or match[1] == "k":
            raise ValueError(
                f"Parameters of a metric name must be written (param=value, ...), each once, and k after '@'; "
                f"got {part!r} in {spec!r}."
            )
        params[match[1]] = _value(match[2])
    return params


def _value(word: str) -> Any:
    if not _NUMBER.fullmatch(word):
        return _WORDS.get(word.lower(), word)
    is_whole = word.lstrip("-").isdigit()
    return int(word) if is_whole else float(word)
