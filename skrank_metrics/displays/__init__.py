"""Pictures of results, after the convention of scikit-learn's displays; every result has a method ``plot``."""

from skrank_metrics.displays.comparison import ComparisonDisplay
from skrank_metrics.displays.cv_results import CVResultsDisplay
from skrank_metrics.displays.difference import DifferenceDisplay
from skrank_metrics.displays.grid import GridDisplay
from skrank_metrics.displays.metric_at_k import MetricAtKDisplay
from skrank_metrics.displays.page import page_picture as page_picture
from skrank_metrics.displays.query_pair import QueryPairDisplay
from skrank_metrics.displays.query_scores import QueryScoreDisplay
from skrank_metrics.displays.splits import SplitDisplay

__all__ = [
    "CVResultsDisplay",
    "ComparisonDisplay",
    "DifferenceDisplay",
    "GridDisplay",
    "MetricAtKDisplay",
    "QueryPairDisplay",
    "QueryScoreDisplay",
    "SplitDisplay",
]
