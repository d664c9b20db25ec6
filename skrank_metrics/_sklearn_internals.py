"""All code that relies on the internals of scikit-learn, since its public interface does not offer these seven things.

- Errors in the set-up must abort a search, but model selection turns what a scorer raises into NaN scores.
- The metric and response method of a scorer must be known, but scorers keep them in private attributes.
- ``refit=`` must know the splits of the search, but it is only called with ``cv_results_``.
- Row labels of the whole X and y must be compared, but scorers and rankers see parts of them, and scorers no X.
- A scorer must know which queries a model was fitted on, but it only sees predictions.
- A score function must know what its scorer requests, but it only sees what arrives.
- What a search scored with must be known after its fit, but scikit-learn before 1.7 passed no weights to scorers.

If scikit-learn changes, the first becomes a plain exception, the second a scorer of unknown origin, the third an error
that asks for a parameter, the fourth compares parts only, the fifth loses its warning, the sixth its hint, and the
seventh gives other scores than the search, which search_report says. For each, a test then shows what changed.
"""

from __future__ import annotations

import copy
import sys
import warnings
import weakref
from collections.abc import Iterable, Iterator, Mapping
from types import FrameType
from typing import Any, NoReturn

from numpy.typing import NDArray

from skrank_metrics._input.arrays import IntArray
from skrank_metrics._input.query_ids import check_aligned, without_labels

_VALIDATION = "sklearn.model_selection._validation"
_SEARCH = "sklearn.model_selection._search.fit"
# Functions that take folds of their local variables X, y, groups and params, or transform X. Worker processes only run
# _fit_and_score and _fit_and_predict, which have no whole groups and params.
_FOLDING = (
    _SEARCH,
    f"{_VALIDATION}.cross_validate",
    f"{_VALIDATION}.cross_val_predict",
    f"{_VALIDATION}.learning_curve",
    f"{_VALIDATION}.validation_curve",
    f"{_VALIDATION}._fit_and_score",
    f"{_VALIDATION}._fit_and_predict",
    "sklearn.pipeline.score",
)
_SCORER = "sklearn.metrics._scorer._score"
# Around fit of every estimator of scikit-learn, many of which turn X and y into arrays.
_FIT = "sklearn.base.wrapper"


class _NotANumber:
    """Placeholder for a score that raises the error when scikit-learn unwraps it or a user looks at its value."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def _stay(self, *_: object) -> _NotANumber:
        return self

    # Scorers multiply by a sign, and users average scores.
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _stay
    __pow__ = __rpow__ = __neg__ = __pos__ = __abs__ = _stay

    def _raise(self, *_: object) -> NoReturn:
        raise self._error

    __bool__ = __float__ = __int__ = __index__ = __round__ = __floor__ = __ceil__ = __trunc__ = _raise
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __hash__ = __format__ = _raise
    # scikit-learn looks this up to unwrap a score. It ignores a ValueError of the call, but not of the look-up.
    item = property(_raise)


def fail_in_search(error: Exception) -> Any:
    """Raise an error in the set-up, which affects all candidates of a search.

    With ``error_score=nan``, its default, scikit-learn catches the errors of a scorer, warns, and continues with NaN
    for every candidate, so the first one wins. But it also checks that a scorer returns a number. There, and only
    there, return an object that raises the error in this check.
    """
    if any(_callers(f"{_VALIDATION}._score")):
        return _NotANumber(error)
    raise error


def splits_of_search() -> Iterable[tuple[Any, Any]] | None:
    """The splits of the calling search, made again; None outside a search."""
    found = next(_callers(_SEARCH), {})
    # A local variable in older versions. Copied, since splitting can advance its random state.
    cv = copy.deepcopy(getattr(found.get("self"), "_checked_cv_orig", found.get("cv_orig")))
    routed = found.get("routed_params")
    return None if cv is None or routed is None else cv.split(found["X"], found["y"], **routed.splitter.split)


def check_rows(X: Any, **columns: Any) -> dict[str, Any]:
    """Check by row labels that X and columns have the same rows, and return the columns.

    In a fold, a default index no longer counts from 0, and in an estimator of scikit-learn, rows may have no index. In
    these cases, check all rows that were passed to scikit-learn, and return the columns without labels.
    """
    folding = list(_callers(_FIT, *_FOLDING))
    permuting = any(_callers(f"{_VALIDATION}._permutation_test_score"))  # y with its labels
    if not folding and not permuting:
        check_aligned(X=X, **columns)
        return columns
    if not permuting:
        check_aligned(**_passed(folding[-1]))
    return {name: without_labels(column) for name, column in columns.items()}


def _passed(call: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call that have rows."""
    if "args" in call:  # of fit
        return dict(zip(("X", "y"), call["args"], strict=False)) | dict(call["kwargs"])
    return {name: call.get(name) for name in ("X", "y", "groups")} | dict(call.get("params") or {})


