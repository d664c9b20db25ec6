"""The front door: its names, and the rooms. Written by docs/generate.py; do not edit."""

from skrank_metrics import conventions as conventions
from skrank_metrics import dask as dask
from skrank_metrics import datasets as datasets
from skrank_metrics import decisions as decisions
from skrank_metrics import displays as displays
from skrank_metrics import metrics as metrics
from skrank_metrics import model_selection as model_selection
from skrank_metrics import rankers as rankers
from skrank_metrics import reports as reports
from skrank_metrics import sources as sources
from skrank_metrics import spark as spark
from skrank_metrics import splitters as splitters
from skrank_metrics import trec as trec
from skrank_metrics._input.with_qid import qid_from_sizes as qid_from_sizes
from skrank_metrics._input.with_qid import with_qid as with_qid
from skrank_metrics.decisions._compare import compare as compare
from skrank_metrics.decisions._evaluate import evaluate as evaluate
from skrank_metrics.decisions._evaluate import evaluate_lists as evaluate_lists
from skrank_metrics.metrics import auc_score as auc_score
from skrank_metrics.metrics import bpref_score as bpref_score
from skrank_metrics.metrics import cg_score as cg_score
from skrank_metrics.metrics import dcg_score as dcg_score
from skrank_metrics.metrics import err_score as err_score
from skrank_metrics.metrics import f1_at_k_score as f1_at_k_score
from skrank_metrics.metrics import fall_out_score as fall_out_score
from skrank_metrics.metrics import get_metric as get_metric
from skrank_metrics.metrics import hit_rate_score as hit_rate_score
from skrank_metrics.metrics import judged_score as judged_score
from skrank_metrics.metrics import kendall_tau_distance as kendall_tau_distance
from skrank_metrics.metrics import kendall_tau_score as kendall_tau_score
from skrank_metrics.metrics import make_metric as make_metric
from skrank_metrics.metrics import map_score as map_score
from skrank_metrics.metrics import mrr_score as mrr_score
from skrank_metrics.metrics import ndcg_score as ndcg_score
from skrank_metrics.metrics import pairwise_accuracy_score as pairwise_accuracy_score
from skrank_metrics.metrics import pfound_score as pfound_score
from skrank_metrics.metrics import precision_at_k_score as precision_at_k_score
from skrank_metrics.metrics import q_measure_score as q_measure_score
from skrank_metrics.metrics import r_precision_score as r_precision_score
from skrank_metrics.metrics import rbp_score as rbp_score
from skrank_metrics.metrics import recall_at_k_score as recall_at_k_score
from skrank_metrics.metrics import spearman_score as spearman_score
from skrank_metrics.model_selection._cross_evaluate import cross_evaluate as cross_evaluate
from skrank_metrics.model_selection.scorers import make_ranking_scorer as make_ranking_scorer
from skrank_metrics.model_selection.scorers import ranking_scorers as ranking_scorers
from skrank_metrics.rankers import QueryRanker as QueryRanker
from skrank_metrics.sources._evaluate_run import evaluate_run as evaluate_run
from skrank_metrics.splitters import PredefinedQuerySplit as PredefinedQuerySplit
from skrank_metrics.splitters import QueryKFold as QueryKFold
from skrank_metrics.splitters import QueryShuffleSplit as QueryShuffleSplit
from skrank_metrics.splitters import QueryTimeSeriesSplit as QueryTimeSeriesSplit
from skrank_metrics.splitters import RepeatedQueryKFold as RepeatedQueryKFold
from skrank_metrics.splitters import query_train_test_split as query_train_test_split

__version__: str

__all__ = [
    "PredefinedQuerySplit",
    "QueryKFold",
    "QueryRanker",
    "QueryShuffleSplit",
    "QueryTimeSeriesSplit",
    "RepeatedQueryKFold",
    "auc_score",
    "bpref_score",
    "cg_score",
    "compare",
    "cross_evaluate",
    "dcg_score",
    "err_score",
    "evaluate",
    "evaluate_lists",
    "evaluate_run",
    "f1_at_k_score",
    "fall_out_score",
    "get_metric",
    "hit_rate_score",
    "judged_score",
    "kendall_tau_distance",
    "kendall_tau_score",
    "make_metric",
    "make_ranking_scorer",
    "map_score",
    "mrr_score",
    "ndcg_score",
    "pairwise_accuracy_score",
    "pfound_score",
    "precision_at_k_score",
    "q_measure_score",
    "qid_from_sizes",
    "query_train_test_split",
    "r_precision_score",
    "ranking_scorers",
    "rbp_score",
    "recall_at_k_score",
    "spearman_score",
    "with_qid",
]
