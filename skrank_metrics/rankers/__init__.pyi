"""The public names. Written by docs/generate.py; do not edit."""

from skrank_metrics.rankers.booster_metrics import builtin_metric as builtin_metric
from skrank_metrics.rankers.booster_metrics import lightgbm_metric as lightgbm_metric
from skrank_metrics.rankers.booster_metrics import xgboost_metric as xgboost_metric
from skrank_metrics.rankers.query_ranker import QueryRanker as QueryRanker

__all__ = [
    "QueryRanker",
    "builtin_metric",
    "lightgbm_metric",
    "xgboost_metric",
]
