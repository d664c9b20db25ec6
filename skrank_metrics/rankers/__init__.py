"""Query ids and ranking metrics for rankers and boosters."""

from skrank_metrics._rooms import open_room

__getattr__, __dir__ = open_room("rankers")
