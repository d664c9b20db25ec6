"""The metrics: a kernel each, with its record.

A kernel gets a block of ranked queries, ``ranked`` (``RankedLists``), and the options of its metric. Arrays of a block
have one row per query and one column per rank, and are 0 behind the last document of a query. Ties are already settled:
under ``ties="average"`` the arrays hold expectations, so that a kernel is its formula. It asks for

- ``ranked.gains(gain)`` and ``ranked.relevance(threshold)``, for sums over ranks of gains times weights,
- ``ranked.stops(probability)``, the probability to stop at a rank once there, for products over ranks,
- ``ranked.hit_products(threshold)``, relevance times the hits so far, for precision at the relevant documents,
- ``ranked.pairs(gain)``, the inverted pairs and all pairs that can be compared,
- ``ranked.ranks``, ``ranked.cutoff``, ``ranked.n_documents``, ``ranked.n_relevant(threshold)``, ``ranked.ideal(...)``,

and gives one value per query, or a pair (numerator, denominator) of which 0 / 0 is undefined.

To add a metric, write its kernel into the module of its family and decorate it with ``@metric``: public function, name
in strings, scorer, contract tests and documentation follow from the record.
"""

from skrank_metrics.metrics import average_precision, cumulative_gain, hits, pairwise, user_models  # noqa: F401
from skrank_metrics.metrics._registry import REGISTRY

__all__ = sorted(function.__name__ for function in REGISTRY.values())
globals().update((function.__name__, function) for function in REGISTRY.values())
