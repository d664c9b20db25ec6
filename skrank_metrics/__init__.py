"""Ranking metrics, scorers and query-aware splitters for scikit-learn's model selection."""

from skrank_metrics._rooms import open_room

__version__ = "0.1.0"

__getattr__, __dir__ = open_room("")
