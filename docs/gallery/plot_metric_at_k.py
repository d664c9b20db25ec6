"""
======================================
How many results do users need to see?
======================================

:class:`~skrank_metrics.displays.MetricAtKDisplay` draws a metric against the number of
results that users look at. Here, recall@k is the share of the images of the query's
digit that are among the first k results, ranked by a model or by pixel distance alone.
"""

from lightgbm import LGBMRanker
from matplotlib import pyplot as plt
from skrank_metrics import QueryRanker, evaluate, query_train_test_split, with_qid
from skrank_metrics.datasets import load_digits_retrieval
from skrank_metrics.displays import MetricAtKDisplay

X, y, qid = load_digits_retrieval(return_X_y_qid=True)
X_train, X_test, y_train, y_test = query_train_test_split(
    X, with_qid(y, qid), test_size=0.4, random_state=0
)
ranker = QueryRanker(LGBMRanker(n_estimators=60, n_jobs=1, verbose=-1))
scores = ranker.fit(X_train, y_train).predict(X_test)
pixel_distance = X_test[:, 0]
same_digit = y_test == 2

board = evaluate(
    same_digit,
    {"LGBMRanker": scores, "nearest pixels": -pixel_distance},
    metrics=[f"recall@{k}" for k in range(1, 21)],
)
MetricAtKDisplay.from_result(board)
plt.show()

# %%
# The higher the curve, the more relevant images are found in the same number of
# results. On average, the first seven results of ``LGBMRanker`` contain 79% of the
# relevant images, about as many as the first ten by pixel distance. At rank 1 there is
# little to choose: most queries have several relevant images, and one result can only
# be one of them. Beyond rank 15 the curves flatten out. Neither can exceed 0.94 because
# seven of the 120 test queries have no relevant image.
#
# The bands show how precise each mean is. That they overlap does not mean that the
# rankings are equally good; to find out, compare them query by query, as in
# :ref:`sphx_glr_auto_examples_plot_comparison.py`.
