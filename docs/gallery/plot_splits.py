"""
=================================
Do your folds keep queries whole?
=================================

The picture of :func:`~skrank_metrics.splitters.audit_splits` shows the sizes of the folds of any
splitter, and marks the folds that cut queries.
"""

from matplotlib import pyplot as plt
from sklearn.model_selection import KFold
from skrank_metrics import QueryKFold
from skrank_metrics.datasets import load_digits_retrieval
from skrank_metrics.splitters import audit_splits

X, y, qid = load_digits_retrieval(return_X_y_qid=True)
audit_splits(KFold(5, shuffle=True, random_state=0), X, y, qid=qid).plot()
plt.show()

# %%
# By size alone, the folds of the shuffled ``KFold`` look fine: the bars are equally
# long. Yet the names of all folds are orange because each of them cuts almost all of
# the 300 queries: models would be tested on queries that they were fitted on.

audit_splits(QueryKFold(5, stratify="relevance"), X, y, qid=qid).plot()
plt.show()

# %%
# :class:`~skrank_metrics.QueryKFold` keeps each query in one fold, and
# ``stratify="relevance"`` balances the share of relevant documents as well.
