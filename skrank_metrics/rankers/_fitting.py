"""Arguments for the ``fit`` of an estimator: sorted rows, queries, validation rows, and what users pass themselves."""

from __future__ import annotations

import hashlib
import inspect
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object

from skrank_metrics._input.arrays import (
    FloatArray,
    IntArray,
    check_label_column,
    check_weights,
    count_rows,
    is_column,
    refuse_masked,
    take_rows,
)
from skrank_metrics._input.grouping import Grouping, query_weights, starts_of
from skrank_metrics._input.id_hash import hash_ids
from skrank_metrics.splitters._base import canonical_order, mask_at, random_source

# Watched if the estimator sets no metric; the metric of QueryRanker.score.
METRIC = "ndcg@10"

# Parameters of fit:
_OWN = ("qid", "groups", "sample_weight", "eval_set", "X_val", "y_val")
# Scores to start from; a booster needs those of validation rows, too.
_STARTS = ("base_margin", "baseline", "init_score")
# These always hold one value per row.
_PER_ROW = (*_STARTS, "position", "subgroup_id")
# These never do, even if there are as many features as rows.
_PER_FEATURE = ("feature_name", "feature_weights")
# Of validation rows, such as eval_set and sample_weight_eval_set.
_VALIDATION = re.compile(r"(^|_)(eval|val)(_|$)")
# These only match that expression.
_NOT_OF_ROWS = ("eval_at", "eval_metric", "eval_names")
_OF_SETS = (
    " Pass eval_set=[(X_val, with_qid(y_val, qid_val, sample_weight=...))], with rows in any order: the labels carry "
    "the queries and the weights. To stop early, set early_stopping_rounds of QueryRanker, and either "
    "validation_fraction, which holds out queries, or one eval_set."
)
_REFUSED = {
    "group": " Pass query ids; qid_from_sizes(group) makes them from group sizes.",
    "group_id": " Pass query ids as qid.",
    "group_weight": " Pass one weight per document as sample_weight.",
} | dict.fromkeys(
    ("pairs", "pairs_weight", "graph"),
    " It holds row numbers, which change when rows are sorted by query. Fit the estimator itself, on sorted rows.",
)


