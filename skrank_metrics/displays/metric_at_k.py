"""A metric against the cutoff rank."""

from __future__ import annotations

from typing import Any

from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.metrics.names import get_metric
from skrank_metrics.reports.comparison import Comparison
from skrank_metrics.reports.ranking_report import RankingReport

# Longer curves have a marker at every second cutoff, or fewer.
MOST_MARKERS = 25
# If there are more models, only the first is highlighted.
MOST_COLOURED, MOST_BANDS = 4, 3
HEIGHT = 3.8  # in inches, if the names need no more


class MetricAtKDisplay(Display):
    """Curves of a metric against the cutoff rank k, with 95% intervals of the means over queries.

    Create it with ``from_result``. The name of each model of a comparison is beside the end of its curve. At most three
    models have bands; of more than four, only the best is highlighted, and the others are grey lines.

    Parameters
    ----------
    result : RankingReport or Comparison
        Result of evaluate, compare, leaderboard or similar, with a metric at two or more cutoffs, such as
        "ndcg@1,5,10".
    metric : str, metric function or bound metric, default=None
        One of its metrics; the cutoff does not matter. None means the first that has several.

    See Also
    --------
    QueryScoreDisplay : The distribution of a metric over queries.

    Examples
    --------
    The relevant document is at rank 1 in query "a" and at rank 2 in query "b":

    >>> import matplotlib.pyplot as plt
    >>> from skrank_metrics import evaluate
    >>> from skrank_metrics.displays import MetricAtKDisplay
    >>> report = evaluate([1, 0, 0, 1], [2, 1, 2, 1], qid=["a", "a", "b", "b"], metrics="recall@1,2")
    >>> display = MetricAtKDisplay.from_result(report)
    >>> display.ax_.get_lines()[0].get_ydata().tolist()
    [0.5, 1.0]
    >>> plt.close(display.figure_)
    """

    def __init__(self, result: RankingReport | Comparison, *, metric: Any = None) -> None:
        super().__init__(result)
        self._reports: dict[str, RankingReport] = getattr(result, "reports", {"": result})
        self._metric, self._columns = _columns_at_k(next(iter(self._reports.values())), metric)

    def _draw(self, ax: Any) -> None:
        names, k = list(self._reports), list(self._columns)
        (ax,) = self._panels(ax, [max(HEIGHT, 1 + style.height_below(names))])
        look, coloured = style.polish(ax, "y"), names if len(names) <= MOST_COLOURED else names[:1]
        lines = {}
        for name, report in reversed(self._reports.items()):  # the best is drawn last, on top
            line = {"color": look.soft, "linewidth": 0.9}
            if name in coloured:
                line = {"color": look.curves[coloured.index(name)], "linewidth": 2, "marker": "o", "markersize": 3.5}
                line["markevery"] = max(1, len(k) // MOST_MARKERS)
            (lines[name],) = ax.plot(k, [report.mean[column] for column in self._columns.values()], **line, zorder=2)
            if name in coloured and len(coloured) <= MOST_BANDS:
                intervals = report.intervals()
                ends = zip(*(intervals[column] for column in self._columns.values()), strict=True)
                ax.fill_between(k, *ends, color=line["color"], alpha=0.14, linewidth=0)
        ax.set_xticks(style.count_ticks(k[0], k[-1]))
        ax.margins(x=0.02)
        ax.set(xlabel="cutoff rank k", ylabel=f"{self._metric}@k, mean over queries with 95% interval")
        style.label_ends(ax, lines, bold=coloured)


def _columns_at_k(report: RankingReport, metric: Any) -> tuple[str, dict[int, str]]:
    """The metric without its cutoff as text, and the columns of the report by cutoff, smallest first."""
    found: dict[str, dict[int, str]] = {}
    for column, bound in report.metrics.items():
        # By the name in the report, as a convention may have changed the parameters, and by the metric itself.
        for whole in (column.removesuffix(f"@{bound.k}"), str(bound.replace(k=None))) if bound.k else ():
            found.setdefault(whole, {})[bound.k or 0] = column
    chosen = None if metric is None else get_metric(metric)
    wanted = chosen and str(chosen.replace(k=None) if chosen.k else chosen)
    for whole, columns in found.items():
        if len(columns) > 1 and wanted in (None, whole):
            return whole, dict(sorted(columns.items()))
    what = f"{wanted or 'a metric'} at two or more cutoffs, such as {wanted or 'ndcg'}@1,5,10"
    raise ValueError(f"result must hold {what}; got {', '.join(report.mean)}.")
