"""
======================================
Why do two libraries disagree on NDCG?
======================================

scikit-learn and XGBoost compute different values of NDCG for the same ranking.
The picture of :func:`~skrank_metrics.conventions.explain_difference` shows the steps from one to
the other, one per cause. The ranking is that of a decision tree, whose scores have many
ties.
"""

from matplotlib import pyplot as plt
from sklearn.tree import DecisionTreeRegressor
from skrank_metrics import QueryRanker, query_train_test_split, with_qid
from skrank_metrics.conventions import explain_difference
from skrank_metrics.datasets import load_digits_retrieval

X, y, qid = load_digits_retrieval(return_X_y_qid=True)
X_train, X_test, y_train, y_test = query_train_test_split(
    X, with_qid(y, qid), test_size=0.4, random_state=0
)
tree = QueryRanker(DecisionTreeRegressor(max_depth=4, random_state=0))
scores = tree.fit(X_train, y_train).predict(X_test)

difference = explain_difference(
    y_test, scores, metric="ndcg", conventions=("sklearn", "xgboost")
)
difference.plot()
plt.show()

# %%
# Read it from the top: each bar starts where the previous one ends; blue bars add,
# orange bars subtract. XGBoost's default cutoff of 32 lowers NDCG by 0.014, and
# ordering ties by row lowers it by another 0.002. A single query raises it by 0.008,
# more than the whole gap: it has no relevant image and counts as 1 instead of 0. The
# steps partly cancel out, so similar values from two libraries do not mean that both
# compute the same thing.
