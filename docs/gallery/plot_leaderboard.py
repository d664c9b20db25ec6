"""
========================
Which model is the best?
========================

The model with the highest mean is rarely the only good choice. The picture of
:func:`~skrank_metrics.evaluate` shows the mean of each model, highlights the models
that may be the best, and shows by how much the others are behind.
"""

from lightgbm import LGBMRanker
from matplotlib import pyplot as plt
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor
from skrank_metrics import (
    QueryRanker,
    evaluate,
    query_train_test_split,
    with_qid,
)
from skrank_metrics.datasets import load_digits_retrieval

X, y, qid = load_digits_retrieval(return_X_y_qid=True)
X_train, X_test, y_train, y_test = query_train_test_split(
    X, with_qid(y, qid), test_size=0.4, random_state=0
)
models = {
    "boosted trees": LGBMRanker(n_estimators=60, n_jobs=1, verbose=-1),
    "random forest": RandomForestRegressor(20, min_samples_leaf=5, random_state=0),
    "decision tree": DecisionTreeRegressor(max_depth=4, random_state=0),
    "nearest neighbours": make_pipeline(StandardScaler(), KNeighborsRegressor(50)),
    "ridge": Ridge(),
}
scores = {
    name: QueryRanker(model).fit(X_train, y_train).predict(X_test)
    for name, model in models.items()
}
scores["nearest pixels"] = -X_test[:, 0]  # no model

board = evaluate(y_test, scores, metrics="ndcg@10")
board.plot()
plt.show()

# %%
# Nearest neighbours have the best mean, but the models in blue may all be the best: 120
# test queries cannot rule out boosted trees, the random forest or even ridge, whose
# mean is 0.02 lower. The decision tree is worse, and does no better than pixel
# distance, which needs no model at all.
#
# The intervals on the left are those of each mean. They are wide, since some queries
# are harder than others for every model. The differences on the right compare models on
# the same queries, and their intervals agree with the colours: those of grey models end
# below 0. ``print(board)`` shows the numbers.
