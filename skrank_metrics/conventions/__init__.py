"""Why another library reports a different number, and which convention gives it."""

from skrank_metrics._rooms import open_room

__getattr__, __dir__ = open_room("conventions")
