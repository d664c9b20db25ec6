"""The picture of a metric against the cutoff rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skrank_metrics.decisions.comparison import Comparison
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.metrics.names import check_column
from skrank_metrics.reports.ranking_report import RankingReport

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
        One of its metrics, at any of its cutoffs. None means the first that has several.

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
        # The leader at one cutoff may be second at another; the eye goes to the ends of the curves.
        names = self._ranked()
        labels = list(map(style.broken, names))
        ax = self.panel(ax, max(HEIGHT, 1 + style.height_of_lines(labels)))
        look = style.polish(ax, "y")
        coloured = names if len(names) <= MOST_COLOURED else names[:1]
        # Colour alone does not distinguish them for all readers.
        looks = dict(zip(coloured, zip(look.curves, "o^s", strict=True), strict=False))
        for name, label in zip(names, labels, strict=True):
            self._draw_curve(ax, name, label, *looks.get(name, (None, "")))
        ax.locator_params(axis="x", nbins=8, integer=True)
        ax.set_xlabel("cutoff rank k")
        ax.set_ylabel(style.broken(f"{self._metric}@k,\nmean over queries with 95% interval"))
        # Names are in the order of the ends of the curves; a single report has no name.
        if isinstance(self.result, Comparison):
            style.explain(ax)

    def _ranked(self) -> Sequence[str]:
        """Names of the models, the best at the largest cutoff first."""
        if isinstance(self.result, RankingReport):
            return [""]
        return self.result.by_metric(list(self._columns.values())[-1]).outcome().ranked

    def _draw_curve(self, ax: Any, name: str, label: str, colour: str | None, shape: str) -> None:
        """A line with its band, thin and grey if it has no colour of its own."""
        report, cutoffs, columns = self._reports[name], [*self._columns], [*self._columns.values()]
        look: dict[str, Any] = {"color": style.theme().soft, "linewidth": 0.9}
        if colour is not None:
            look = {
                "color": colour,
                "linewidth": 2,
                "marker": shape,
                "markersize": 4.5,
                "zorder": 3,
            }
            intervals = report.intervals()
            ends = np.array([intervals[column] for column in columns])
            ax.fill_between(cutoffs, *ends.T, color=colour, alpha=0.14, linewidth=0)
        ax.plot(cutoffs, [report.mean[column] for column in columns], label=label, **look)


def reports_of(result: RankingReport | Comparison) -> dict[str, RankingReport]:
    """The reports of a comparison by name, or a single one without a name."""
    return {"": result} if isinstance(result, RankingReport) else result.reports


def _columns_at_k(report: RankingReport, metric: Any) -> tuple[str, dict[int, str]]:
    """The metric without its cutoff as text, and the columns of the report by cutoff, smallest first."""
    found: dict[str, dict[int, str]] = {}
    for column, bound in report.metrics.items():
        if bound.k:
            found.setdefault(column.removesuffix(f"@{bound.k}"), {})[bound.k] = column
    chosen = None if metric is None else check_column(metric, report.metrics)
    for whole, columns in found.items():
        if len(columns) > 1 and chosen in (None, *columns.values()):
            return whole, dict(sorted(columns.items()))
    raise ValueError(
        f"result must hold {chosen or 'a metric'} at two or more cutoffs, such as ndcg@1,5,10; got "
        f"{', '.join(report.mean)}."
    )
