"""Several rankings of the same queries, compared: which is best, and which may replace another."""

from skrank_metrics._rooms import open_room

__getattr__, __dir__ = open_room("decisions")
