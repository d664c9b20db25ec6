"""The picture of the folds of a splitter."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from skrank_metrics._output.result import counted
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.splitters.audit import SplitReport

# Longer texts of splitters are cut off, such as those of lists of rows.
MOST_NAMED = 120
# Titles of panels and formats of values, by column.
_PANELS = {
    "queries": ("queries in test", "{:,.0f}"),
    "documents": ("documents in test", "{:,.0f}"),
    "share_relevant": ("share of relevant documents", "{:.1%}"),
}


class SplitDisplay(Display):
    """Test parts of folds: their queries, documents and share of relevant documents, with leaks marked.

    In folds of equal size and composition, the bars of each panel are equally long. The names of folds that leak are
    orange and count the leaks, and the orange part of a bar are queries that are both in train and in test.

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

    >>> from sklearn.model_selection import KFold
    >>> from skrank_metrics.splitters import audit_splits
    >>> X, y, qid = [[0]] * 6, [1, 0, 0, 1, 0, 0], ["a", "a", "b", "b", "c", "c"]
    >>> display = audit_splits(KFold(2), X, y, qid=qid).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['fold 0: 1 leak', 'fold 1: 1 leak']
    """

    result: SplitReport

    def _draw(self, ax: Any) -> None:
        leaks = np.sum([self._counts(kind) for kind in self.result.ids], axis=0).tolist()
        names = [_name_of(fold, n_leaks) for fold, n_leaks in enumerate(leaks)]
        panels = self.panels(ax, style.height_of(names), len(_PANELS), self._title(leaks))
        look = style.theme()
        for panel, (column, (title, spec)) in zip(panels, _PANELS.items(), strict=True):
            style.polish(panel)
            bars = panel.barh(range(len(names)), self.result.table[column], 0.55, color=look.best)
            panel.bar_label(bars, fmt=spec, padding=7, color=look.ink, size="small")
            style.draw_rows(panel, names, [look.alarm if n else look.ink for n in leaks])
            # Each bar has its value.
            panel.grid(visible=False)
            panel.set(xlabel=title, xticks=[])
        panels[0].barh(range(len(names)), self._counts("leaking"), 0.55, color=look.alarm)

    def _counts(self, kind: str) -> list[int]:
        """Number of leaks of a kind in each fold."""
        return [len(found) for found in self.result.ids[kind]]

    def _title(self, leaks: Sequence[int]) -> str:
        """What the audit found, in a sentence."""
        splitter = textwrap.shorten(self.result.splitter, MOST_NAMED)
        n_leaking = sum(n_leaks > 0 for n_leaks in leaks)
        if not n_leaking:
            return f"{splitter}: no leaks"
        return f"{splitter}: leaks in {n_leaking} of {counted(len(leaks), 'fold')}"


def _name_of(fold: int, n_leaks: int) -> str:
    return f"fold {fold}: {counted(n_leaks, 'leak')}" if n_leaks else f"fold {fold}"
