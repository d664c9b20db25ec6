"""
==================================
Which candidates can be ruled out?
==================================

A grid search returns one winner, but not how sure that is.
:class:`~skrank_metrics.displays.CVResultsDisplay` draws the scores of all candidates in
the folds. :func:`~skrank_metrics.model_selection.search_report` compares them query by query, and its
picture highlights those that may be the best.
"""

from lightgbm import LGBMRanker
from matplotlib import pyplot as plt
from sklearn.model_selection import GridSearchCV
from skrank_metrics import QueryKFold, QueryRanker, make_ranking_scorer, with_qid
from skrank_metrics.datasets import load_digits_retrieval
from skrank_metrics.displays import CVResultsDisplay, GridDisplay
from skrank_metrics.model_selection import search_report

X, y, qid = load_digits_retrieval(return_X_y_qid=True)
y = with_qid(y, qid)
search = GridSearchCV(
    QueryRanker(LGBMRanker(n_estimators=30, n_jobs=1, verbose=-1)),
    {
        "estimator__num_leaves": [3, 7, 31],
        "estimator__learning_rate": [0.01, 0.05, 0.2],
    },
    scoring=make_ranking_scorer("ndcg@10"),
    cv=QueryKFold(5),
)
search.fit(X, y)

CVResultsDisplay.from_result(search)
plt.show()

# %%
# The ticks are the scores in the folds. They overlap for most candidates, so five folds
# rule out little. 300 queries rule out more:

search_report(search, X, y).plot()
plt.show()

# %%
# The five candidates in blue may be the best. The other four are worse, among them all
# with a learning rate of 0.01.

# %%
# :class:`~skrank_metrics.displays.GridDisplay` shows how the score depends on the
# parameters: a curve for one, a heat map for two.

GridDisplay.from_result(search)
plt.show()
