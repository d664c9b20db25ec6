"""What a user would write with the interface of each ranker, without this package's adapter."""

import numpy as np
from catboost import CatBoostRanker
from lightgbm import LGBMRanker
from sklearn.base import clone
from xgboost import XGBRanker


def fit(model, X, y, qid, weights=None):
    """Fit a copy of a model on rows sorted by query, with the queries as its own interface asks for them."""
    first = np.flatnonzero(np.r_[True, qid[1:] != qid[:-1]])
    model = clone(model)
    if isinstance(model, LGBMRanker):
        return model.fit(X, y, group=np.diff(first, append=len(qid)), sample_weight=weights)
    if isinstance(model, XGBRanker):
        return model.fit(X, y, qid=qid, sample_weight=None if weights is None else weights[first])
    if isinstance(model, CatBoostRanker):
        return model.fit(X, y, group_id=qid, group_weight=weights)
    return model.fit(X, y)
