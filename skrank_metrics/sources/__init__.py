"""Evaluation of data that do not fit into memory, in batches or on several machines."""

from skrank_metrics._rooms import open_room

__getattr__, __dir__ = open_room("sources")
