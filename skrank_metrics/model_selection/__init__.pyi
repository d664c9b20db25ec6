"""The public names. Written by docs/generate.py; do not edit."""

from skrank_metrics.model_selection._search_report import search_report as search_report
from skrank_metrics.model_selection._within_noise import within_noise as within_noise
from skrank_metrics.model_selection.racing_search import RacingSearchCV as RacingSearchCV

__all__ = [
    "RacingSearchCV",
    "search_report",
    "within_noise",
]
