"""
======================================
How many fits does a grid search need?
======================================

:class:`~skrank_metrics.RacingSearchCV` drops candidates once they are significantly
behind the leader, query by query. :class:`~skrank_metrics.RaceDisplay` draws one line
per candidate, which ends in a cross where the candidate was dropped.
"""

from lightgbm import LGBMRanker
from matplotlib import pyplot as plt
from skrank_metrics import (
    QueryKFold,
    QueryRanker,
    RaceDisplay,
    RacingSearchCV,
    make_ranking_scorer,
    with_qid,
)
from skrank_metrics.datasets import load_digits_retrieval

X, y, qid = load_digits_retrieval(return_X_y_qid=True)
search = RacingSearchCV(
    QueryRanker(LGBMRanker(n_estimators=30, n_jobs=1, verbose=-1)),
    {
        "estimator__num_leaves": [3, 7, 15, 31],
        "estimator__learning_rate": [0.01, 0.05, 0.2],
    },
    scoring=make_ranking_scorer("ndcg@10"),
    cv=QueryKFold(8),
)
search.fit(X, with_qid(y, qid))

RaceDisplay.from_estimator(search)
plt.show()

# %%
# All twelve candidates run the first three folds, after which six are significantly
# behind and are dropped. Five more are dropped later, and only the winner, which led
# from the start, runs the last fold. That takes 53 fits; a grid search takes 96.
#
# The means of all candidates rise and fall together because some folds are easier than
# others, so compare lines at the same fold, not where they end.
