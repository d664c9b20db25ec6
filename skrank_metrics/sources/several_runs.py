"""Several runs in one argument, told from a single run by the depth of the dict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from os import PathLike
from typing import Any, TypeAlias

import numpy as np

from skrank_metrics._input.parameters import by_text
from skrank_metrics.sources.column_roles import has_columns

Runs: TypeAlias = Mapping[
    str, Mapping[Any, Mapping[Any, float] | Sequence[Any]] | PathLike[str] | str
]
HOLDERS = (Mapping, list, tuple, np.ndarray, Set)  # of documents; none is a score


def runs_by_name(run: Any) -> dict[str, Any] | None:
    """The runs of a dict of runs; None if it is a single run."""
    if not isinstance(run, Mapping):
        return None
    first = next((value for value in run.values() if _is_run(value) is not None), None)
    if not _is_run(first):  # the usual case, with many queries
        return None
    for name, value in run.items():
        if _is_run(value) is False:
            raise ValueError(
                f"run must be a single run, or a dict of runs; got both: {name!r} holds the documents of a query."
            )
    return by_text(run.items(), "run")


def _is_run(value: Any) -> bool | None:
    """Whether an entry of a dict is a run rather than the documents of a query; None if it is empty."""
    if isinstance(value, Mapping | list | tuple) and not value:
        return None
    # A run holds lists by query; the documents of a query have scores.
    if isinstance(value, Mapping):
        return isinstance(next(iter(value.values())), HOLDERS)
    if isinstance(value, list | tuple):  # ids can be tuples and frozen sets
        return isinstance(value[0], Mapping | list | np.ndarray)
    if isinstance(value, np.ndarray):
        return value.ndim > 1
    # Frames, what trec.read_run returns, and open files.
    holds_lists = has_columns(value) or hasattr(value, "lists") or hasattr(value, "read")
    return holds_lists or isinstance(value, str | PathLike)
