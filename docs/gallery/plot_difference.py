"""
======================================
Why do two libraries disagree on NDCG?
======================================

scikit-learn and XGBoost compute different values of NDCG for the same ranking.
:class:`~skrank_metrics.DifferenceDisplay` draws what leads from one to the other, a
step per cause. The ranking is that of a decision tree, whose scores have many ties.
"""

from matplotlib import pyplot as plt
from sklearn.tree import DecisionTreeRegressor
from skrank_metrics import (
    DifferenceDisplay,
    QueryRanker,
    query_train_test_split,
    with_qid,
)
from skrank_metrics.datasets import load_digits_retrieval

X, y, qid = load_digits_retrieval(return_X_y_qid=True)
X_train, X_test, y_train, y_test = query_train_test_split(
    X, with_qid(y, qid), test_size=0.4, random_state=0
)
tree = QueryRanker(DecisionTreeRegressor(max_depth=4, random_state=0))
scores = tree.fit(X_train, y_train).predict(X_test)

DifferenceDisplay.from_predictions(
    y_test, scores, metric="ndcg", conventions=("sklearn", "xgboost")
)
plt.show()

# %%
# Read from the top: each bar starts where the one above ends, blue ones add, orange
# ones subtract. XGBoost's default cutoff of 32 takes 0.014 away, and the order of the
# rows, which decides its ties, another 0.002. A single query adds 0.008, more than the
# whole gap: it has no relevant image, and counts as 1 instead of 0. The steps partly
# cancel, so close values from two libraries do not mean that they compute the same.
