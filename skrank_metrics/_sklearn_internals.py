"""All that relies on the internals of scikit-learn, as its public interface does not offer these three things.

- Errors in the set-up must abort a search, but model selection turns what a scorer raises into NaN scores.
- The metric of a scorer must be known, but scorers keep their function in a private attribute.
- A scorer must know which queries a model was fitted on, but it sees predictions only.

If scikit-learn changes, the first becomes a plain exception, the second a scorer of unknown origin, and the third goes
without a warning. Each has a test that then says what changed.
"""

from __future__ import annotations

import sys
import warnings
import weakref
from typing import Any, NoReturn

from numpy.typing import NDArray

from skrank_metrics._input.arrays import IntArray

Queries = dict[Any, int]


class _NotANumber:
    """Stands in for a score, and raises the error when scikit-learn unwraps it."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def _stay(self, *_: object) -> _NotANumber:
        return self

    # Scorers multiply by a sign, and users average scores.
    __rmul__ = __mul__ = __add__ = __radd__ = __sub__ = __rsub__ = __truediv__ = __neg__ = _stay

    @property
    def item(self) -> NoReturn:
        """Looked up by scikit-learn to unwrap a score; it ignores a ValueError of the call, not of the look-up."""
        raise self._error


def fail_in_search(error: Exception) -> Any:
    """Raise an error in the set-up, which affects all candidates of a search.

    With ``error_score=nan``, its default, scikit-learn catches what a scorer raises, warns, and continues with NaN for
    every candidate; the first one then wins. But it checks that a scorer returns a number. So there, and only there,
    return the error in place of a score, to be raised by that check.
    """
    frame = sys._getframe(1)
    while frame is not None:
        if (
            frame.f_code.co_name == "_score"
            and frame.f_globals.get("__name__") == "sklearn.model_selection._validation"
        ):
            return _NotANumber(error)
        frame = frame.f_back  # type: ignore[assignment]
    raise error


def score_function(scorer: Any) -> Any:
    """Function that was passed to make_scorer, None for other scorers."""
    return getattr(scorer, "_score_func", None)


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
