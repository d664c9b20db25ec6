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
from sklearn.utils.metadata_routing import get_routing_for_object

from skrank_metrics._input.arrays import (
    FloatArray,
    IntArray,
    check_label_column,
    check_weights,
    is_column,
    places_in,
    refuse_masked,
    take_rows,
)
from skrank_metrics._input.grouping import Grouping, query_weights
from skrank_metrics._input.id_hash import Hashes, hash_ids, mix
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
# Parameters of validation rows, such as eval_set and sample_weight_eval_set, match this.
_VALIDATION = re.compile(r"(^|_)(eval|val)(_|$)")
# These match the expression, but hold something else.
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


# The keyword by which each library takes queries: sizes, numbers in ascending order, ids of contiguous rows.
BOOSTERS = {"lightgbm": "group", "xgboost": "qid", "catboost": "group_id"}
# Names that mean ids to some estimators and sizes to others.
_AMBIGUOUS = {"group", "groups", "group_id", "group_sizes", "query_id"}


@dataclass(frozen=True)
class SortedRows:
    """Rows sorted by query, if the estimator ranks."""

    X: Any
    y: NDArray[Any]
    ids: NDArray[Any]  # of each query
    codes: IntArray  # the number of the query of each row
    units: (
        IntArray  # the number of what is held out as a whole, its query or its group, for each row
    )
    weights: FloatArray | None  # one per row
    further: dict[str, Any]  # parameters of fit with one value per row

    @property
    def sizes(self) -> IntArray:
        """Number of documents of each query."""
        return np.bincount(self.codes)

    @property
    def weights_of_queries(self) -> FloatArray | None:
        """The mean weight of the rows of each query."""
        if self.weights is None:
            return None
        return np.bincount(self.codes, self.weights) / self.sizes

    def take(self, rows: Any) -> SortedRows:
        """These rows; the others leave no gap in the numbers of the queries."""
        queries, codes = np.unique(self.codes[rows], return_inverse=True)
        return SortedRows(
            take_rows(self.X, rows),
            self.y[rows],
            self.ids[queries],
            codes,
            self.units[rows],
            None if self.weights is None else self.weights[rows],
            {name: take_rows(value, rows) for name, value in self.further.items()},
        )


def sorted_rows(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    grouping: Grouping,
    units: Grouping,
    sample_weight: Any,
    further: dict[str, Any],
) -> SortedRows:
    """Sort rows by query for rankers, and check that the estimator takes weights if there are any."""
    weights, way = None, way_of_queries(estimator)
    if sample_weight is not None:
        name = "group_weight" if way == "catboost" else "sample_weight"
        if name not in taken_by_fit(estimator):
            raise TypeError(
                f"sample_weight must be None, since {type(estimator).__name__}.fit takes no weights."
            )
        weights = check_weights(sample_weight, len(y), "document")
        if way in ("catboost", "xgboost"):
            # These boosters weight queries, so weights must not vary within one.
            query_weights(sample_weight, grouping)
    # Queries are numbered in an order of their ids, so that random draws do not depend on the order of the rows.
    places = np.argsort(canonical_order(units.ids))
    rows = SortedRows(X, y, grouping.ids, grouping.codes, places[units.codes], weights, further)
    # Regressors and classifiers get the rows as they are, also those of a precomputed kernel, whose columns are rows.
    if grouping.order is None or way is None:
        return rows
    return rows.take(grouping.order)


def label_column(y: Any) -> NDArray[Any]:
    """Checked labels, of their own type if they are numbers: boosters take integers for grades."""
    if y is None:
        raise ValueError(
            "QueryRanker requires y to be passed, but the target y is None. Pass relevance labels."
        )
    labels = check_label_column(y)
    given = np.asarray(y)
    return given if given.dtype.kind in "biuf" else labels


@dataclass(frozen=True, eq=False)
class FittedQueries:
    """The queries of a fit as salted hashes, so that a pickled model does not hold their ids."""

    salt: bytes
    hashes: Hashes  # ascending
    sizes: IntArray  # documents of each

    @classmethod
    def of(cls, ids: NDArray[Any], sizes: IntArray, salt: bytes = b"") -> FittedQueries:
        """Hash queries. Without a salt, it follows from all ids, so equal fits have equal pickles."""
        hashes = hash_ids(ids)
        salt = salt or hashlib.blake2b(np.sort(hashes).tobytes(), digest_size=16).digest()
        one, other = np.frombuffer(salt, dtype=np.uint64)
        # Each of the two can be inverted, but not their sum.
        salted = mix(hashes ^ one) + mix(hashes ^ other)
        order = np.argsort(salted)
        return cls(salt, salted[order], sizes[order])

    def shared(self, ids: NDArray[Any], sizes: IntArray) -> tuple[int, bool]:
        """How many of these queries are among those of the fit, and whether they are all of those, unchanged."""
        other = self.of(ids, sizes, self.salt)
        is_known = self.hashes[places_in(self.hashes, other.hashes)] == other.hashes
        same_ids = np.array_equal(self.hashes, other.hashes)
        return int(is_known.sum()), same_ids and np.array_equal(self.sizes, other.sizes)


def fit_arguments(estimator: Any, rows: SortedRows) -> dict[str, Any]:
    """Keywords of an estimator's ``fit``: queries, weights, and other values per row."""
    arguments: dict[str | None, dict[str, Any]] = {
        "lightgbm": {"group": rows.sizes, "sample_weight": rows.weights},
        "xgboost": {"qid": rows.codes, "sample_weight": rows.weights_of_queries},
        "catboost": {"group_id": rows.codes, "group_weight": rows.weights},
        "qid": {"qid": rows.codes, "sample_weight": rows.weights},
        None: {"sample_weight": rows.weights},
    }
    own = arguments[way_of_queries(estimator)]
    # Some estimators refuse a keyword that they do not need, even if it is None.
    given = {name: value for name, value in own.items() if value is not None}
    return {**rows.further, **given}


