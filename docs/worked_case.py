"""The example of a metric's docstring taken apart: documents in ranked order, and what each rank adds to the value."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from skrank_metrics._engine.from_rows import ranking_from_rows
from skrank_metrics._engine.per_query import PerQuery, per_query
from skrank_metrics._engine.ranked_blocks import RankedBlock
from skrank_metrics._engine.ranking import Ranking as EngineRanking
from skrank_metrics._input.arrays import FloatArray, Mask
from skrank_metrics.decisions._evaluate import evaluate_ranking
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import DATA_KEYWORDS, MetricFunction
from skrank_metrics.reports.inspection import InspectedQuery, steps_of_ranks
from skrank_metrics.reports.ranking_report import RankingReport, subset
from skrank_metrics.reports.report_data import data_of


@dataclass(frozen=True)
class Column:
    """A number at each rank; columns without a head are not shown."""

    head: str
    values: FloatArray


@dataclass(frozen=True)
class Terms:
    """What each rank adds to the numerator and, if known, the factors and the divisor that give it."""

    added: FloatArray
    factors: Sequence[Column] = ()
    divisor: Column | None = None


@dataclass(frozen=True)
class Pairs:
    """Ranks, from 0, of two documents with different gains: in order, inverted, or with one score."""

    in_order: list[tuple[int, int]]
    inverted: list[tuple[int, int]]
    tied: list[tuple[int, int]]


@dataclass(frozen=True)
class Ranking:
    """One query of an example: its documents from rank 1 down, and the value with its parts."""

    name: str  # "" if the example has one query
    documents: InspectedQuery
    relevant: Mask
    numerator: float
    denominator: float
    depth: int  # the last rank that counts
    symbols: dict[str, int]  # as in the formulas
    columns: list[Column]
    terms: Terms | Pairs
    ideal: Terms | None  # if the value is divided by that of the ideal order


@dataclass(frozen=True)
class Case:
    """The example of a metric."""

    metric: BoundMetric
    text: str  # what the docstring says before the call
    value: float | FloatArray  # what the call returns
    rankings: list[Ranking]


def worked_case(function: MetricFunction) -> Case:
    """Run the example of a metric's docstring, and take it apart."""
    text, given, keywords = _example(function)
    data = {name: keywords[name] for name in DATA_KEYWORDS if name in keywords}
    own = {
        name: value for name, value in keywords.items() if name not in (*DATA_KEYWORDS, "average")
    }
    metric = BoundMetric(function, own)
    whole = evaluate_ranking(ranking_from_rows(*given, **data), {"": metric})
    names = (
        [str(number) for number in range(1, whole.n_queries + 1)]
        if np.ndim(given[0]) == 2
        else whole.qid
    )
    rankings = [
        _ranking(f"Query {name}" * (whole.n_queries > 1), subset(whole, np.array([place])), metric)
        for place, name in enumerate(names)
    ]
    return Case(metric, text, function(*given, **keywords), rankings)


def _example(function: MetricFunction) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """What the first example says before its code, and the arguments of its call of the metric."""
    docstring = inspect.getdoc(function) or ""
    text, *parts = doctest.DocTestParser().parse(docstring.partition("Examples\n--------\n")[2])
    names: dict[str, Any] = {}
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def noting(*given: Any, **keywords: Any) -> Any:
        calls.append((given, keywords))
        return function(*given, **keywords)

    for part in parts:
        if isinstance(part, doctest.Example):
            exec(part.source, names)
            names |= {name: noting for name, value in names.items() if value is function}
    if not calls:
        raise ValueError(
            f"The example in the docstring of {function.__name__} must call {function.__name__}."
        )
    return (str(text).strip(), *calls[0])