def scored_rows() -> Any:
    """The X that a scorer is called with; None outside a scorer."""
    return next(_callers(_SCORER), {}).get("X")


def running_scorer() -> Any:
    """The scorer that calls a score function; None outside a scorer."""
    return next(_callers(_SCORER), {}).get("self")


def _callers(*functions: str) -> Iterator[Mapping[str, Any]]:
    """Local variables of the running calls of functions, innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if f"{frame.f_globals.get('__name__')}.{frame.f_code.co_name}" in functions:
            yield frame.f_locals
        frame = frame.f_back


def routing_enabled() -> bool:
    """Whether metadata routing is enabled."""
    return bool(sys.modules["sklearn"].get_config()["enable_metadata_routing"])


def ways_out(direct: str = "") -> str:
    """Say how to pass ids through model selection, given the metadata routing, and in a direct call as ``direct``."""
    if routing_enabled():
        direct = direct or "qid"
        others = "groups=qid to fit of a search, and params={'groups': qid} to cross_validate and similar functions"
    else:
        others = (
            "with_qid(y, qid) as y, or enable metadata routing and pass groups=qid, which RFECV and BaggingRegressor "
            "need, since they drop the index of y"
        )
    if not direct:
        return f"Pass {others}."
    return f"Pass {direct}=<one query id per document>; in scikit-learn's model selection, pass {others}."


def passes_weights_to_scorers(search: Any) -> bool:
    """Whether scikit-learn's search passes the ``sample_weight`` of its fit to its scorers without metadata routing."""
    return hasattr(search, "_check_scorers_accept_sample_weight")


def score_function(scorer: Any) -> Any:
    """Function that was passed to make_scorer; None for other scorers."""
    return getattr(scorer, "_score_func", None)


def response_method(scorer: Any) -> Any:
    """Response methods that were passed to make_scorer."""
    return scorer._response_method


# The fitted queries behind an array of predictions, by its identity. scikit-learn's scorers pass on the very array that
# predict returned. Nothing is known about other arrays, so there is no warning for them.
_known: dict[int, tuple[weakref.ref[NDArray[Any]], Any]] = {}


def remember(predictions: NDArray[Any], fitted: Any) -> None:
    """Remember which queries a model was fitted on, for as long as its predictions live."""
    key = id(predictions)
    _known[key] = weakref.ref(predictions, lambda _: _known.pop(key, None)), fitted


def warn_of_fitted(predictions: Any, ids: NDArray[Any], sizes: IntArray) -> None:
    """Warn if some of the scored queries are among those of the fit.

    If all are, with the same numbers of documents, the training set is assumed to be scored on purpose, as with
    ``return_train_score=True``.
    """
    if id(predictions) not in _known:
        return
    reference, fitted = _known[id(predictions)]
    if reference() is not predictions:
        return
    both, same = fitted.shared(ids, sizes)
    if both and not same:
        warnings.warn(
            f"{both} of the {len(ids)} scored queries were among the {len(fitted.sizes)} queries that the ranker was "
            "fitted on, judging by their ids. If so, the score is too good: split by query, as QueryKFold does, and "
            "find queries that a splitter cuts with audit_splits(cv, X, y, qid=qid). If the ids only agree because "
            "each file numbers its queries from 0, give them different ids: qid_from_sizes(sizes, first=...).",
            UserWarning,
            stacklevel=2,
        )
