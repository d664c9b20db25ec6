"""The metrics, a module a family."""

from skrank_metrics.metrics import cascade, cumulative_gain, cutoff, precision
from skrank_metrics.metrics.cascade import *
from skrank_metrics.metrics.cumulative_gain import *
from skrank_metrics.metrics.cutoff import *
from skrank_metrics.metrics.precision import *

__all__: list[str] = []
__all__ += cascade.__all__
__all__ += cumulative_gain.__all__
__all__ += cutoff.__all__
__all__ += precision.__all__
