"""The decorator that makes a public metric function and a name of a kernel, and the names there are."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, cast, get_type_hints

from skrank_metrics._engine.per_query import Kernel
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._docstrings import public_docstring
from skrank_metrics.metrics._options import Option
from skrank_metrics.metrics._record import DATA_KEYWORDS, Metric, MetricFunction, Reference

REGISTRY: dict[str, MetricFunction] = {}


def metric(
    name: str, *, formula: str, transform: str, graded: bool, reference: Reference, **traits: Any
) -> Callable[[Kernel], MetricFunction]:
    """Register a kernel as a metric and make its public function.

    A kernel takes a block of ``RankedLists`` and its own parameters, annotated with the options that check them. It
    returns an array of one value a query, or a pair of arrays, numerator and denominator, where 0 / 0 is undefined.

    Parameters
    ----------
    name : str
        The name in strings such as "ndcg@10".
    formula : str
        The value of a query, in plain text.
    transform : str
        How the expectation over ties is taken, a key of ``TRANSFORMS``.
    graded : bool
        Whether grades of relevance are told apart.
    reference : Reference
        The paper.
    **traits
        Further fields of the record, see ``Metric``.
    """

    def register(kernel: Kernel) -> MetricFunction:
        if name in REGISTRY:
            raise ValueError(f"name must be new; {name!r} is the metric {REGISTRY[name].__name__}.")
        hints = get_type_hints(kernel, include_extras=True)
        own = [p for p in inspect.signature(kernel).parameters.values() if p.kind is p.KEYWORD_ONLY]
        options = {p.name: _option(hints[p.name]) for p in own}
        record = Metric(
            name=name,
            kernel=kernel,
            options=options,
            defaults={p.name: p.default for p in own},
            summary=(kernel.__doc__ or "").strip().splitlines()[0],
            formula=formula,
            transform=transform,
            graded=graded,
            reference=reference,
            **traits,
        )
        REGISTRY[name] = _public_function(record)
        return REGISTRY[name]

    return register


def _option(hint: Any) -> Option:
    return next(extra for extra in hint.__metadata__ if isinstance(extra, Option))


def _public_function(record: Metric) -> MetricFunction:
    @functools.wraps(record.kernel)
    def score(y_true: Any, y_score: Any, *misplaced: Any, **keywords: Any) -> Any:
        data = {name: keywords.pop(name) for name in DATA_KEYWORDS if name in keywords}
        return BoundMetric(cast(MetricFunction, score), keywords)(y_true, y_score, *misplaced, **data)

    bindable = record.parameters
    order = ["qid", "k", "ties", "replace_undefined_by", "sample_weight", "average", "retrieved", *record.defaults]
    keywords = {name: bindable.get(name) for name in order if name in bindable or name in DATA_KEYWORDS}
    positional = [inspect.Parameter(p, inspect.Parameter.POSITIONAL_OR_KEYWORD) for p in ("y_true", "y_score")]
    named = [inspect.Parameter(p, inspect.Parameter.KEYWORD_ONLY, default=d) for p, d in keywords.items()]
    score.__signature__ = inspect.Signature(positional + named)  # type: ignore[attr-defined]
    score.__doc__ = public_docstring(record, keywords)
    score.__annotations__ = {}
    score.metric = record  # type: ignore[attr-defined]
    return cast(MetricFunction, score)
