"""The public names. Written by docs/generate.py; do not edit."""

from skrank_metrics.splitters._query_fold import query_fold as query_fold
from skrank_metrics.splitters.audit import audit_splits as audit_splits
from skrank_metrics.splitters.predefined_split import PredefinedQuerySplit as PredefinedQuerySplit
from skrank_metrics.splitters.query_kfold import QueryKFold as QueryKFold
from skrank_metrics.splitters.query_kfold import RepeatedQueryKFold as RepeatedQueryKFold
from skrank_metrics.splitters.shuffle_split import QueryShuffleSplit as QueryShuffleSplit
from skrank_metrics.splitters.shuffle_split import query_train_test_split as query_train_test_split
from skrank_metrics.splitters.time_series_split import QueryTimeSeriesSplit as QueryTimeSeriesSplit

__all__ = [
    "PredefinedQuerySplit",
    "QueryKFold",
    "QueryShuffleSplit",
    "QueryTimeSeriesSplit",
    "RepeatedQueryKFold",
    "audit_splits",
    "query_fold",
    "query_train_test_split",
]
