"""Ranking metrics, scorers and query-aware splitters for scikit-learn's model selection."""

from skrank_metrics import evaluation, metrics, ranker, scorers, splitters
from skrank_metrics._ids import with_qid
from skrank_metrics._parse import get_metric
from skrank_metrics._registry import get_metric_names
from skrank_metrics.evaluation import *
from skrank_metrics.metrics import *
from skrank_metrics.ranker import *
from skrank_metrics.scorers import *
from skrank_metrics.splitters import *

__version__ = "0.1.0"

__all__ = ["get_metric", "get_metric_names", "with_qid"]
__all__ += evaluation.__all__
__all__ += metrics.__all__
__all__ += ranker.__all__
__all__ += scorers.__all__
__all__ += splitters.__all__
