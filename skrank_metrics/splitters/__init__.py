"""Cross-validation that keeps the documents of a query together."""

from skrank_metrics._rooms import open_room

__getattr__, __dir__ = open_room("splitters")
