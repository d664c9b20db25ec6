"""
===========================================
Does a better model help the worst queries?
===========================================

A mean over queries does not say where a better model gains.
:class:`~skrank_metrics.QueryScoreDisplay` draws the whole distribution: for each value
of NDCG@10, the share of queries that get at most this value.
"""

from lightgbm import LGBMRanker
from matplotlib import pyplot as plt
from skrank_metrics import (
    QueryRanker,
    QueryScoreDisplay,
    query_train_test_split,
    with_qid,
)
from skrank_metrics.datasets import load_digits_retrieval

X, y, qid = load_digits_retrieval(return_X_y_qid=True)
X_train, X_test, y_train, y_test = query_train_test_split(
    X, with_qid(y, qid), test_size=0.4, random_state=0
)
ranker = QueryRanker(LGBMRanker(n_estimators=60, n_jobs=1, verbose=-1))
ranker.fit(X_train, y_train)
pixel_distance = X_test[:, 0]

display = QueryScoreDisplay.from_estimator(ranker, X_test, y_test, metric="ndcg@10")
QueryScoreDisplay.from_predictions(
    y_test, -pixel_distance, metric="ndcg@10", name="nearest pixels", ax=display.ax_
)
plt.show()

# %%
# The lower the curve, the better: fewer queries are at or below each value.
# ``LGBMRanker`` gains in the middle: 20% of the queries have at most 0.7, compared with
# 32% for nearest pixels. The worst queries gain little: with either ranking, about one
# in ten is at or below 0.5. The vertical steps at 1 are the queries with a perfect
# ranking, one in seven for ``LGBMRanker`` and one in eight for nearest pixels.
