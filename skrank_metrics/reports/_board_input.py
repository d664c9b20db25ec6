"""The input of a leaderboard: columns of scores, and reports that belong together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from skrank_metrics._input.arrays import by_text
from skrank_metrics._input.query_ids import as_python
from skrank_metrics._output.result import counted
from skrank_metrics.reports._alignment import align_reports
from skrank_metrics.reports.compare import How, check_weights, has_values
from skrank_metrics.reports.ranking_report import RankingReport


def comparable(report: RankingReport, metric: str) -> bool:
    """Whether a metric is averaged over queries."""
    return report.metrics[metric].average in ("macro", None)


def check_same_slices(name: str, report: RankingReport, first: str, other: RankingReport) -> None:
    """Refuse reports whose queries are in different slices."""
    of_queries, expected = (
        None if one.by is None else dict(zip(as_python(one.qid), as_python(one.by), strict=True))
        for one in (report, other)
    )
    if of_queries is None or expected is None:
        if of_queries is not expected:
            with_, without = (first, name) if of_queries is None else (name, first)
            raise ValueError(
                f"reports must have the same slices; {with_!r} has slices and {without!r} has none. Evaluate with the "
                "same by."
            )
        return
    for query in (query for query in expected if query in of_queries and of_queries[query] != expected[query]):
        raise ValueError(
            f"reports must have the same slices; query {query!r} is in {expected[query]!r} in {first!r} and in "
            f"{of_queries[query]!r} in {name!r}. Evaluate with the same by."
        )


def check_values(reports: Mapping[str, RankingReport], how: How, argument: str) -> None:
    """Refuse weights that the test does not support, and metrics without a query to compare."""
    first = next(iter(reports.values()))
    for metric in filter(partial(comparable, first), first.mean):
        aligned = align_reports(reports, metric, None)
        check_weights(aligned.weights is not None, how)
        if not has_values(aligned):
            raise ValueError(
                f"{argument} must have a query with a weight above 0 for which all models have a value of {metric!r}; "
                f"got none among {counted(len(aligned.qid), 'query')}. Leave out the metric, or pass "
                "replace_undefined_by=0 to count queries without a value."
            )


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Name the model in errors about its scores."""
    try:
        yield
    except (TypeError, ValueError) as error:
        message = str(error).replace("y_score", f"scores[{name!r}]")
        not_scores = isinstance(error, TypeError) and message.startswith("scores[")
        raise type(error)(message + " Pass only the columns of scores." * not_scores) from None


def columns_of(scores: Any) -> dict[str, Any]:
    """Columns of scores by model name."""
    if isinstance(scores, Mapping):
        named = list(scores.items())
    elif hasattr(scores, "column_names"):  # of pyarrow
        named = [(name, scores.column(place)) for place, name in enumerate(scores.column_names)]
    elif hasattr(scores, "columns") and hasattr(scores, "shape"):
        take = scores.iloc.__getitem__ if hasattr(scores, "iloc") else None
        named = [
            (name, take((slice(None), place)) if take else scores.to_series(place))
            for place, name in enumerate(scores.columns)
        ]
    else:
        raise TypeError(
            "scores must be a dict of scores by model name, or a data frame with one column per model; got "
            f"{type(scores).__name__}. Pass {{'name': scores, ...}}."
        )
    columns = by_text(named, "scores", " Rename the columns.")
    if len(columns) < 2:
        got = f"only {next(iter(columns))!r}" if columns else "none"
        raise ValueError(f"scores must hold at least two models; got {got}. Pass one model to evaluate.")
    return columns
