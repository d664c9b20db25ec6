"""The decorator that turns a kernel into a metric: its record, public function and docstring."""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable
from typing import Any, cast, get_type_hints

from skrank_metrics._engine.per_query import Kernel
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import NEGATIVE, Metric, MetricFunction

REGISTRY: dict[str, MetricFunction] = {}

# Types and descriptions of parameters, in the order of signatures.
_TEXTS: dict[str, tuple[str, str]] = {
    "y_true": (
        "array-like of shape (n_documents,) or (n_queries, n_documents)",
        "Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.",
    ),
    "y_score": (
        "array-like of the shape of y_true",
        "Scores to rank by, largest first. May be infinite, but not NaN.",
    ),
    "qid": (
        "array-like of shape (n_documents,)",
        "Query id of each document, of any type and in any order. Optional if the labels are 2-D, or a Series with an "
        "index level named 'qid', see with_qid.",
    ),
    "k": (
        "int or None",
        "Cutoff rank: only the first k documents of each query count. If None, all count.",
    ),
    "ties": (
        '{"average", "best", "worst", "stable"}',
        "How documents with equal scores are ordered: the expectation over all orders, the largest or the smallest "
        "label first, or the order of rows. For metrics that are not monotone in the labels, such as the Q-measure or "
        "with decreasing gains, ordering by label need not give the extreme values.",
    ),
    "min_documents": (
        "int",
        "Queries of fewer documents, ranked or not, are undefined: all orders of a short list look good.",
    ),
    "replace_undefined_by": (
        "float",
        "Value of queries for which the metric is undefined. NaN leaves them out of the mean.",
    ),
    "sample_weight": (
        "array-like of shape (n_documents,) or, in 2-D, (n_queries,)",
        "Weights of queries, finite and >= 0. Must not vary within a query.",
    ),
    "average": (
        '{"macro", "micro", "median", "geometric", None}',
        "Mean over queries, ratio pooled over documents, median, geometric mean of the values, which are set to 1e-5 "
        "if smaller (trec_eval's GMAP), or one value per query in order of first appearance.",
    ),
    "retrieved": (
        "array-like of bool, of the shape of y_true",
        "False for documents that were judged but not ranked. They count in R, the number of relevant documents, and "
        "in the ideal order, but not in the ranking, and their scores are ignored. If None, all documents were ranked.",
    ),
    "judged": (
        "array-like of bool, of the shape of y_true",
        "False for documents that nobody judged: they count as not relevant, whatever their label, which may be NaN. "
        "bpref leaves them out. A query without judged documents is undefined. If None, all documents were judged.",
    ),
}

_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD
_NAMED = inspect.Parameter.KEYWORD_ONLY
_EXAMPLES = "Examples\n--------\n"
_RETURNS = """\
Returns
-------
score : float or ndarray of shape (n_queries,)
    In {bounds}. An array if average=None."""
_RAISES = """\
Raises
------
TypeError
    If y_true is 1-D and there are no query ids, or an argument has the wrong type.
ValueError
    If labels, scores, ids, weights or options are invalid, or their lengths differ."""


def metric(name: str, **traits: Any) -> Callable[[Kernel], MetricFunction]:
    """Register a kernel under a name such as "ndcg", or "neg_..." if smaller is better, and make its public function.

    ``traits`` are the fields of its record, see ``Metric``. The options are the keyword-only parameters of the kernel,
    each annotated with an ``Option``.
    """

    def register(kernel: Kernel) -> MetricFunction:
        check_new(name)
        # Annotations are texts until they are evaluated.
        hints = get_type_hints(kernel, include_extras=True)
        options, defaults = {}, {}
        for parameter in inspect.signature(kernel).parameters.values():
            if parameter.kind is parameter.KEYWORD_ONLY:
                (options[parameter.name],) = hints[parameter.name].__metadata__
                defaults[parameter.name] = parameter.default
        # The prefix is the declaration: a record cannot contradict its name.
        traits["greater_is_better"] = not name.startswith(NEGATIVE)
        REGISTRY[name] = _public_function(Metric(name, kernel, options, defaults, **traits))
        return REGISTRY[name]

    return register


def check_new(name: str) -> None:
    """Refuse the name of an existing metric or of its negative, which in strings differs only by a prefix."""
    own = name.removeprefix(NEGATIVE)
    if not REGISTRY.keys().isdisjoint({own, NEGATIVE + own}):
        raise ValueError(f"name must be new; {own!r} is a metric of this package.")


def _public_function(record: Metric) -> MetricFunction:
    @functools.wraps(record.kernel)
    def score(y_true: Any, y_score: Any, *misplaced: Any, **keywords: Any) -> Any:
        return by_default(y_true, y_score, *misplaced, **keywords)

    # help() and editors read these two.
    score.__signature__ = signature_of(record)  # type: ignore[attr-defined]
    score.__doc__ = docstring(record, inspect.cleandoc(record.kernel.__doc__ or ""))
    # Those of the kernel are about blocks, not about arguments.
    score.__annotations__ = {}
    score.record = record  # type: ignore[attr-defined]
    function = cast(MetricFunction, score)
    # Arguments override what is bound, so a call has the rules of names such as "ndcg(gain=exp2)@10".
    by_default = BoundMetric(function, {})
    return function


def signature_of(record: Metric) -> inspect.Signature:
    """Build the signature of the function of a metric."""
    defaults = {**dict.fromkeys(record.data), **record.parameters}
    parameters = [inspect.Parameter(p, _POSITIONAL) for p in ("y_true", "y_score")]
    # Options of single metrics are last.
    names = [p for p in [*_TEXTS, *record.defaults] if p in defaults]
    parameters += [inspect.Parameter(p, _NAMED, default=defaults[p]) for p in names]
    return inspect.Signature(parameters)


def docstring(record: Metric, text: str) -> str:
    """Complete a text that ends with examples by the sections that follow from the record."""
    front, _, examples = text.partition(_EXAMPLES)
    summary, _, more = front.partition("\n\n")
    if record.undefined:
        more = f"{more.strip()} Undefined for a query with {record.undefined}."
    texts = dict(_TEXTS)
    for name, option in record.options.items():
        texts[name] = (option.kind, option.doc)
    parameters = ["Parameters", "----------"]
    for parameter in signature_of(record).parameters.values():
        kind, description = texts[parameter.name]
        default = "" if parameter.default is parameter.empty else f", default={parameter.default!r}"
        # The rest of the docstring has double quotes, too.
        head = f"{parameter.name} : {kind}{default}".replace("'", '"')
        parameters.append(_entry(head, description))
    # Hyphens are minus signs in formulas.
    formula = textwrap.fill(
        record.formula, width=106, break_long_words=False, break_on_hyphens=False
    )
    displayed = ".. math::\n\n" + textwrap.indent(formula, "    ")
    sections = [summary.strip(), displayed, more.strip(), "\n".join(parameters)]
    sections += [_RETURNS.format(bounds=record.bounds), _RAISES]
    if record.reference:
        sections.append(f"References\n----------\n{record.reference.text}\n{record.reference.url}")
    sections.append(_EXAMPLES + examples)
    return "\n\n".join(filter(None, sections)) + "\n"


@functools.cache  # metrics share most of their descriptions
def _entry(head: str, text: str) -> str:
    lines = textwrap.fill(text, width=106, break_long_words=False)
    return f"{head}\n{textwrap.indent(lines, '    ')}"
