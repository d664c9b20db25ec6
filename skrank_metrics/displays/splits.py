"""The folds of a splitter."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import FloatArray, IntArray
from skrank_metrics._output.result import counted
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.splitters.audit import SplitReport

# Longer texts of splitters are cut off, such as those of lists of rows.
MOST_NAMED = 120


class SplitDisplay(Display):
    """Test parts of folds: their queries, documents and share of relevant documents, with leaks marked.

    In folds of equal size and composition, the bars of each panel are equally long. The names of folds that leak are
    orange and count the leaks.

    Parameters
    ----------
    documents, queries : array-like of int of shape (n_folds,)
        Number of documents and queries in the test part of each fold.
    share_relevant : array-like of float of shape (n_folds,)
        Share of these documents that are relevant.
    leaks : array-like of int of shape (n_folds,)
        Number of leaks of each fold, as counted by audit_splits, such as queries with rows both in train and in test.
    splitter : str, default=None
        The splitter as text, above the folds.

    Attributes
    ----------
    bars_ : list of matplotlib BarContainer
        Bars of the queries, documents and shares of relevant documents.
    axes_ : list of matplotlib Axes
        The three panels.
    ax_, figure_ : matplotlib Axes and Figure
        The first panel, and the figure that it is in.

    See Also
    --------
    audit_splits : Audit a splitter, in numbers, with the ids of the queries that leak.

    Examples
    --------
    KFold cuts query "b" in the middle:

    >>> import matplotlib.pyplot as plt
    >>> from sklearn.model_selection import KFold
    >>> from skrank_metrics import audit_splits
    >>> X, y, qid = [[0]] * 6, [1, 0, 0, 1, 0, 0], ["a", "a", "b", "b", "c", "c"]
    >>> display = audit_splits(KFold(2), X, y, qid=qid).plot()
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

    def _draw(self, ax: Any) -> None:
        names = [f"fold {fold}" + (f": {counted(int(leak), 'leak')}" if leak else "") for fold, leak in enumerate(self.leaks)]
        shown = {
            "queries": (self.queries, "{:,}"),
            "documents": (self.documents, "{:,}"),
            "share of relevant documents": (self.share_relevant, "{:.1%}"),
        }
        panels = self._panels(ax, 3 * [style.height_of(names)], (1, 1, 1))
        self.bars_ = []
        for number, (panel, (label, (values, spec))) in enumerate(zip(panels, shown.items(), strict=True)):
            look = style.polish(panel)
            self.bars_.append(panel.barh(range(len(names)), values, height=0.55, color=look.best))
            for row, value in enumerate(values.tolist()):
                style.write_beside(panel, value, row, spec.format(value), colour=look.ink)
            inks = [look.alarm if leak else look.ink for leak in self.leaks]
            style.draw_rows(panel, names if not number or style.is_narrow() else len(names) * [""], inks)
            panel.set(xlabel=label, xticks=[])
        if self.splitter:
            title = textwrap.fill(textwrap.shorten(self.splitter, MOST_NAMED), 60)
            self.ax_.set_title(title, loc="left", size="small", color=look.soft)

    @classmethod
    def _of(cls, result: SplitReport) -> SplitDisplay:
        table = result.table
        shown = table["documents"], table["queries"], table["share_relevant"]
        return cls(*shown, np.sum([table[kind] for kind in result.ids], axis=0), splitter=result.splitter)
