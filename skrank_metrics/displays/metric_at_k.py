"""The picture of a metric against the cutoff rank."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.metrics.names import get_metric
from skrank_metrics.reports.comparison import Comparison
from skrank_metrics.reports.ranking_report import RankingReport

# Longer curves have a marker at every second cutoff, or fewer.
MOST_MARKERS = 25
# If there are more models, only the best is highlighted.
MOST_COLOURED = 3
HEIGHT = 3.8  # in inches, if the names need no more


class MetricAtKDisplay(Display):
    """Curves of a metric against the cutoff rank k, with 95% intervals of the means over queries.

    Create it with ``from_result``. The name of each model of a comparison is beside the end of its curve. The best at
    the largest cutoff is blue. Of more than three models, only this one is highlighted, and the others are grey lines.

    Parameters
    ----------
    result : RankingReport or Comparison
        Result of evaluate, compare or similar, with a metric at two or more cutoffs, such as
        "ndcg@1,5,10".
    metric : str, metric function or bound metric, default=None
        One of its metrics; the cutoff does not matter. None means the first that has several.

    See Also
    --------
    QueryScoreDisplay : The distribution of a metric over queries.

    Examples
    --------
    The relevant document is at rank 1 in query "a" and at rank 2 in query "b":

    >>> from skrank_metrics import evaluate
    >>> from skrank_metrics.displays import MetricAtKDisplay
    >>> report = evaluate([1, 0, 0, 1], [2, 1, 2, 1], qid=["a", "a", "b", "b"], metrics="recall@1,2")
    >>> display = MetricAtKDisplay.from_result(report)
    >>> display.ax_.get_lines()[0].get_ydata().tolist()
    [0.5, 1.0]
    """

    def __init__(self, result: RankingReport | Comparison, *, metric: Any = None) -> None:
        super().__init__(result)
        self._reports = reports_of(result)
        self._metric, self._columns = _columns_at_k(next(iter(self._reports.values())), metric)

    def _draw(self, ax: Any) -> None:
        from matplotlib.ticker import MaxNLocator

        # The leader at one cutoff may be second at another; the eye goes to the ends of the curves.
        names = self._ranked()
        ax = self.panel(ax, max(HEIGHT, 1 + style.height_below(style.wrapped(names))))
        look = style.polish(ax, "y")
        coloured = names if len(names) <= MOST_COLOURED else names[:1]
        colours = dict(zip(coloured, look.curves, strict=False))
        # The best is drawn last, on top.
        lines = {name: self._draw_curve(ax, name, colours.get(name)) for name in reversed(names)}
        ax.xaxis.set_major_locator(MaxNLocator(nbins=8, steps=[1, 2, 5, 10], integer=True))
        ax.margins(x=0.02)
        ax.set_xlabel("cutoff rank k")
        ax.set_ylabel(style.broken(f"{self._metric}@k,\nmean over queries with 95% interval"))
        style.label_ends(ax, lines, bold=coloured)

    def _ranked(self) -> list[str]:
        """Names of the models, the best at the largest cutoff first."""
        column = list(self._columns.values())[-1]
        means = {name: report.mean[column] for name, report in self._reports.items()}
        first = next(iter(self._reports.values()))
        return sorted(means, key=means.__getitem__, reverse=first.metrics[column].greater_is_better)

    def _draw_curve(self, ax: Any, name: str, colour: str | None) -> Any:
        """A line with its band, thin and grey if it has no colour of its own."""
        report, cutoffs, columns = self._reports[name], [*self._columns], [*self._columns.values()]
        look: dict[str, Any] = {"color": style.theme().soft, "linewidth": 0.9}
        if colour is not None:
            look = {"color": colour, "linewidth": 2, "marker": "o", "markersize": 3.5}
            look["markevery"] = math.ceil(len(cutoffs) / MOST_MARKERS)
            intervals = report.intervals()
            ends = np.array([intervals[column] for column in columns])
            ax.fill_between(cutoffs, *ends.T, color=colour, alpha=0.14, linewidth=0)
        (line,) = ax.plot(cutoffs, [report.mean[column] for column in columns], zorder=2, **look)
        return line


def reports_of(result: RankingReport | Comparison) -> dict[str, RankingReport]:
    """The reports of a comparison by name, or a single one without a name."""
    return {"": result} if isinstance(result, RankingReport) else result.reports


def _columns_at_k(report: RankingReport, metric: Any) -> tuple[str, dict[int, str]]:
    """The metric without its cutoff as text, and the columns of the report by cutoff, smallest first."""
    found: dict[str, dict[int, str]] = {}
    for column, bound in report.metrics.items():
        if not bound.k:
            continue
        # By the name in the report, as a convention may have changed the parameters, and by the metric itself.
        for whole in (column.removesuffix(f"@{bound.k}"), str(bound.replace(k=None))):
            found.setdefault(whole, {})[bound.k] = column
    wanted = None
    if metric is not None:
        chosen = get_metric(metric)
        wanted = str(chosen.replace(k=None) if chosen.k else chosen)
    for whole, columns in found.items():
        if len(columns) > 1 and wanted in (None, whole):
            return whole, dict(sorted(columns.items()))
    what = f"{wanted or 'a metric'} at two or more cutoffs, such as {wanted or 'ndcg'}@1,5,10"
    raise ValueError(f"result must hold {what}; got {', '.join(report.mean)}.")
