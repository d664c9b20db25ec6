"""What displays draw: reports of predictions and of fitted estimators."""

from __future__ import annotations

from typing import Any

from skrank_metrics._input.arrays import check_choice
from skrank_metrics._input.query_ids import resolve_ids
from skrank_metrics.model_selection._leaks import warn_of_fitted
from skrank_metrics.model_selection.scorers import predict_scores
from skrank_metrics.reports.evaluate import evaluate
from skrank_metrics.reports.ranking_report import RankingReport


def report_of_estimator(estimator: Any, X: Any, y: Any, *, qid: Any, metrics: Any) -> RankingReport:
    """Evaluate a fitted estimator; one that was fitted on some of the queries is warned of, as in the scorers."""
    scores = predict_scores(estimator, X)
    report = evaluate(y, scores, qid=qid, metrics=metrics)
    warn_of_fitted(scores, resolve_ids(y, qid=qid)[0])
    return report


def name_of(estimator: Any) -> str:
    """Class of an estimator, or of the one inside of a search, a Pipeline or a QueryRanker."""
    while True:
        if hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        elif hasattr(estimator, "estimator"):
            estimator = estimator.estimator
        else:
            return type(estimator).__name__


def only_metric(report: RankingReport, metric: str | None) -> str:
    """Name of the metric that a report is asked for, the first where none is named."""
    return next(iter(report.mean)) if metric is None else check_choice(metric, "metric", report.mean)
