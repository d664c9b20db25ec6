"""Scorers for scikit-learn's model selection, out-of-fold evaluation, and reports of searches."""

from skrank_metrics._rooms import open_room

__getattr__, __dir__ = open_room("model_selection")
