"""
=================================
Do your folds keep queries whole?
=================================

:class:`~skrank_metrics.SplitDisplay` draws the sizes of the folds of any splitter,
relative to their means, and marks the folds that cut queries.
"""

from matplotlib import pyplot as plt
from sklearn.model_selection import KFold
from skrank_metrics import QueryKFold, SplitDisplay
from skrank_metrics.datasets import load_digits_retrieval

X, y, qid = load_digits_retrieval(return_X_y_qid=True)
splitters = [
    KFold(5, shuffle=True, random_state=0),
    QueryKFold(5, stratify="relevance"),
]

_, axes = plt.subplots(2, figsize=(9, 6.5), sharex=True, layout="constrained")
for ax, cv in zip(axes, splitters, strict=True):
    SplitDisplay.from_splitter(cv, X, y, qid=qid, ax=ax)

plt.show()

# %%
# By size alone, the folds of the shuffled ``KFold`` look fine: all marks are within 5%
# of the mean. Yet every fold is marked with a band because it cuts almost all of the
# 300 queries: models would be tested on queries that they were fitted on.
# :class:`~skrank_metrics.QueryKFold` keeps each query in one fold, and
# ``stratify="relevance"`` balances the folds as well.
