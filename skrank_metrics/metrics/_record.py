"""The record of a metric, for callers, tests and documentation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from skrank_metrics._engine.per_query import Kernel
from skrank_metrics.metrics._options import Option

# Prefix of the names of metrics for which smaller values are better: strings and scorers mean their negative.
NEGATIVE = "neg_"
DATA_KEYWORDS = ("qid", "sample_weight", "retrieved", "judged")
SHARED_DEFAULTS = {
    "k": None,
    "ties": "average",
    "min_documents": 1,
    "replace_undefined_by": 0.0,
    "average": "macro",
}
# Columns of the frames of reports and comparisons, beside those of the metrics.
COLUMNS = ("qid", "by", "group", "weight", "ranking", "slice", "n_queries")

# What makes a query undefined.
NO_RELEVANT = "no relevant document"
NO_GAIN = "no document with a gain"
NO_PAIRS = "no two documents with different labels"
ONE_CLASS = "documents of only one class"
NO_RANKED = "no ranked document"


@dataclass(frozen=True)
class Reference:
    """The paper that defines a metric."""

    text: str  # begins with the authors and the year: "A. Author, B. Author (2000)."
    doi: str

    @property
    def url(self) -> str:
        """The address of the paper."""
        return f"https://doi.org/{self.doi}"


# The record is what tests, documentation and reports know about a metric. Only its independent computation, in the
# tests, and the names of other tools are kept elsewhere.
@dataclass(frozen=True)
class Metric:
    """A kernel with its properties, for callers, tests and documentation."""

    name: str  # in strings such as "ndcg@10"
    kernel: Kernel
    options: Mapping[str, Option]  # parameters specific to this metric
    defaults: Mapping[str, Any]  # of these parameters
    formula: (
        str  # in LaTeX, with rank i, relevance rel_i, n ranked, R relevant and N other documents
    )
    transform: str = "gains"  # whose expectation over ties is taken: gains, hazards, products, misses, pairs or orders
    reference: Reference | None = None
    lower: float = 0.0
    upper: float = 1.0
    undefined: str | None = NO_RELEVANT  # "undefined for a query with ..."
    has_cutoff: bool = True
    pooled: bool | str = False  # whether average="micro" is allowed, or the option that allows it
    greater_is_better: bool = True
    monotone: bool = True  # no worse after swapping two documents in the wrong order
    divides_by_k: bool = False  # by default, even if the list is shorter
    depth_is_relevant: bool = False  # looks at the first R documents
    counts_others: bool = False  # depends on N, ranked or not
    needs_cutoff: bool = False  # without one, every order of the documents has the same value
    unjudged: str = (
        "zero"  # how documents that nobody judged are treated: as label 0, "left out", or "counted"
    )
    signed: bool | str = False  # whether labels may be negative, or the option that allows it
    documents: tuple[str, ...] = ()  # columns of documents that the metric needs

    @property
    def graded(self) -> bool:
        """Whether it distinguishes grades, not only relevant from non-relevant documents."""
        # A threshold alone makes a label relevant or not; judged@k does not look at labels.
        return self.unjudged != "counted" and (
            "gain" in self.options or "relevance_threshold" not in self.options
        )

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return (self.kernel.__doc__ or "").strip().splitlines()[0]

    @property
    def bounds(self) -> str:
        """The range of values, as text."""
        low = "(-∞" if self.lower == -np.inf else f"[{self.lower:g}"
        return f"{low}, {'∞)' if self.upper == np.inf else f'{self.upper:g}]'}"

    @property
    def data(self) -> tuple[str, ...]:
        """Keywords for data, besides labels and scores."""
        return (*DATA_KEYWORDS, "documents") if self.documents else DATA_KEYWORDS

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters with their defaults."""
        shared = {
            name: value for name, value in SHARED_DEFAULTS.items() if self.has_cutoff or name != "k"
        }
        return {**shared, **self.defaults}


def flat_name(name: str) -> str:
    """Spell a name with letters, digits and underscores only."""
    # Some loggers and databases forbid "@" and parentheses in names.
    return re.sub(r"\W+", "_", name.replace("@", "_at_").replace(")", ""), flags=re.ASCII).strip(
        "_"
    )


@runtime_checkable
class MetricFunction(Protocol):
    """A public metric function with its record."""

    record: Metric
    __name__: str

    def __call__(self, y_true: Any, y_score: Any, **keywords: Any) -> Any: ...


# Stubs describe metric functions as functions, so a type cannot ask for their record.
MetricLike: TypeAlias = str | Callable[..., Any]
Metrics: TypeAlias = MetricLike | Sequence[MetricLike] | Mapping[str, MetricLike]
