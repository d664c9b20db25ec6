"""The folds of a splitter."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray, IntArray
from skrank_metrics._output.result import counted
from skrank_metrics.displays._base import COLOURS, GREY, documented, ink, legend, use_axes
from skrank_metrics.splitters.audit import SplitReport, audit_splits

# Largest height of a new figure, in inches.
MOST_HEIGHT = 30
# The axis shows at least this much around 1, since smaller differences do not matter.
LEAST_SHOWN = 0.1
# Longer texts of splitters are cut off, such as those of lists of rows, and others are wrapped.
MOST_NAMED, LABEL_WIDTH = 120, 60


class SplitDisplay:
    """Test parts of folds: documents, queries and labels relative to their means over folds, with leaks marked.

    Create it with ``from_splitter`` or ``from_report``. In folds of equal size and composition, all marks are at 1. If
    a fold cuts queries or groups, a band marks the fold, and its label says how many.

    Parameters
    ----------
    documents, queries : array-like of int of shape (n_folds,)
        Number of documents and queries in the test part of each fold.
    share_relevant : array-like of float of shape (n_folds,)
        Share of these documents that are relevant.
    leaks : array-like of int of shape (n_folds,)
        Number of queries and groups that have rows both in train and in test, or only some of their rows in the fold.
    splitter : str, default=None
        The splitter as text, for the label of the axis.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        Marks of the documents, queries and shares of relevant documents.
    leaks_ : list of matplotlib Polygon or Rectangle
        Bands of the folds that leak.
    ax_, figure_ : matplotlib Axes and Figure
        Axes of the picture, and the figure that they are in.

    See Also
    --------
    audit_splits : Audit a splitter, in numbers, with the ids of the queries that leak.

    Examples
    --------
    KFold cuts query "b" in the middle:

    >>> import matplotlib.pyplot as plt
    >>> from sklearn.model_selection import KFold
    >>> from skrank_metrics import SplitDisplay
    >>> X, y, qid = [[0]] * 6, [1, 0, 0, 1, 0, 0], ["a", "a", "b", "b", "c", "c"]
    >>> display = SplitDisplay.from_splitter(KFold(2), X, y, qid=qid)
    >>> display.leaks
    array([1, 1])
    >>> plt.close(display.figure_)
    """

    def __init__(
        self, documents: Any, queries: Any, share_relevant: Any, leaks: Any, *, splitter: str | None = None
    ) -> None:
        self.documents: IntArray = np.asarray(documents)
        self.queries: IntArray = np.asarray(queries)
        self.share_relevant: FloatArray = np.asarray(share_relevant, dtype=np.float64)
        self.leaks: IntArray = np.asarray(leaks)
        self.splitter = splitter

    @documented()
    def plot(self, ax: Any = None) -> SplitDisplay:
        """Draw the folds one below the other; the height of a new figure follows from their number."""
        n_folds = len(self.documents)
        ax = use_axes(self, ax, figsize=(9, min(MOST_HEIGHT, 1.5 + 0.45 * n_folds)))
        self.leaks_ = [
            ax.axhspan(fold - 0.4, fold + 0.4, color=COLOURS[1], alpha=0.2, linewidth=0)
            for fold in np.flatnonzero(self.leaks)
        ]
        ax.axvline(1, color=GREY, linewidth=1, zorder=0)
        # Each in its own row, so that marks at the same place are all visible.
        shown = (
            ("documents", self.documents, "o", -0.2),
            ("queries", self.queries, "s", 0.0),
            ("share of relevant documents", self.share_relevant, "^", 0.2),
        )
        self.lines_ = []
        for number, (label, values, marker, shift) in enumerate(shown):
            style = {"linestyle": "none", "marker": marker, "color": COLOURS[2 * number % 5], "label": label}
            self.lines_ += ax.plot(_relative(values), np.arange(n_folds) + shift, **style)
        self._label_folds(ax)
        legend(ax)
        return self

    def _label_folds(self, ax: Any) -> None:
        n_folds, (low, high) = len(self.documents), ax.get_xlim()
        splitter = textwrap.fill(textwrap.shorten(self.splitter or "", MOST_NAMED), LABEL_WIDTH)
        xlabel = f"relative to the mean over folds\n{splitter}".rstrip()
        ax.set(xlabel=xlabel, ylim=(n_folds - 0.5, -0.5), xlim=(min(low, 1 - LEAST_SHOWN), max(high, 1 + LEAST_SHOWN)))
        ax.set_yticks(range(n_folds), [self._label(fold) for fold in range(n_folds)], fontsize="small")
        for fold, text in enumerate(ax.get_yticklabels()):
            text.set_color(COLOURS[1] if self.leaks[fold] else ink())

    def _label(self, fold: int) -> str:
        sizes = f"{counted(int(self.queries[fold]), 'query')}, {counted(int(self.documents[fold]), 'document')}"
        leak = f"\nLEAK: {self.leaks[fold]} cut" if self.leaks[fold] else ""
        return f"fold {fold}: {sizes}{leak}"

    @classmethod
    @documented(report=("SplitReport", "Result of audit_splits."))
    def from_report(cls, report: SplitReport, *, ax: Any = None) -> SplitDisplay:
        """Draw the folds of an audit."""
        table = report.table
        shown = table["documents"], table["queries"], table["share_relevant"]
        return cls(*shown, np.sum([table[kind] for kind in report.ids], axis=0), splitter=report.splitter).plot(ax)

    @classmethod
    @documented(
        cv=("cross-validation splitter, int, iterable of (train, test) or None", "As in audit_splits."),
        X=("array-like of shape (n_documents, n_features)", "Passed to the splitter."),
        groups=("array-like of shape (n_documents,)", "Units to keep together, such as users, as in audit_splits."),
    )
    def from_splitter(
        cls, cv: Any, X: Any, y: Any, *, qid: Any = None, groups: Any = None, ax: Any = None
    ) -> SplitDisplay:
        """Audit the folds of a splitter of any kind, and draw them."""
        return cls.from_report(audit_splits(cv, X, y, qid=qid, groups=groups), ax=ax)


def _relative(values: Any) -> FloatArray:
    """Values divided by their mean; NaN, which is not drawn, if all are 0."""
    with np.errstate(invalid="ignore"):
        return np.asarray(values / np.mean(values), dtype=np.float64)
