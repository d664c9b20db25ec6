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
_TITLES = {
    "queries": "queries in test",
    "documents": "documents in test",
    "share_relevant": "share of relevant documents",
}
_FORMATS = {"queries": "{:,.0f}", "documents": "{:,.0f}", "share_relevant": "{:.1%}"}


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
    >>> from skrank_metrics import audit_splits
    >>> X, y, qid = [[0]] * 6, [1, 0, 0, 1, 0, 0], ["a", "a", "b", "b", "c", "c"]
    >>> display = audit_splits(KFold(2), X, y, qid=qid).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['fold 0: 1 leak', 'fold 1: 1 leak']
    """

    result: SplitReport

    def _draw(self, ax: Any) -> None:
        leaks = np.sum([self._counts(kind) for kind in self.result.ids], axis=0).tolist()
        names = [_name_of(fold, n_leaks) for fold, n_leaks in enumerate(leaks)]
        title = self._title(leaks)
        height = style.height_of(names) + style.height_of_title(title)
        panels = self.panels(ax, 3 * [height], (1, 1, 1))
        inks = [style.theme().alarm if n_leaks else style.theme().ink for n_leaks in leaks]
        for panel, column in zip(panels, _TITLES, strict=True):
            self._draw_bars(panel, column)
            style.draw_rows(panel, names, inks)
            # Bars have their values, and panels beside the first its names.
            panel.set(xlabel=_TITLES[column], xticks=[])
            if panel is not self.ax_ and not style.is_narrow():
                panel.tick_params(labelleft=False)
        if ax is None:
            style.entitle(self.figure_, title)

    def _draw_bars(self, ax: Any, column: str) -> None:
        look = style.polish(ax)
        ax.grid(visible=False)  # each bar has its value
        values = self.result.table[column]
        places = range(len(values))
        bars = ax.barh(places, values, height=0.55, color=look.best)
        ax.bar_label(bars, fmt=_FORMATS[column], padding=7, color=look.ink, size="small")
        if column == "queries":
            ax.barh(places, self._counts("leaking"), height=0.55, color=look.alarm)

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
