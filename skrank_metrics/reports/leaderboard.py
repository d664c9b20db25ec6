"""Rank several models on the same documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from skrank_metrics._engine.query_lists import query_lists
from skrank_metrics._input.arrays import check_bool, check_mask, check_scores
from skrank_metrics._input.query_ids import carried, check_aligned
from skrank_metrics.reports._board_input import check_values, columns_of, naming
from skrank_metrics.reports.board import Leaderboard
from skrank_metrics.reports.compare import check_how, check_weights
from skrank_metrics.reports.evaluate import bind_metrics
from skrank_metrics.reports.ranking_report import evaluate_lists
from skrank_metrics.reports.slices import check_by_aligned, slice_of_query


def leaderboard(
    y_true: Any,
    scores: Any,
    *,
    qid: Any = None,
    metrics: Any = ("ndcg@10", "map", "mrr"),
    by: Any = None,
    convention: str = "sklearn",
    ties: str | None = None,
    replace_undefined_by: float | None = None,
    sample_weight: Any = None,
    retrieved: Any = None,
    judged: Any = None,
    condense: bool = False,
    test: str = "permutation",
    correction: str | None = "holm",
    confidence: float = 0.95,
    n_resamples: int | None = None,
    random_state: Any = None,
) -> Leaderboard:
    """Rank several models on the same documents, and test which of them differ significantly.

    Models are ranked by the first metric, and all pairs are compared query by query for each metric. Ids and labels are
    checked and grouped only once for all models.

    Pairs are compared when the leaderboard is first printed or asked for its verdict. For 36 models, 3,000 queries and
    three metrics, this takes about 8 s, or 2 s with test="t".

    Parameters
    ----------
    y_true : array-like of shape (n_documents,) or (n_queries, n_documents)
        Relevance labels, finite and >= 0. If 2-D, each row is a query, and qid must be left out.
    scores : dict of str to array-like of the shape of y_true, or data frame
        Scores to rank by, largest first, by model name; or a frame of pandas, polars or pyarrow with one column per
        model. At least two models.
    qid : array-like of shape (n_documents,), default=None
        Query id of each document, as in evaluate.
    metrics : sequence of str, metric functions or bound metrics, default=("ndcg@10", "map", "mrr")
        Metrics to compute, as in evaluate. The first one ranks the models.
    by : array-like of shape (n_documents,), or (n_queries,) if y_true is 2-D, default=None
        Slices to also rank within, such as the country or the type of a query, as in evaluate.
    convention, ties, replace_undefined_by, sample_weight, retrieved, judged, condense : object
        As in evaluate, for all models.
    test, correction, confidence, n_resamples, random_state : object
        As in compare. The correction covers all pairs, not only those with the best model, since the best is chosen on
        the same queries.

    Returns
    -------
    board : Leaderboard
        Prints a verdict and a table of models by metric.

    Raises
    ------
    TypeError
        If scores are neither a dict nor a frame, there are no query ids, or an argument has the wrong type.
    ValueError
        If there are fewer than two models, names repeat, labels, scores, ids, weights or slices are invalid, or no
        query has a value.

    References
    ----------
    H.-P. Piepho (2004). An algorithm for a letter-based representation of all-pairwise comparisons. Journal of
    Computational and Graphical Statistics 13(2). https://doi.org/10.1198/1061860043515

    Examples
    --------
    In each of six queries, one model has the relevant document at rank 1, another at rank 2, and the third alternates.
    Of the 2^6 ways to assign signs to six equal differences, two are as extreme, so p = 2/64 for the first two:

    >>> from skrank_metrics import leaderboard
    >>> y, qid = [1, 0] * 6, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    >>> scores = {"never": [1, 2] * 6, "mixed": [2, 1, 1, 2] * 3, "always": [2, 1] * 6}
    >>> board = leaderboard(y, scores, qid=qid, metrics="mrr", correction=None)
    >>> {name: report.mean["mrr"] for name, report in board.reports.items()}
    {'always': 1.0, 'mixed': 0.75, 'never': 0.5}
    >>> board.verdict
    'Ship always or mixed: by mrr, always is ahead, but not significantly; never is significantly worse.'
    """
    columns = columns_of(scores)
    bound = bind_metrics(metrics, convention, ties=ties, replace_undefined_by=replace_undefined_by)
    options = {"test": test, "correction": correction, "confidence": confidence}
    options |= {"n_resamples": n_resamples, "random_state": random_state}
    how = check_how(**options)
    masks = {"retrieved": retrieved, "judged": judged, "condense": check_bool(condense, "condense")}
    (first, column), *others = columns.items()
    with naming(first):
        lists = query_lists(y_true, column, qid=qid, sample_weight=sample_weight, **masks)
    check_weights(lists.weights is not None, how)  # before all models are evaluated
    check_by_aligned(y_true, by)
    slices = None if by is None else slice_of_query(by, lists.grouping, two_dimensional=np.ndim(y_true) == 2)
    reports = {first: evaluate_lists(lists, bound, by=slices)}
    ranked = carried(y_true, retrieved=retrieved)["retrieved"]
    ranked = None if ranked is None else check_mask(ranked, "retrieved", np.shape(y_true))
    for name, column in others:
        with naming(name):
            check_aligned(y_true=y_true, y_score=column, qid=qid)
            found = check_scores(column, np.shape(y_true), ranked)
        of_model = lists.with_scores(lists.grouping.sort(found.ravel()))
        reports[name] = evaluate_lists(of_model, bound, by=slices)
    check_values(reports, how, "y_true")
    return Leaderboard(reports, options)
