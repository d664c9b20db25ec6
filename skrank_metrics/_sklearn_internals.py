"""All code that relies on the internals of scikit-learn, since its public interface does not offer these eight things.

Five look at the functions that are running:

- Errors in the set-up must abort a search, but scikit-learn turns what a scorer raises into NaN scores. Otherwise, a
  search without query ids would return its first candidate as the best.
- Row labels of the whole X and y must be compared, but scorers and rankers see parts of them, and scorers no X.
  Otherwise, frames that were sorted without their labels would go unnoticed except by the splitters of this package,
  and folds that cut queries would be scored as if their parts were queries.
- A warning about a search must appear once, but each fit has its own filters. Otherwise, it would appear for each fit.
- Scorers of a dict rank the documents once, but scikit-learn calls one after the other. Otherwise, six scorers take six
  times as long as one scorer.
- A validation set of a fit must stay whole, but scikit-learn splits whatever is as long as the rows. Otherwise, early
  stopping would see a part of the set.

Three use private attributes or methods, or the identity of arrays:

- The metric and response method of a scorer must be known, but scorers keep them to themselves. Otherwise, a scorer is
  of unknown origin, which search_report and RacingSearchCV refuse.
- A scorer must know which queries a model was fitted on, but it only sees predictions. Otherwise, there is no warning.
- Results of a race must look like those of the installed scikit-learn, and its parameters must be checked likewise, but
  only its own searches do so. Otherwise, ``cv_results_`` would have other columns or types in some versions.

A test for each shows what changed if scikit-learn changes. docs/upstream.md asks for a public way.
"""

from __future__ import annotations

import copy
import sys
import warnings
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import IntArray
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.query_ids import carried, check_aligned, group_ids, without_labels

_VALIDATION = "sklearn.model_selection._validation"


class _NotANumber:
    """Placeholder for a score that raises the error when scikit-learn unwraps it or a user looks at its value."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def _stay(self, *_: object) -> _NotANumber:
        return self

    # Scorers multiply by a sign, and users average scores.
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = (
        _stay
    )
    __pow__ = __rpow__ = __neg__ = __pos__ = __abs__ = _stay

    def _raise(self, *_: object) -> NoReturn:
        raise self._error

    __bool__ = __float__ = __int__ = __index__ = __round__ = __floor__ = __ceil__ = __trunc__ = (
        _raise
    )
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __hash__ = __format__ = _raise
    # scikit-learn looks this up to unwrap a score. It ignores a ValueError of the call, but not of the look-up.
    item = property(_raise)


def fail_in_search(error: Exception) -> Any:
    """Raise an error in the set-up; to scikit-learn itself in a search, return an object that raises it later.

    The search would catch the error. Scorers that users write get it.
    """
    if called_by_scikit_learn() and any(_frames(f"{_VALIDATION}._score")):
        return _NotANumber(error)
    raise error


def called_by_scikit_learn() -> bool:
    """Whether the function of this package that is running was called by scikit-learn, not by a scorer of the user."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _full_name(frame).startswith("skrank_metrics."):
        frame = frame.f_back
    return frame is not None and _full_name(frame).startswith("sklearn.")


def check_rows(X: Any, **columns: Any) -> dict[str, Any]:
    """Check by row labels that X and columns have the same rows, and return the columns.

    If scikit-learn calls, check all rows that were passed to it, and drop the labels: in a fold, a default index no
    longer counts from 0.
    """
    whole = _rows_of_outermost_call()
    if not whole:
        check_aligned(X=X, **columns)
        return columns
    check_aligned(**whole)
    return {name: without_labels(column) for name, column in columns.items()}


def _rows_of_outermost_call() -> dict[str, Any]:
    """The arguments with rows of the running call of scikit-learn; none if there is no such call."""
    whole: dict[str, Any] = {}
    # The frames come innermost first, so the last one found is the outermost.
    for local in _frames("sklearn.", exact=False):
        whole = _rows_of_call(local) or whole
    return whole


def fits_fold() -> bool:
    """Whether scikit-learn fits a part of the rows that were passed to it."""
    return any(_frames(f"{_VALIDATION}.", exact=False))


def given_to_scorer(name: str) -> Any:
    """An argument that a scorer is called with, such as "X"; None outside a scorer."""
    return next(_frames("sklearn.metrics._scorer._score"), {}).get(name)


def kept_for_this_call() -> dict[str, Any]:
    """What scorers keep for the other scorers of a dict, until the running call of scikit-learn ends.

    All scorers of one call get the same function that predicts, which is made anew in each call, so a dict on this
    function is gone when the call ends. Outside a scorer, or if the function takes no attributes, nothing is kept.
    """
    attributes: dict[str, Any] = getattr(given_to_scorer("method_caller"), "__dict__", {})
    kept: dict[str, Any] = attributes.setdefault("skrank_metrics", {})
    return kept