def library_of(estimator: Any) -> str | None:
    """The library of a booster or of a subclass: "lightgbm", "xgboost", "catboost", or None for other estimators."""
    modules = [base.__module__.partition(".")[0] for base in type(estimator).__mro__]
    return next((module for module in modules if module in BOOSTERS), None)


def way_of_queries(estimator: Any) -> str | None:
    """How ``fit`` takes queries: as one of the boosters, as numbers in the keyword "qid", or not at all, None."""
    library, accepted = library_of(estimator), taken_by_fit(estimator)
    if library is not None:
        return library if BOOSTERS[library] in accepted else None
    return "qid" if "qid" in accepted else None


def check_gets_queries(estimator: Any) -> None:
    """Refuse an estimator that needs queries, but would not get them."""
    kind, way = type(estimator).__name__, way_of_queries(estimator)
    unclear = sorted(taken_by_fit(estimator) & _AMBIGUOUS)
    if unclear and way is None:
        raise TypeError(
            f"{kind}.fit takes {unclear[0]}, which may mean ids or sizes. QueryRanker knows LightGBM, XGBoost and "
            "CatBoost; another ranker needs fit(X, y, qid=), which gets sorted rows and one number per row."
        )
    params = estimator.get_params()
    for value in params.values():
        if hasattr(value, "fit") and way_of_queries(value):
            raise TypeError(
                f"estimator must be the ranker itself; got {kind} with {type(value).__name__} inside, to which it does "
                "not pass the queries. Put QueryRanker around the inner one instead."
            )
    for name, value in params.items():
        if way != "xgboost" and name.endswith("objective") and str(value).startswith("rank:"):
            raise TypeError(f"objective={value!r} needs XGBRanker; {kind} ignores the queries.")


def taken_by_fit(estimator: Any) -> set[str]:
    """Names of the parameters of ``fit`` besides X and y."""
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
    if library_of(estimator) == "catboost":
        return type(estimator)(**estimator.get_params())
    return clone(estimator, safe=False)


def clone_to_fit(estimator: Any) -> Any:
    """Clone an estimator, but share its callbacks, which report to the user."""
    cloned = clone_estimator(estimator)
    for name, value in estimator.get_params().items():
        if name.endswith("callbacks"):
            cloned.set_params(**{name: value})
    return cloned


def check_is_estimator(estimator: Any) -> None:
    """Refuse anything but an estimator object, such as a class."""
    if isinstance(estimator, type) or not hasattr(estimator, "get_params"):
        raise TypeError(
            f"estimator must be an estimator object with fit and get_params, such as LGBMRanker(); got {estimator!r}."
        )


def check_prefixes(ranker: Any, params: dict[str, Any]) -> None:
    """Refuse parameters of the estimator that are named without the prefix ``estimator__``."""
    of_estimator = params.get("estimator", ranker.estimator)
    known: dict[str, Any] = getattr(of_estimator, "get_params", dict)()
    for name in params.keys() - ranker.get_params(deep=False).keys():
        # scikit-learn's error lists the parameters of the ranker, among which is none that helps.
        if name in known:
            raise ValueError(
                f"QueryRanker has no parameter {name!r}, but {type(of_estimator).__name__} has: "
                f"write 'estimator__{name}', or 'queryranker__estimator__{name}' in a Pipeline."
            )


def hold_out(rows: SortedRows, fraction: Any, random_state: Any) -> tuple[SortedRows, SortedRows]:
    """Draw whole queries or groups for validation, and return the training rows and the validation rows."""
    n_units = int(rows.units.max()) + 1
    n_validation = round(float(fraction) * n_units)
    if not 0 < n_validation < n_units:
        raise ValueError(
            f"validation_fraction={fraction} must leave queries, or groups, on both sides; got {n_validation} of "
            f"{n_units} for validation. Fit on more of them, or set another fraction."
        )
    drawn = random_source(random_state).permutation(n_units)[:n_validation]
    is_held_out = mask_at(drawn, n_units)[rows.units]
    return rows.take(np.flatnonzero(~is_held_out)), rows.take(np.flatnonzero(is_held_out))


def best_iteration(estimator: Any) -> int:
    """Number of boosting rounds that the predictions of a model with early stopping use."""
    library = library_of(estimator)
    if library == "lightgbm":
        return int(estimator.booster_.current_iteration())
    if library == "catboost":
        return int(estimator.tree_count_)
    return int(estimator.best_iteration) + 1


def passed_on(given: dict[str, Any]) -> dict[str, Any]:
    """Arguments of ``fit`` without None, and models to go on from without the ranker around them."""
    return {
        name: getattr(value, "estimator_", value)
        for name, value in given.items()
        if value is not None
    }


def check_names(given: dict[str, Any], *, takes_sets: bool) -> None:
    """Refuse, with advice, arguments of ``fit`` that QueryRanker passes itself, or that do not fit sorted rows.

    With ``takes_sets``, QueryRanker passes all about validation sets itself.
    """
    for name in given:
        hint = _REFUSED.get(name)
        # eval_set, sample_weight_eval_set, X_val and so on.
        of_sets = _VALIDATION.search(name) and name not in _NOT_OF_ROWS
        if takes_sets and (of_sets or name == "early_stopping_rounds"):
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
        if column.shape[:1] != (n_rows,):
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
    said = getattr(requests, "requests", {})
    names = sorted(taken_by_fit(estimator) - {*_OWN, *_REFUSED})
    return {name: True if said.get(name) is None else said[name] for name in names}
