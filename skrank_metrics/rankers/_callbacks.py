"""Callbacks of scikit-learn 1.9, with substitutes for older versions."""

from __future__ import annotations

from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Substitute for the mixin, which this version of scikit-learn lacks."""

    def with_callbacks(method: Any) -> Any:
        return method


__all__ = ["CallbackSupportMixin", "start_task", "with_callbacks"]


def start_task(estimator: Any, parent: Any = None, name: str = "fit", **size: Any) -> Any:
    """Tell the callbacks that a task begins, and return its context. The fit itself has no parent.

    Returns None before scikit-learn 1.9.
    """
    if not hasattr(estimator, "set_callbacks"):
        return None
    # scikit-learn's documentation asks estimators to call this method despite its underscore.
    context = parent.subcontext(name, **size) if parent else estimator._init_callback_context(name, **size)
    context.call_on_fit_task_begin(estimator=estimator)
    return context