@dataclass(frozen=True)
class SortedRows:
    """Rows sorted by query, if the estimator ranks."""

    X: Any
    y: NDArray[Any]
    ids: NDArray[Any]  # of each query
    sizes: IntArray  # documents of each query
    weights: FloatArray | None  # one per row
    further: dict[str, Any]  # parameters of fit with one value per row

    @property
    def codes(self) -> IntArray:
        """The number of the query of each row."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def weights_of_queries(self) -> FloatArray | None:
        """The mean weight of the rows of each query."""
        if self.weights is None:
            return None
        return np.add.reduceat(self.weights, starts_of(self.sizes)) / self.sizes

    @property
    def weights_of_queries_by_row(self) -> FloatArray | None:
        """For each row, the mean weight of the rows of its query."""
        weights = self.weights_of_queries
        return None if weights is None else np.repeat(weights, self.sizes)

    def take(self, rows: Any, queries: Any = slice(None)) -> SortedRows:
        """These rows, of these queries."""
        weights = None if self.weights is None else self.weights[rows]
        further = {name: take_rows(value, rows) for name, value in self.further.items()}
        return SortedRows(
            take_rows(self.X, rows),
            self.y[rows],
            self.ids[queries],
            self.sizes[queries],
            weights,
            further,
        )


def sorted_rows(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    grouping: Grouping,
    sample_weight: Any,
    further: dict[str, Any],
) -> SortedRows:
    """Sort rows by query for rankers, and check that the estimator takes weights if there are any."""
    weights, way = None, way_of_queries(estimator)
    if sample_weight is not None:
        name = "group_weight" if way == "group_id" else "sample_weight"
        if name not in taken_by_fit(estimator):
            raise TypeError(
                f"sample_weight must be None, since {type(estimator).__name__}.fit takes no weights."
            )
        weights = check_weights(sample_weight, len(y), "document")
        if way in ("group_id", "qid"):
            # These boosters weight queries, so weights must not vary within one.
            query_weights(sample_weight, grouping)
    rows = SortedRows(X, y, grouping.ids, grouping.sizes, weights, further)
    # Regressors and classifiers get the rows as they are, also those of a precomputed kernel, whose columns are rows.
    if grouping.order is None or way is None:
        return rows
    return rows.take(grouping.order)


def label_column(y: Any) -> NDArray[Any]:
    """Checked labels, of their own type if they are numbers: boosters take integers for grades."""
    labels = check_label_column(y)
    given = np.asarray(y)
    return given if given.dtype.kind in "biuf" else labels


@dataclass(frozen=True)
class FittedQueries:
    """The queries of a fit as salted hashes, so that a pickled model does not reveal their ids."""

    salt: bytes
    sizes: dict[int, int]  # documents by hash

    @classmethod
    def of(cls, ids: NDArray[Any], sizes: IntArray, salt: bytes = b"") -> FittedQueries:
        """Hash queries. Without a salt, it follows from all ids, so equal fits have equal pickles."""
        try:
            hashes = hash_ids(ids)
        except (TypeError, ValueError):
            # The hash of these types differs between processes; their text does not.
            hashes = hash_ids(np.array([repr(one) for one in ids.tolist()], dtype=object))
        salt = salt or hashlib.blake2b(np.sort(hashes).tobytes(), digest_size=16).digest()
        by_hash = {}
        for plain, size in zip(hashes, sizes.tolist(), strict=True):
            digest = hashlib.blake2b(plain, digest_size=8, key=salt).digest()
            by_hash[int.from_bytes(digest, "little")] = size
        return cls(salt, by_hash)

    def shared(self, ids: NDArray[Any], sizes: IntArray) -> tuple[int, bool]:
        """How many of these queries are among those of the fit, and whether they are all of those, unchanged."""
        other = self.of(ids, sizes, self.salt).sizes
        return len(other.keys() & self.sizes.keys()), other == self.sizes


def fit_arguments(estimator: Any, rows: SortedRows) -> dict[str, Any]:
    """Keywords of an estimator's ``fit``: queries, weights, and other values per row."""
    way = way_of_queries(estimator)
    arguments: dict[str, Any]
    if way == "group_id":
        arguments = {"group_id": rows.codes, "group_weight": rows.weights}
    elif way == "qid":
        arguments = {"qid": rows.codes, "sample_weight": rows.weights_of_queries}
    else:
        arguments = {"sample_weight": rows.weights}
    if way == "group":
        arguments["group"] = rows.sizes
    # Some estimators refuse a keyword that they do not need, even if it is None.
    given = {name: value for name, value in arguments.items() if value is not None}
    return {**rows.further, **given}


def way_of_queries(estimator: Any) -> str | None:
    """Keyword by which ``fit`` takes queries: "group_id" (CatBoost), "qid" (XGBoost), "group" (LightGBM), or None."""
    accepted = taken_by_fit(estimator)
    # XGBoost also takes group sizes, but only checks the length of qid, so qid comes first.
    return next((way for way in ("group_id", "qid", "group") if way in accepted), None)


