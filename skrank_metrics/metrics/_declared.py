"""What users declare about their own metrics: name, bounds and options."""

from __future__ import annotations

import re
from typing import Any

from skrank_metrics.metrics._record import DATA_KEYWORDS, NEGATIVE, SHARED_DEFAULTS

# Options that all metrics have.
RESERVED = {"y_true", "y_score", "convention", "metric", *DATA_KEYWORDS, *SHARED_DEFAULTS} - {"k"}
# Columns of the frames of reports and leaderboards, beside those of the metrics.
COLUMNS = ("qid", "by", "group", "weight", "model", "slice", "n_queries")
# What makes a query undefined, if the metric does not say.
NAN = "a value of NaN"
# Rounding may push a ratio beyond its bounds by this much.
_ROUNDING = 1e-9


def check_spelling(name: Any) -> str:
    """Refuse names that a metric cannot have."""
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", name):
        raise ValueError(
            "name must be at most 64 lower-case letters, digits and underscores and begin with a letter; got "
            f"{name!r}. Pass name=..."
        )
    if re.search(r"_at_[1-9][0-9]*$", name):
        raise ValueError(f"name must not end in a cutoff rank, since ndcg_at_10 means ndcg@10; got {name!r}.")
    if name.removeprefix(NEGATIVE) in COLUMNS:
        raise ValueError(
            f"name must not be that of another column of the frames of reports, {', '.join(COLUMNS)}; got {name!r}. "
            "Pass another name."
        )
    return name


def check_bounds(bounds: Any) -> tuple[float, float]:
    """The smallest and the largest value."""
    try:
        low, high = map(float, bounds)
    except (TypeError, ValueError):
        raise ValueError(
            f"bounds must be a pair of numbers, the smallest and the largest value; got {bounds!r}."
        ) from None
    if not low < high:
        raise ValueError(f"bounds must be in ascending order; got {bounds!r}.")
    return low, high


def outside(values: Any, bounds: tuple[float, float]) -> Any:
    """Whether values are beyond the bounds by more than rounding; False for NaN."""
    low, high = bounds
    return (values < low - _ROUNDING * max(1.0, abs(low))) | (values > high + _ROUNDING * max(1.0, abs(high)))
