"""Pictures of results, after the convention of scikit-learn's displays; every result has a method ``plot``."""

from skrank_metrics.displays.model_selection import CVResultsDisplay, SplitDisplay
from skrank_metrics.displays.page import page_picture as page_picture
from skrank_metrics.displays.reports import (
    ComparisonDisplay,
    DifferenceDisplay,
    MetricAtKDisplay,
    QueryScoreDisplay,
)

__all__ = [
    "CVResultsDisplay",
    "ComparisonDisplay",
    "DifferenceDisplay",
    "MetricAtKDisplay",
    "QueryScoreDisplay",
    "SplitDisplay",
]
