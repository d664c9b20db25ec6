"""Errors that a search must not turn into NaN scores."""

from __future__ import annotations

import sys
from typing import Any, NoReturn


class _NotANumber:
    """Stands in for a score, and raises the error where scikit-learn looks into it."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def _stay(self, *_: object) -> _NotANumber:
        return self

    # Scorers multiply by a sign, and users average what they get.
    __rmul__ = __mul__ = __add__ = __radd__ = __sub__ = __rsub__ = __truediv__ = __neg__ = _stay

    @property
    def item(self) -> NoReturn:
        """What scikit-learn looks for to unwrap a score, on the way forgiving a ValueError of the call."""
        raise self._error


def fail_in_search(error: Exception) -> Any:
    """Raise an error of the set-up, which no candidate of a search can escape.

    Under ``error_score=nan``, its default, scikit-learn's model selection catches what a scorer raises, warns, and
    carries on with NaN for every candidate; the first one then wins. It does insist that a scorer returns a number.
    So there, and only there, the error is handed back in place of the score, and raised when that is looked into.
    Elsewhere, and should scikit-learn ever change here, the error is raised on the spot.
    """
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "_score" and frame.f_globals.get("__name__") == _CATCHER:
            return _NotANumber(error)
        frame = frame.f_back  # type: ignore[assignment]
    raise error


_CATCHER = "sklearn.model_selection._validation"
