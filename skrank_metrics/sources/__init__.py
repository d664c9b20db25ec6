"""Lists by id, files, tables, batches and partitions: whatever is not rows in memory."""

from skrank_metrics._rooms import open_room

__getattr__, __dir__ = open_room("sources")