def taken_by_fit(estimator: Any) -> set[str]:
    """Names of the parameters of ``fit`` besides X and y."""
    if isinstance(estimator, Pipeline) and way_of_queries(estimator[-1]):
        raise TypeError(
            "estimator must be the ranker itself; got a Pipeline that ends in one, which does not pass the queries on. "
            "Put QueryRanker(ranker) at the end of the Pipeline instead."
        )
    names: set[str] = set()
    for base in type(estimator).__mro__:
        if "fit" in vars(base):
            parameters = inspect.signature(vars(base)["fit"]).parameters.values()
            names |= {p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
            # A subclass that takes any keywords passes them on to its base class.
            if not any(p.kind is p.VAR_KEYWORD for p in parameters):
                break
    return names - {"self", "X", "y"}


def clone_estimator(estimator: Any) -> Any:
    """Clone an estimator; copy what is none, which ``fit`` refuses."""
    # CatBoost returns copies of lists among its parameters; clone expects the very objects that it passed.
    if any(base.__module__.partition(".")[0] == "catboost" for base in type(estimator).__mro__):
        return type(estimator)(**estimator.get_params())
    return clone(estimator, safe=False)


def check_is_estimator(estimator: Any) -> None:
    """Refuse anything but an estimator object, such as a class."""
    if isinstance(estimator, type) or not (
        hasattr(estimator, "fit") and hasattr(estimator, "get_params")
    ):
        raise TypeError(
            f"estimator must be an estimator object with fit and get_params, such as LGBMRanker(); got {estimator!r}."
        )


def check_prefixes(ranker: Any, params: dict[str, Any]) -> None:
    """Refuse parameters of the estimator that are named without the prefix ``estimator__``."""
    own = ranker.get_params(deep=False)
    of_estimator = params.get("estimator", ranker.estimator)
    known = of_estimator.get_params() if hasattr(of_estimator, "get_params") else {}
    for name in params:
        # scikit-learn's error lists the parameters of the ranker, among which is none that helps.
        if name not in own and name in known:
            raise ValueError(
                f"QueryRanker has no parameter {name!r}, but {type(of_estimator).__name__} has: "
                f"write 'estimator__{name}', or 'queryranker__estimator__{name}' in a Pipeline."
            )


def hold_out(rows: SortedRows, fraction: Any, random_state: Any) -> tuple[SortedRows, SortedRows]:
    """Draw whole queries for validation, and return the training rows and the validation rows."""
    n_queries = len(rows.sizes)
    n_validation = round(float(fraction) * n_queries)
    if not 0 < n_validation < n_queries:
        raise ValueError(
            "validation_fraction must leave queries on both sides; got "
            f"{n_validation} of {n_queries} queries for validation with validation_fraction={fraction}. Fit on more "
            "queries, or set another fraction."
        )
    # In an order of the ids, so that the order of the rows does not matter.
    drawn = random_source(random_state).permutation(n_queries)[:n_validation]
    held_out = mask_at(canonical_order(rows.ids)[drawn], n_queries)
    is_row_held_out = np.repeat(held_out, rows.sizes)
    training = rows.take(np.flatnonzero(~is_row_held_out), ~held_out)
    return training, rows.take(np.flatnonzero(is_row_held_out), held_out)


def best_iteration(estimator: Any) -> int:
    """Number of boosting rounds with the best validation score; LightGBM counts from 1, the others from 0."""
    # XGBoost has no underscore at the end.
    if hasattr(estimator, "best_iteration_"):
        return int(estimator.best_iteration_) + (way_of_queries(estimator) == "group_id")
    return int(estimator.best_iteration) + 1


def check_names(given: dict[str, Any], *, takes_sets: bool) -> None:
    """Refuse, with advice, arguments of ``fit`` that QueryRanker passes itself, or that do not fit sorted rows.

    With ``takes_sets``, QueryRanker passes all about validation sets but ``eval_set``, which says everything.
    """
    for name in given:
        hint = _REFUSED.get(name)
        # eval_set, sample_weight_eval_set, X_val and so on.
        of_sets = _VALIDATION.search(name) and name not in _NOT_OF_ROWS
        if takes_sets and (of_sets or name == "early_stopping_rounds") and name != "eval_set":
            hint = _OF_SETS
        if hint:
            raise TypeError(f"QueryRanker.fit got an unexpected parameter {name!r}.{hint}")


def per_row(given: dict[str, Any], n_rows: int) -> dict[str, Any]:
    """Parameters with one value per row, recognized by name, else by length, as in scikit-learn."""
    found = {}
    for name, value in given.items():
        never = name in _PER_FEATURE or _VALIDATION.search(name)
        if name not in _PER_ROW and (never or not is_column(value, n_rows)):
            continue
        refuse_masked(value, name)
        column = value if hasattr(value, "shape") else np.asarray(value)
        if column.ndim == 0 or count_rows(column) != n_rows:
            raise ValueError(
                f"{name} must hold one value per document, {n_rows} in all; got shape {column.shape}."
            )
        found[name] = column
    return found


def check_starts(further: dict[str, Any]) -> None:
    """Refuse scores to start from beside validation sets of the user, which have none."""
    for name in _STARTS:
        if name in further:
            raise ValueError(
                f"{name} must be None if fit gets validation sets, which have no scores to start from. Set "
                "validation_fraction instead, which holds out rows with their scores."
            )


def requests_of_fit(estimator: Any) -> dict[str, Any]:
    """Metadata requests by name: all parameters that are passed on, or the estimator's own requests."""
    check_is_estimator(estimator)
    requests = getattr(get_routing_for_object(estimator), "fit", None)
    said = {} if requests is None else requests.requests
    names = sorted(taken_by_fit(estimator) - {*_OWN, *_REFUSED})
    return {name: True if said.get(name) is None else said[name] for name in names}