def _ranking(name: str, report: RankingReport, metric: BoundMetric) -> Ranking:
    ranking, n_documents = data_of(report).own_ranking, report.n_documents
    ((documents,),) = report.inspect(report.qid, n_ranks=n_documents).queries
    threshold = metric.get("relevance_threshold")
    relevant = (
        documents.columns["label"] > 0
        if threshold is None
        else documents.columns["label"] >= threshold
    )
    k, n_relevant, n = metric.k, documents.n_relevant, documents.n_ranked
    depth = min(n, n_relevant if metric.record.depth_is_relevant else k or n)
    result, reads = _watched(ranking, metric)
    by_ideal = "ideal" in (leading_fraction(metric.record.formula) or ("", ""))[1]
    if "pairs" in reads:
        terms: Terms | Pairs = _pairs(documents, reads["pairs"])
    else:
        terms = _terms(ranking, metric, depth, result, reads)
    return Ranking(
        name=name,
        documents=documents,
        relevant=relevant,
        numerator=float(result.numerators[0]),
        denominator=float(result.denominators[0]),
        depth=depth,
        symbols={"k": k or n, "R": n_relevant, "n": n, "N": n_documents - n_relevant},
        columns=_columns(terms, reads, documents.columns["label"], ~relevant)
        if isinstance(terms, Terms)
        else [],
        terms=terms,
        ideal=_ideal_terms(ranking, metric, depth, result) if by_ideal else None,
    )


# --- What a kernel reads


@dataclass(frozen=True)
class Read:
    """What a kernel read of its lists, and the arguments that it asked with."""

    arguments: tuple[Any, ...]
    value: Any


