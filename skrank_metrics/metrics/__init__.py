"""The metrics: one kernel each, with its record.

A kernel takes a block of ranked queries, ``ranked`` (``RankedBlock``), and the options of its metric. Arrays of a block
have one row per query and one column per rank, and are 0 after the last document of a query. Ties are already settled:
under ``ties="average"`` the arrays hold expectations, so a kernel is just its formula. It uses

- ``ranked.gains(gain)`` and ``ranked.relevance(threshold)``, for weighted sums over ranks,
- ``ranked.stops(probability)``, the probability of stopping at a rank once there, for products over ranks,
- ``ranked.hit_products(threshold)``, relevance times the hits so far, for precision at the relevant documents,
- ``ranked.pairs(gain)``, the numbers of inverted pairs and of all pairs with different gains,
- ``ranked.ranks``, ``ranked.cutoff``, ``ranked.n_retrieved``, ``ranked.n_relevant(threshold)``, ``ranked.ideal(...)``,

and returns one value per query, or a pair (numerator, denominator), where 0 / 0 is undefined.

To add a metric, write its kernel in the module of its family and decorate it with ``@metric``. The public function, the
name in strings, the scorer, the contract tests and the documentation are derived from the record. What the source of
NDCG says, and what users call, therefore differ, except in the options of the metric:

    def ndcg_score(ranked, *, gain="linear", discount="log2", ideal="judged")    # the kernel, for a block of queries
    ndcg_score(y_true, y_score, *, qid=None, k=None, ..., gain="linear", discount="log2", ideal="judged")    # public

``@metric`` replaces the kernel by the public function, which checks, groups and ranks the documents, calls the kernel
block by block, and averages. The arguments in between are those that all metrics have.
"""

from skrank_metrics._rooms import open_room
from skrank_metrics.metrics import average_precision, cumulative_gain, hits, pairwise, user_models  # noqa: F401
from skrank_metrics.metrics._registry import REGISTRY

globals().update((function.__name__, function) for function in REGISTRY.values())
__getattr__, __dir__ = open_room("metrics")
