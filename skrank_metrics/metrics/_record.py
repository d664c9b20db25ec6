"""The record of a metric: all that callers, tests and documentation need to know of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, overload

import numpy as np

from skrank_metrics._engine.per_query import Kernel
from skrank_metrics._input.arrays import FloatArray
from skrank_metrics.metrics._options import Option

DATA_KEYWORDS = ("qid", "sample_weight", "retrieved")
SHARED_DEFAULTS = {"k": None, "ties": "average", "replace_undefined_by": 0.0, "average": "macro"}

NO_RELEVANT = "no relevant document"

TRANSFORMS: Mapping[str, str] = {
    "gains": "each tied document counts with the mean of its tie group",
    "hazards": "each stop probability becomes the probability to stop there, given that no tied document before it did",
    "products": "each product of relevance and running sum becomes its expectation inside the tie group",
    "misses": "each number of misses inside a tie group is equally likely",
    "pairs": "a pair of tied documents counts half",
}


class UnknownParameterError(TypeError, ValueError):
    """A keyword that a metric does not have: of a call it is a TypeError, of a name such as "ndcg(x=1)" a bad value."""


@dataclass(frozen=True)
class Reference:
    """The paper that a metric comes from."""

    short: str
    text: str
    doi: str

    @property
    def url(self) -> str:
        """Where it is."""
        return f"https://doi.org/{self.doi}"


@dataclass(frozen=True)
class Metric:
    """All that tests, documentation and callers need to know of a metric, beside its kernel."""

    name: str  # in strings such as "ndcg@10"
    kernel: Kernel
    options: Mapping[str, Option]  # own parameters
    defaults: Mapping[str, Any]  # of the own parameters
    formula: str  # with rank i, relevance rel_i, R relevant documents and N others
    transform: str  # how the expectation over ties is taken, a key of TRANSFORMS
    graded: bool  # tells grades apart, not only relevant from not relevant
    reference: Reference
    lower: float = 0.0
    upper: float = 1.0
    undefined: str | None = NO_RELEVANT  # what a query has to have to leave the metric undefined
    has_cutoff: bool = True
    pooled: bool | str = False  # average="micro" has a meaning, or has where the option of this name is set
    greater_is_better: bool = True

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return (self.kernel.__doc__ or "").strip().splitlines()[0]

    @property
    def bounds(self) -> str:
        """The range of values, as text."""
        return f"[{self.lower:g}, {'∞)' if self.upper == np.inf else f'{self.upper:g}]'}"

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters that can be bound, with their defaults."""
        shared = {name: value for name, value in SHARED_DEFAULTS.items() if self.has_cutoff or name != "k"}
        return {**shared, **self.defaults}


def flat_name(name: str) -> str:
    """Spell a name in letters, digits and underscores alone."""
    return re.sub(r"\W+", "_", name.replace("@", "_at_").replace(")", ""), flags=re.ASCII).strip("_")


class MetricFunction(Protocol):
    """A public metric function; ``metric`` is its record."""

    metric: Metric
    __name__: str

    @overload
    def __call__(
        self,
        y_true: Any,
        y_score: Any,
        *,
        qid: Any = ...,
        average: Literal["macro", "micro"] = ...,
        **params: Any,
    ) -> float: ...
    @overload
    def __call__(self, y_true: Any, y_score: Any, *, qid: Any = ..., average: None, **params: Any) -> FloatArray: ...
