"""What leans on the inside of scikit-learn, in one place: its public interface has no way for these three things.

- Errors of the set-up must end a search, while model selection turns what a scorer raises into NaN scores.
- The metric of a scorer must be found again, while scorers keep their function in a private attribute.
- A scorer must know which queries a model was fitted on, while it is called with predictions alone.

If scikit-learn changes, the first falls back to a plain exception, the second to "a scorer of others" and the third to
no warning; the tests then fail with a sentence that says so.
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
    """Stands in for a score, and raises the error when scikit-learn looks into it."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def _stay(self, *_: object) -> _NotANumber:
        return self

    # Scorers multiply by a sign, and users average what they get.
    __rmul__ = __mul__ = __add__ = __radd__ = __sub__ = __rsub__ = __truediv__ = __neg__ = _stay

    @property
    def item(self) -> NoReturn:
        """What scikit-learn looks for to unwrap a score, forgiving a ValueError of the call but not of the look-up."""
        raise self._error


def fail_in_search(error: Exception) -> Any:
    """Raise an error of the set-up, which no candidate of a search can escape.

    With ``error_score=nan``, its default, scikit-learn's model selection catches what a scorer raises, warns, and
    carries on with NaN for every candidate; the first one then wins. It does insist that a scorer returns a number.
    So there, and only there, the error is handed back in place of the score, and raised when that is looked into.
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
    """The function that make_scorer was given, None if the scorer is not one of make_scorer."""
    return getattr(scorer, "_score_func", None)


# The queries behind an array of predictions, by its identity. scikit-learn's scorers hand on what predict returned as
# it is; if anything made a new array of it, nothing is known about it here, and nothing is said.
_known: dict[int, tuple[weakref.ref[NDArray[Any]], Queries]] = {}


def queries_of(ids: NDArray[Any], sizes: IntArray) -> Queries:
    """Queries with their numbers of documents."""
    return dict(zip(ids.tolist(), sizes.tolist(), strict=True))


def remember(predictions: NDArray[Any], fitted: Queries) -> None:
    """Remember, as long as the predictions live, which queries the model that made them was fitted on."""
    key = id(predictions)
    _known[key] = weakref.ref(predictions, lambda _: _known.pop(key, None)), fitted


def warn_of_fitted(predictions: Any, ids: NDArray[Any], sizes: IntArray) -> None:
    """Warn if some of the queries that are scored are among those of the fit.

    If they are the very same, with as many documents each, the training part is scored on purpose, as by
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
