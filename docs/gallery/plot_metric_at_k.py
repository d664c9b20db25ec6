"""
======================================
How many results do users need to see?
======================================

:class:`~skrank_metrics.MetricAtKDisplay` draws a metric against the number of results
that users look at. Here, recall@k is the share of the images of the query's digit that
are among the first k results, ranked by a model and by the distance of pixels alone.
"""

from lightgbm import LGBMRanker
from matplotlib import pyplot as plt
from skrank_metrics import (
    MetricAtKDisplay,
    QueryRanker,
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
same_digit = y_test == 2

display = MetricAtKDisplay.from_estimator(ranker, X_test, same_digit, metric="recall")
MetricAtKDisplay.from_predictions(
    same_digit, -pixel_distance, metric="recall", name="nearest pixels", ax=display.ax_
)
plt.show()

# %%
# The higher a curve, the more is found with the same number of results; read from left
# to right, it says how many results it takes. On average, the first seven results of
# ``LGBMRanker`` hold 79% of the relevant images, about as many as the first ten by
# pixels. At rank 1, both are about equal: most queries have several relevant images, of
# which one result can hold one. Beyond rank 15, users find little more, and no ranking
# exceeds 0.94, as seven of the 120 test queries have no relevant image.
#
# The bands say how precise each mean is. They overlap, which does not mean that the
# rankings are equally good: that takes a paired comparison, as in
# :ref:`sphx_glr_auto_examples_plot_comparison.py`.
