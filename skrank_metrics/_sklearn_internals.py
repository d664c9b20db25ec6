"""All that relies on the internals of scikit-learn, as its public interface does not offer these four things.

- Errors in the set-up must abort a search, but model selection turns what a scorer raises into NaN scores.
- The metric and response method of a scorer must be known, but scorers keep them in private attributes.
- ``refit=`` must know the splits of the search, but it is called with ``cv_results_`` alone.
- A scorer must know which queries a model was fitted on, but it sees predictions only.

If scikit-learn changes, the first becomes a plain exception, the second a scorer of unknown origin, the third an error
that asks for a parameter, and the fourth goes without a warning. Each has a test that then says what changed.
"""

from __future__ import annotations

import copy
import sys
import warnings
import weakref
from collections.abc import Iterable
from types import FrameType
from typing import Any, NoReturn

from numpy.typing import NDArray

from skrank_metrics._input.arrays import IntArray

Queries = dict[Any, int]


class _NotANumber:
    """Stands in for a score, and raises the error when scikit-learn unwraps it, or a user looks at its value."""

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
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __format__ = _raise
    __hash__ = None  # type: ignore[assignment]
    # Looked up by scikit-learn to unwrap a score; it ignores a ValueError of the call, not of the look-up.
    item = property(_raise)


def fail_in_search(error: Exception) -> Any:
    """Raise an error in the set-up, which affects all candidates of a search.

    With ``error_score=nan``, its default, scikit-learn catches what a scorer raises, warns, and continues with NaN for
    every candidate; the first one then wins. But it checks that a scorer returns a number. So there, and only there,
    return the error in place of a score, to be raised by that check.
    """
    if _caller("_score", "sklearn.model_selection._validation"):
        return _NotANumber(error)
    raise error


def splits_of_search() -> Iterable[tuple[Any, Any]] | None:
    """Splits of the search that calls back, drawn anew if they are random; None if there is none."""
    frame = _caller("fit", "sklearn.model_selection._search")
    if frame is None:
        return None
    found = frame.f_locals
    # A local variable before scikit-learn 1.9. A copy, as splitting can advance its random state.
    cv = copy.deepcopy(getattr(found.get("self"), "_checked_cv_orig", found.get("cv_orig")))
    routed = found.get("routed_params")
    return None if cv is None or routed is None else cv.split(found["X"], found["y"], **routed.splitter.split)


def _caller(function: str, module: str) -> FrameType | None:
    frame: FrameType | None = sys._getframe(1)
    while frame and (frame.f_code.co_name != function or frame.f_globals.get("__name__") != module):
        frame = frame.f_back
    return frame


def score_function(scorer: Any) -> Any:
    """Function that was passed to make_scorer, None for other scorers."""
    return getattr(scorer, "_score_func", None)


def response_method(scorer: Any) -> Any:
    """Response methods that were passed to make_scorer."""
    return scorer._response_method


# The queries behind an array of predictions, by its identity. scikit-learn's scorers pass on the very array that
# predict returned. Nothing is known about other arrays, and nothing is said.
_known: dict[int, tuple[weakref.ref[NDArray[Any]], Queries]] = {}


def queries_of(ids: NDArray[Any], sizes: IntArray) -> Queries:
    """Queries with their numbers of documents."""
    return dict(zip(ids.tolist(), sizes.tolist(), strict=True))


def remember(predictions: NDArray[Any], fitted: Queries) -> None:
    """Remember which queries a model was fitted on, as long as its predictions live."""
    key = id(predictions)
    _known[key] = weakref.ref(predictions, lambda _: _known.pop(key, None)), fitted


def warn_of_fitted(predictions: Any, ids: NDArray[Any], sizes: IntArray) -> None:
    """Warn if some of the scored queries are among those of the fit.

    If all are, with the same numbers of documents, the training part is scored on purpose, as with
    ``return_train_score=True``.
    """
    reference, fitted = _known.get(id(predictions), (None, {}))
    if reference is None or reference() is not predictions:
        return
    scored = queries_of(ids, sizes)
    both = len(scored.keys() & fitted.keys())
    if both and scored != fitted:
        warnings.warn(
            f"{both} of the {len(scored)} queries that are scored were among the {len(fitted)} that the ranker was "
            "fitted on, judging by their ids, so that the score is too good. Split by query, as QueryKFold does; "
            "audit_splits(cv, X, y, qid=qid) shows what a splitter does. If ids were numbered anew for each part or "
            "file, so that different queries share an id, number them on: qid_from_sizes(sizes, first=...).",
            UserWarning,
            stacklevel=2,
        )
