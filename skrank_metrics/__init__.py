"""Ranking metrics, scorers and query-aware splitters for scikit-learn's model selection."""

from skrank_metrics import metrics
from skrank_metrics._ids import with_qid
from skrank_metrics._parse import get_metric
from skrank_metrics._registry import get_metric_names
from skrank_metrics.metrics import *

__version__ = "0.1.0"

__all__ = ["get_metric", "get_metric_names", "with_qid"]
__all__ += metrics.__all__
