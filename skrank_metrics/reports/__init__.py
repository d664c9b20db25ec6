"""One ranking, evaluated by one or several metrics."""

from skrank_metrics._rooms import open_room

__getattr__, __dir__ = open_room("reports")
