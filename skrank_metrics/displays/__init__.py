"""Pictures of rankings, after the convention of scikit-learn's displays."""

from skrank_metrics.displays.comparison import ComparisonDisplay
from skrank_metrics.displays.metric_at_k import MetricAtKDisplay
from skrank_metrics.displays.query_scores import QueryScoreDisplay
from skrank_metrics.displays.search import CVResultsDisplay

__all__ = ["CVResultsDisplay", "ComparisonDisplay", "MetricAtKDisplay", "QueryScoreDisplay"]
