"""Metrics of values that were computed elsewhere: in files, and in columns of frames."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import Metric
from skrank_metrics.metrics.conventions import ConventionName
from skrank_metrics.metrics.names import get_metric
from skrank_metrics.metrics.spelling import own_spelling
from skrank_metrics.reports.saved_values import saved


@dataclass(frozen=True)
class RecordedMetric:
    """A metric of which only values are known: its function was not written to the file, or it came from a frame."""

    name: str
    bounds: tuple[float, float] = (-math.inf, math.inf)
    greater_is_better: bool = True
    pooled: bool = False
    # What becomes of values per query.
    defaults: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def __name__(self) -> str:
        return self.name

    @cached_property
    def record(self) -> Metric:
        """What is known of the metric."""
        low, high = self.bounds
        return Metric(
            self.name, self, {}, self.defaults, "", "own", reference=None, lower=low, upper=high,
            undefined="no value", has_cutoff=False, pooled=self.pooled, greater_is_better=self.greater_is_better,
        )  # fmt: skip

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Refuse to compute."""
        raise ValueError(
            f"{self.name} has recorded values only, and cannot be computed. Evaluate with the metric."
        )


def metric_in_file(metric: BoundMetric) -> dict[str, Any]:
    """The name of a metric with its parameters, or what is known of its values if a file cannot hold its functions."""
    # A name is preferred, since such metrics can be computed and compared after loading.
    with suppress(TypeError, ValueError):
        name = str(BoundMetric(metric.function, {}, metric.negative))
        known = {"name": name, "params": metric.params}
        saved(known)  # raises an error for functions
        if metric_from_file(known).definition == metric.definition:
            return known
    record = metric.record
    bounds = (record.lower, record.upper)
    is_pooled = metric.average == "micro"
    shared = {"average": metric.average, "replace_undefined_by": metric.replace_undefined_by}
    return {
        "recorded": (str(metric), bounds, record.greater_is_better, is_pooled),
        "negative": metric.negative,
        "params": shared,
    }


def metric_from_file(known: Mapping[str, Any]) -> BoundMetric:
    """The metric that ``metric_in_file`` described."""
    if "name" in known:
        return get_metric(known["name"]).replace(**known["params"])
    given = [*known["recorded"], known["params"]]
    recorded: Any = RecordedMetric(*given)
    return BoundMetric(recorded, {}, known["negative"])


def metric_of_column(name: str) -> BoundMetric:
    """The metric that a column is named like, or one of which only values are known."""
    spelled = own_spelling(name, "trec_eval")
    # Values under trec_eval's name for a metric, such as "recip_rank", were computed as it does.
    convention: ConventionName = "sklearn" if spelled in (None, name) else "trec_eval"
    with suppress(ValueError):
        return get_metric(name, convention=convention)
    recorded: Any = RecordedMetric(name, defaults={"replace_undefined_by": math.nan})
    return BoundMetric(recorded, {})
