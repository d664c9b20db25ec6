"""The public names. Written by docs/generate.py; do not edit."""

from skrank_metrics import dask as dask
from skrank_metrics import datasets as datasets
from skrank_metrics import displays as displays
from skrank_metrics import spark as spark
from skrank_metrics import trec as trec
from skrank_metrics._input.with_qid import qid_from_sizes, with_qid
from skrank_metrics.conventions._explain_difference import explain_difference
from skrank_metrics.conventions._match_convention import match_convention
from skrank_metrics.decisions._compare import compare
from skrank_metrics.decisions._evaluate import evaluate
from skrank_metrics.decisions._evaluate_lists import evaluate_lists
from skrank_metrics.decisions.comparison import Comparison
from skrank_metrics.metrics import (
    auc_score,
    bpref_score,
    cg_score,
    dcg_score,
    err_score,
    f1_at_k_score,
    fall_out_score,
    hit_rate_score,
    judged_score,
    kendall_tau_distance,
    kendall_tau_score,
    map_score,
    mrr_score,
    ndcg_score,
    pairwise_accuracy_score,
    pfound_score,
    precision_at_k_score,
    q_measure_score,
    r_precision_score,
    rbp_score,
    recall_at_k_score,
    spearman_score,
)
from skrank_metrics.metrics.custom import check_metric, make_metric
from skrank_metrics.metrics.names import get_metric, get_metric_names, get_metrics
from skrank_metrics.model_selection._cross_evaluate import cross_evaluate
from skrank_metrics.model_selection._search_report import search_report
from skrank_metrics.model_selection._within_noise import within_noise
from skrank_metrics.model_selection.racing_search import RacingSearchCV
from skrank_metrics.model_selection.scorers import make_ranking_scorer, ranking_scorers
from skrank_metrics.rankers.booster_metrics import builtin_metric, lightgbm_metric, xgboost_metric
from skrank_metrics.rankers.query_ranker import QueryRanker
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.sources._evaluate_run import evaluate_run
from skrank_metrics.sources.accumulator import RankingAccumulator
from skrank_metrics.sources.batches import evaluate_batches
from skrank_metrics.splitters._query_fold import query_fold
from skrank_metrics.splitters.audit import audit_splits
from skrank_metrics.splitters.predefined_split import PredefinedQuerySplit
from skrank_metrics.splitters.query_kfold import QueryKFold, RepeatedQueryKFold
from skrank_metrics.splitters.shuffle_split import QueryShuffleSplit, query_train_test_split
from skrank_metrics.splitters.time_series_split import QueryTimeSeriesSplit

__version__: str

__all__ = [
    "Comparison",
    "PredefinedQuerySplit",
    "QueryKFold",
    "QueryRanker",
    "QueryShuffleSplit",
    "QueryTimeSeriesSplit",
    "RacingSearchCV",
    "RankingAccumulator",
    "RankingReport",
    "RepeatedQueryKFold",
    "auc_score",
    "audit_splits",
    "bpref_score",
    "builtin_metric",
    "cg_score",
    "check_metric",
    "compare",
    "cross_evaluate",
    "dcg_score",
    "err_score",
    "evaluate",
    "evaluate_batches",
    "evaluate_lists",
    "evaluate_run",
    "explain_difference",
    "f1_at_k_score",
    "fall_out_score",
    "get_metric",
    "get_metric_names",
    "get_metrics",
    "hit_rate_score",
    "judged_score",
    "kendall_tau_distance",
    "kendall_tau_score",
    "lightgbm_metric",
    "make_metric",
    "make_ranking_scorer",
    "map_score",
    "match_convention",
    "mrr_score",
    "ndcg_score",
    "pairwise_accuracy_score",
    "pfound_score",
    "precision_at_k_score",
    "q_measure_score",
    "qid_from_sizes",
    "query_fold",
    "query_train_test_split",
    "r_precision_score",
    "ranking_scorers",
    "rbp_score",
    "recall_at_k_score",
    "search_report",
    "spearman_score",
    "with_qid",
    "within_noise",
    "xgboost_metric",
]
