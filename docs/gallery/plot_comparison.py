"""
=======================================
Which model is better, and by how much?
=======================================

Two models that rank the same queries are compared query by query.
:class:`~skrank_metrics.ComparisonDisplay` draws the differences in NDCG@10, largest
first, with their mean. Cross-validation tests the models on all 300 queries.
"""

from lightgbm import LGBMRanker
from matplotlib import pyplot as plt
from sklearn.linear_model import Ridge
from skrank_metrics import ComparisonDisplay, QueryRanker, compare, cross_evaluate
from skrank_metrics.datasets import load_digits_retrieval

X, y, qid = load_digits_retrieval(return_X_y_qid=True)
models = {
    "LGBMRanker": QueryRanker(LGBMRanker(n_estimators=60, n_jobs=1, verbose=-1)),
    "Ridge": QueryRanker(Ridge()),
}
evaluation = cross_evaluate(models, X, y, qid=qid, metrics="ndcg@10")
comparison = compare(evaluation.reports, "ndcg@10", random_state=0)

ComparisonDisplay.from_comparison(comparison)
plt.show()

# %%
# The line at 0.02 is the mean difference. Its interval does not contain 0:
# ``LGBMRanker`` is significantly better, but not for every query. It wins 154,
# ``Ridge`` wins 92, some of them by 0.4, and 54 are ties. Before you switch, look at
# the queries on the far right, which ``comparison.worst(5)`` returns.