@dataclass
class _Watched:
    """Ranked lists that note what a kernel reads of them."""

    _ranked: RankedBlock
    _reads: dict[str, Read] = field(default_factory=dict)
    _of: str = ""

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._ranked, name)
        return self._asked(name, found) if callable(found) else self._noted(name, (), found)

    def _asked(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments: self._noted(name, arguments, method(*arguments))

    def _noted(self, name: str, arguments: tuple[Any, ...], value: Any) -> Any:
        self._reads[self._of + name] = Read(arguments, value)
        return _Watched(value, self._reads, "ideal ") if isinstance(value, RankedBlock) else value


def _watched(ranking: EngineRanking, metric: BoundMetric) -> tuple[PerQuery, dict[str, Read]]:
    """The numerator and the denominator of one query, and what the kernel read."""
    reads: dict[str, Read] = {}
    whole = metric.computation
    watching = replace(
        whole, kernel=lambda ranked, **options: whole.kernel(_Watched(ranked, reads), **options)
    )
    return per_query(ranking, [watching])[0], reads


# --- What each rank adds


def _terms(
    ranking: EngineRanking,
    metric: BoundMetric,
    depth: int,
    result: PerQuery,
    reads: dict[str, Read],
) -> Terms:
    if "centred_ranks" in reads:  # correlations have no cutoff
        by_label, by_score, _ = (values[0] for values in reads["centred_ranks"].value)
        return Terms(
            by_label * by_score,
            [Column("centred label rank", by_label), Column("centred rank", by_score)],
        )
    return _spelled(
        steps_of_ranks(ranking, metric, depth)[0][0] * result.denominators[0], metric, reads
    )


def _ideal_terms(
    ranking: EngineRanking, metric: BoundMetric, depth: int, result: PerQuery
) -> Terms:
    best_first = EngineRanking(ranking.documents, ranking.documents.labels)
    added = steps_of_ranks(best_first, metric, depth)[0][0] * result.denominators[0]
    return _spelled(added, metric, _watched(best_first, metric)[1])


def _spelled(added: FloatArray, metric: BoundMetric, reads: dict[str, Read]) -> Terms:
    """The factors and the divisor, among those of all metrics, that give what the ranks add."""
    for factors, divisor in _ways(len(added), metric, reads):
        product = np.prod([factor.values for factor in factors], axis=0)
        if np.allclose(
            product if divisor is None else product / divisor.values, added, rtol=0, atol=1e-12
        ):
            return Terms(added, factors, divisor)
    return Terms(added)


def _ways(
    depth: int, metric: BoundMetric, reads: dict[str, Read]
) -> Iterator[tuple[list[Column], Column | None]]:
    ranks, options = np.arange(1.0, depth + 1), metric.computation.options
    rank, p = Column("", ranks), options.get("p", 1.0)
    read = {
        name: Column(head, reads[name].value[0][:depth])
        for name, head in READ.items()
        if name in reads
    }
    if "gains" in read:
        if "discount" in options:
            yield [read["gains"]], Column("discount", options["discount"](ranks))
        yield [read["gains"], Column("weight", (1 - p) * p ** (ranks - 1))], None
    if "running_products" in read:
        beta, ideal = options["beta"], np.cumsum(reads["ideal gains"].value[0])[:depth]
        blended = read["hit_products"].values + beta * read["running_products"].values
        yield [Column("", blended)], Column("", ranks + beta * ideal)
    elif "hit_products" in read:
        yield [read["hit_products"]], rank
    if "stops" in read:
        on = p * (1 - read["stops"].values)
        both = [Column("gets here", np.cumprod(np.append(1.0, on[:-1]))), read["stops"]]
        yield both, rank
        yield both, None


# What kernels read at each rank, with the heads of the columns.
READ = {
    "gains": "gain",
    "hit_products": "hits",
    "running_products": "gain so far",
    "stops": "stops here",
}


def _columns(
    terms: Terms, reads: dict[str, Read], labels: FloatArray, others: Mask
) -> list[Column]:
    """Columns of factors, and of what else the kernel read, unless the labels say the same."""
    depth = len(terms.added)
    shown = [*terms.factors, *([terms.divisor] if terms.divisor else [])]
    heads = {column.head for column in shown}
    shown += [
        Column(h, reads[name].value[0])
        for name, h in READ.items()
        if name in reads and h not in heads
    ]
    if "ideal gains" in reads:
        shown += [Column("ideal gain so far", np.cumsum(reads["ideal gains"].value[0]))]
    if "capped_misses" in reads:
        shown += [Column("others above", np.cumsum(others) - others)]
    if (
        "stops" in reads and np.isin(reads["stops"].value, [0, 1]).all()
    ):  # at the first relevant document
        shown = []
    repeated = {
        c.head
        for c in shown
        if c.head in ("gain", "stops here") and (c.values[:depth] == labels[:depth]).all()
    }
    return [Column(c.head, c.values[:depth]) for c in shown if c.head and c.head not in repeated]


def _pairs(documents: InspectedQuery, read: Read) -> Pairs:
    """The pairs that a kernel counted."""
    gains, scores = read.arguments[0](documents.columns["label"]), documents.columns["score"]
    found = Pairs([], [], [])
    for i, j in combinations(range(len(gains)), 2):
        if gains[i] != gains[j]:
            kind = (
                found.tied
                if scores[i] == scores[j]
                else found.in_order
                if gains[i] > gains[j]
                else found.inverted
            )
            kind.append((i, j))
    inverted, pairs = (float(values[0]) for values in read.value)
    n_pairs = len(found.in_order) + len(found.inverted) + len(found.tied)
    if (len(found.inverted) + len(found.tied) / 2, n_pairs) != (inverted, pairs):
        raise ValueError(
            f"The pairs drawn must be those counted, {inverted:g} of {pairs:g} inverted; got {found}."
        )
    return found


# --- What the formula says


def leading_fraction(formula: str) -> tuple[str, str] | None:
    """The numerator and the denominator of a formula in LaTeX that is a fraction, or begins with one."""
    right = formula.partition(" = ")[2] or formula
    if not right.startswith(r"\frac{"):
        return None
    top, rest = _braced(right.removeprefix(r"\frac"))
    return top, _braced(rest)[0]


def _braced(text: str) -> tuple[str, str]:
    """What the first pair of braces holds, and what follows it."""
    level = 0
    for place, character in enumerate(text):
        level += (character == "{") - (character == "}")
        if not level:
            return text[1:place], text[place + 1 :]
    raise ValueError(f"formula must close its braces; got {text!r}.")