def _rows_of_call(local: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with rows, given the local variables of a function of scikit-learn; none if it has no X and y."""
    # A wrapper of fit, which has its arguments in args and kwargs.
    if {"estimator", "args", "kwargs"} <= local.keys():
        return dict(zip(("X", "y"), local["args"], strict=False)) | dict(local["kwargs"])
    if not {"X", "y"} <= local.keys():
        return {}
    rows = {name: local.get(name) for name in ("X", "y", "groups")}
    # Worker processes know only the last two.
    for name in ("params", "fit_params", "score_params"):
        given = local.get(name)
        if isinstance(given, Mapping):
            rows |= given
    return rows


def is_first_warning() -> bool:
    """Whether a warning is the first one of the running search. Warnings outside a search all are."""
    counted: Any = _place_in_race.get()
    if counted is None:
        running = next(_frames(f"{_VALIDATION}._fit_and_score"), {})
        counted, fold = running.get("candidate_progress"), running.get("split_progress")
        if counted is None or fold is None:
            return _is_first_of_call()
        is_first_fit = counted[0] == fold[0] == 0
    else:
        is_first_fit = counted == (0, 0)
    # The first fit of a search begins a new list, since the last search may have warned as well.
    if is_first_fit and (not _warnings or _warnings[0] is not counted):
        _warnings.clear()
    _warnings.append(counted)
    return len(_warnings) == 1 and counted[0] == 0


# Those of the running search: the objects in which it counts its candidates, one per fit.
_warnings: list[tuple[int, int]] = []
# Candidate and fold that a race fits, since scikit-learn counts only those of each of its calls.
_place_in_race: ContextVar[tuple[int, int] | None] = ContextVar("place_in_race", default=None)


def _reference(thing: Any) -> Any:
    """A reference that does not keep a thing alive; lists have none."""
    return (lambda: None) if isinstance(thing, list) else weakref.ref(thing)


def _is_first_of_call() -> bool:
    """Whether a warning is the first one of a call that does not count its fits, such as cross_validate."""
    made_by_call: dict[str, Any] = {}
    for local in _frames("sklearn.", exact=False):
        for name in local.keys() & {"parallel", "y"}:
            made_by_call[name] = local[name]
    found = made_by_call.get("parallel", made_by_call.get("y"))
    if found is None:
        return True
    is_first = _last_call[0]() is not found
    _last_call[0] = _reference(found)
    return is_first


# What the last call that warned made, or the labels that it got, for as long as they live.
_last_call: list[Any] = [_reference([])]


@contextmanager
def fit_of_search(candidate: int, fold: int) -> Iterator[None]:
    """Count the fits of a search that calls scikit-learn for each of them."""
    token = _place_in_race.set((candidate, fold))
    try:
        yield
    finally:
        _place_in_race.reset(token)


def _frames(start: str, *, exact: bool = True) -> Iterator[Mapping[str, Any]]:
    """Local variables of the running functions with this full name, or that starts like this, innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = _full_name(frame)
        if name == start if exact else name.startswith(start):
            # A view without the methods of a dict from Python 3.13 on.
            yield dict(frame.f_locals)
        frame = frame.f_back


def _full_name(frame: FrameType) -> str:
    return f"{frame.f_globals.get('__name__')}.{frame.f_code.co_name}"


def routing_enabled() -> bool:
    """Whether metadata routing is enabled."""
    return bool(sys.modules["sklearn"].get_config()["enable_metadata_routing"])


def how_to_pass_ids(direct: str = "") -> str:
    """Say how to pass ids through model selection, given the metadata routing, and in a direct call as ``direct``."""
    if not routing_enabled():
        called = f", or in a direct call {direct}=<one query id per document>" if direct else ""
        hint = f"Pass with_qid(y, qid) as y{called}."
        routing = "sklearn.set_config(enable_metadata_routing=True)"
        for part in ("sklearn.feature_selection.", "sklearn.ensemble."):
            if any(_frames(part, exact=False)):
                return f"RFECV and ensembles drop the index of y: call {routing}, and pass qid= to fit."
        if _rows_of_outermost_call().get("groups") is not None:
            return f"groups= reaches only the splitter. {hint} To keep groups=, call {routing}."
        return hint
    return (
        "Pass groups=qid to fit of a search, params={'groups': qid} to cross_validate, or in a direct call "
        f"{direct or 'qid'}=<one query id per document>. A scorer on which set_score_request was called needs qid=True "
        "and groups=True in that call, too."
    )


def check_parameters(search: Any) -> None:
    """Check the parameters of a search as its own fit does."""
    search._validate_params()


def results_of_fits(
    search: Any, params: list[Any], n_folds: int, results: list[dict[str, Any]]
) -> dict[str, Any]:
    """``cv_results_`` of a search of scikit-learn, given the results of its fits, by candidate and fold."""
    table: dict[str, Any] = search._format_results(params, n_folds, results)
    return table


def say_which_fits_failed(results: Iterable[dict[str, Any]], error_score: Any) -> None:
    """Warn about fits that failed, in the words of a search of scikit-learn; raise an error if all did."""
    sys.modules[_VALIDATION]._warn_or_raise_about_fit_failures(list(results), error_score)


def score_function(scorer: Any) -> Any:
    """Function that was passed to make_scorer; None for other scorers."""
    return getattr(scorer, "_score_func", None)


def copy_with_function(scorer: Any, function: Any) -> Any:
    """Copy a scorer, with its requests, but with another function."""
    copied = copy.copy(scorer)
    copied._score_func = function
    return copied


def response_method(scorer: Any) -> Any:
    """Response methods that were passed to make_scorer."""
    return scorer._response_method


# The fitted queries behind the very array that predict returned, by its identity.
_known: dict[int, tuple[weakref.ref[NDArray[Any]], Any]] = {}


def remember(predictions: NDArray[Any], fitted: Any) -> None:
    """Remember which queries a model was fitted on, for as long as its predictions live."""
    key = id(predictions)
    _known[key] = weakref.ref(predictions, lambda _: _known.pop(key, None)), fitted


def warn_of_fitted(predictions: Any, ids: NDArray[Any], sizes: IntArray) -> None:
    """Warn if some, but not all, of the scored queries were fitted on; a whole training set is scored on purpose."""
    reference, fitted = _known.get(id(predictions), (None, None))
    # Python reuses the identity of an array that is gone, so it must be the same object.
    if reference is None or fitted is None or reference() is not predictions:
        return
    both, same = fitted.shared(ids, sizes)
    if both and not same and is_first_warning():
        warnings.warn(
            f"{both} of the {len(ids)} scored queries were also in the training set, so the score is not that of new "
            "queries. Split by query: cv=QueryKFold(5). If the ids agree by chance, as each file numbers its "
            "queries from 0, make them differ: qid_from_sizes(sizes) + len(train_sizes).",
            UserWarning,
            stacklevel=2,
        )


# Queries of which a fold has some rows, but not all


def warn_of_cut_queries(n_rows: int, side: str, qid: Any = None, groups: Any = None) -> None:
    """Warn once per search if scikit-learn passes only some rows of a query; an error if that is never meant.

    ``qid`` and ``groups`` are the ids that were passed for these rows; otherwise, they are in the index of the labels.
    """
    fold = _fold_of(n_rows)
    if fold is None:
        return
    whole, rows = fold
    queries = _queries_of_rows(whole, is_passed=qid is not None, or_groups=groups is not None)
    if queries is None:
        return
    inside = np.bincount(queries.codes[rows], minlength=len(queries.sizes))
    cut = np.flatnonzero((inside > 0) & (inside < queries.sizes))
    if not len(cut):
        return
    if side == "a test set":
        _refuse_halving_of_rows()
    first = cut[0]
    if is_first_warning():
        warnings.warn(
            f"The folds cut queries: {side} has {inside[first]} of the {queries.sizes[first]} documents of query "
            f"{queries.ids.tolist()[first]!r}. Metrics of such queries are not those of whole queries. Split by query: "
            "cv=QueryKFold(5). If queries are cut on purpose, such as users by time, filter this warning.",
            UserWarning,
            stacklevel=2,
        )


def _fold_of(n_rows: int) -> tuple[dict[str, Any], IntArray] | None:
    """The arguments with rows of the innermost call of scikit-learn that chose so many of them, and which it chose."""
    chosen: IntArray | None = None
    found: dict[str, Any] = {}
    for local in _frames("sklearn.", exact=False):
        for name in ("row_indices", "test", "train"):
            rows: Any = local.get(name)
            if chosen is None and np.shape(rows) == (n_rows,):
                chosen = np.asarray(rows)
        whole = _rows_of_call(local)
        labels: Any = whole.get("y")
        # A function that draws rows may overwrite its labels; the whole ones are in the function that called it.
        if chosen is None or np.ndim(labels) != 1 or len(labels) <= n_rows:
            continue
        # Functions further out may have ids that this one does not, or only of the fold. Their labels may be in another
        # order: permutation tests permute labels with their ids, and split those.
        if not found or len(labels) == len(found["y"]):
            given = {name: column for name, column in whole.items() if column is not None}
            found |= given | {"y": found.get("y", labels)}
    return (found, chosen) if found and chosen is not None else None


def _queries_of_rows(
    whole: Mapping[str, Any], *, is_passed: bool, or_groups: bool
) -> Grouping | None:
    """All rows of a call by query, kept for its next fold; None if their ids are unknown."""
    labels = whole["y"]
    source = whole.get("qid") if is_passed else labels
    ids = carried(labels, qid=source if is_passed else None)["qid"]
    if ids is None and or_groups:
        ids = source = whole.get("groups")
    # Those of a fit are replaced by the ids of the fold.
    if ids is None or len(ids) != len(labels):
        return None
    if _last_grouped[0]() is not source:
        _last_grouped[:] = [_reference(source), group_ids(ids, len(labels))]
    queries: Grouping = _last_grouped[1]
    return queries


_last_grouped: list[Any] = [_reference([]), None]


def _refuse_halving_of_rows() -> None:
    for local in _frames("sklearn.model_selection._search_successive_halving.", exact=False):
        if getattr(local.get("self"), "resource", None) == "n_samples":
            raise ValueError(
                "Successive halving with resource='n_samples' cuts queries, so that its scores are not those of whole "
                "queries. Pass another resource, such as resource='n_estimators', or see RacingSearchCV."
            )
