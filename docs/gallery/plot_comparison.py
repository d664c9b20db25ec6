"""
=======================================
Which model is better, and by how much?
=======================================

Two models that rank the same queries are compared query by query. The picture of
:func:`~skrank_metrics.compare` shows the difference in NDCG@10 with its interval.
:class:`~skrank_metrics.displays.QueryPairDisplay` shows the queries behind it.
Cross-validation tests the models on all 300 queries.
"""

from lightgbm import LGBMRanker
from matplotlib import pyplot as plt
from sklearn.linear_model import Ridge
from skrank_metrics import QueryRanker, cross_evaluate
from skrank_metrics.datasets import load_digits_retrieval
from skrank_metrics.displays import QueryPairDisplay

X, y, qid = load_digits_retrieval(return_X_y_qid=True)
models = {
    "LGBMRanker": QueryRanker(LGBMRanker(n_estimators=60, n_jobs=1, verbose=-1)),
    "Ridge": QueryRanker(Ridge()),
}
comparison = cross_evaluate(models, X, y, qid=qid, metrics="ndcg@10")
comparison.plot()
plt.show()

# %%
# ``LGBMRanker`` is ahead by 0.02. Still, both may be the best: the interval of the
# difference just contains 0. It allows for fitting the models again on other data,
# which varies more than the queries here.

QueryPairDisplay.from_result(comparison)
plt.show()

# %%
# Each point is a query. Those above the diagonal are better ranked by ``LGBMRanker``,
# which wins 154 queries; ``Ridge`` wins 92, some of them by 0.4, and 54 are equal.
# Before you switch, look at the points far below the diagonal, which
# ``comparison.worst(5)`` returns.
