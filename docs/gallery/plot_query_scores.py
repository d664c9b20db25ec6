"""
============================
Where does a ranker do well?
============================

A mean over queries hides whether all of them are served alike. The picture of a report
from :func:`~skrank_metrics.evaluate` shows how the values of the queries are
distributed, for each metric and for each slice of the queries. Here, the slices are
queries with few and with many images to rank.
"""

import numpy as np
from lightgbm import LGBMRanker
from matplotlib import pyplot as plt
from skrank_metrics import QueryRanker, evaluate, query_train_test_split, with_qid
from skrank_metrics.datasets import load_digits_retrieval

X, y, qid = load_digits_retrieval(return_X_y_qid=True)
X_train, X_test, y_train, y_test = query_train_test_split(
    X, with_qid(y, qid), test_size=0.4, random_state=0
)
ranker = QueryRanker(LGBMRanker(n_estimators=60, n_jobs=1, verbose=-1))
scores = ranker.fit(X_train, y_train).predict(X_test)

n_images = y_test.groupby(level="qid").transform("size")
by = np.where(n_images > 35, "more than 35 images", "at most 35 images")
report = evaluate(y_test, scores, metrics=["ndcg@10", "map", "mrr"], by=by)
report.plot()
plt.show()

# %%
# Each row is a histogram of the queries, with the mean and its interval below it. Most
# queries are ranked well: MRR is 1 for most of them, so that their first result is
# relevant. A few are at or near 0, which the means do not show. The second slice has
# the higher mean, but the intervals of the two slices overlap: it may be chance.
