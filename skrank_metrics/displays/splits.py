"""The folds of a splitter."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

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
    result : SplitReport
        Result of audit_splits.

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
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['fold 0: 1 leak', 'fold 1: 1 leak']
    >>> plt.close(display.figure_)
    """

    result: SplitReport

    def _draw(self, ax: Any) -> None:
        table = self.result.table
        leaks = np.sum([table[kind] for kind in self.result.ids], axis=0).tolist()
        names = [f"fold {fold}" + (f": {counted(leak, 'leak')}" if leak else "") for fold, leak in enumerate(leaks)]
        shown = {
            "queries": (table["queries"], "{:,}"),
            "documents": (table["documents"], "{:,}"),
            "share of relevant documents": (table["share_relevant"], "{:.1%}"),
        }
        panels = self._panels(ax, 3 * [style.height_of(names)], (1, 1, 1))
        for number, (panel, (label, (values, spec))) in enumerate(zip(panels, shown.items(), strict=True)):
            look = style.polish(panel)
            panel.barh(range(len(names)), values, height=0.55, color=look.best)
            for row, value in enumerate(values.tolist()):
                style.write_beside(panel, (value, row), spec.format(value), look.ink)
            inks = [look.alarm if leak else look.ink for leak in leaks]
            style.draw_rows(panel, names if not number or style.is_narrow() else len(names) * [""], inks)
            panel.set(xlabel=label, xticks=[])
        title = textwrap.fill(textwrap.shorten(self.result.splitter, MOST_NAMED), 60)
        self.ax_.set_title(title, loc="left", size="small", color=look.soft)
