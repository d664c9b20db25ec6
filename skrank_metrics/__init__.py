"""Ranking metrics, scorers and query-aware splitters for scikit-learn's model selection."""

from skrank_metrics import (
    audit,
    boosters,
    comparison,
    conventions,
    cross_evaluation,
    displays,
    evaluation,
    explanation,
    holdout,
    ordered,
    ranker,
    refit,
    report,
    scorers,
    search,
    splitters,
)
from skrank_metrics._ids import with_qid
from skrank_metrics._parse import get_metric
from skrank_metrics._registry import get_metric_names
from skrank_metrics.audit import *
from skrank_metrics.boosters import *
from skrank_metrics.comparison import *
from skrank_metrics.conventions import *
from skrank_metrics.cross_evaluation import *
from skrank_metrics.displays import *
from skrank_metrics.evaluation import *
from skrank_metrics.explanation import *
from skrank_metrics.holdout import *
from skrank_metrics.metrics import cascade, cumulative_gain, cutoff, pairwise, precision
from skrank_metrics.metrics.cascade import *
from skrank_metrics.metrics.cumulative_gain import *
from skrank_metrics.metrics.cutoff import *
from skrank_metrics.metrics.pairwise import *
from skrank_metrics.metrics.precision import *
from skrank_metrics.ordered import *
from skrank_metrics.ranker import *
from skrank_metrics.refit import *
from skrank_metrics.report import *
from skrank_metrics.scorers import *
from skrank_metrics.search import *
from skrank_metrics.splitters import *

__version__ = "0.1.0"

__all__ = ["get_metric", "get_metric_names", "with_qid"]
__all__ += audit.__all__
__all__ += boosters.__all__
__all__ += cascade.__all__
__all__ += comparison.__all__
__all__ += conventions.__all__
__all__ += cross_evaluation.__all__
__all__ += cumulative_gain.__all__
__all__ += cutoff.__all__
__all__ += displays.__all__
__all__ += evaluation.__all__
__all__ += explanation.__all__
__all__ += holdout.__all__
__all__ += ordered.__all__
__all__ += pairwise.__all__
__all__ += precision.__all__
__all__ += ranker.__all__
__all__ += refit.__all__
__all__ += report.__all__
__all__ += scorers.__all__
__all__ += search.__all__
__all__ += splitters.__all__
