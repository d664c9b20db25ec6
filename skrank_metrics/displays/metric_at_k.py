"""A metric against the cutoff rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skrank_metrics._input.arrays import check_int
from skrank_metrics.displays import style
from skrank_metrics.displays._base import Display
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics.names import get_metric
from skrank_metrics.reports.comparison import Comparison
from skrank_metrics.reports.evaluate import evaluate
from skrank_metrics.reports.ranking_report import RankingReport

# Longer curves have a marker at every second cutoff, or fewer.
MOST_MARKERS = 25
# If there are more models, only the first is highlighted.
MOST_COLOURED, MOST_BANDS = 4, 3
HEIGHT = 3.8  # in inches, if the names need no more


class MetricAtKDisplay(Display):
    """Curves of a metric against the cutoff rank k, with 95% intervals of the means over queries.

    Create it with ``from_result`` or ``from_predictions``. The name of each model is beside the end of its curve. Of
    more than four models, only the best is highlighted; the others are grey lines. To add a model to a picture, pass
    its ``ax_`` as ``ax``.

    Parameters
    ----------
    result : RankingReport or Comparison
        Result of evaluate, compare, leaderboard or similar, with a metric at two or more cutoffs, such as
        "ndcg@1,5,10".
    metric : str, metric function or bound metric, default=None
        Metric without a cutoff, as in get_metric. None means the first that has several cutoffs.
    name : str, default=None
        Name of the model, for a report.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        Curves of the means.
    bands_ : list of matplotlib PolyCollection
        Bands of the intervals of at most three highlighted models.

    See Also
    --------
    QueryScoreDisplay : The distribution of a metric over queries.

    Examples
    --------
    The relevant document is at rank 1 in query "a" and at rank 2 in query "b":

    >>> import matplotlib.pyplot as plt
    >>> from skrank_metrics.displays import MetricAtKDisplay
    >>> y, qid = [1, 0, 0, 1], ["a", "a", "b", "b"]
    >>> display = MetricAtKDisplay.from_predictions(y, [2, 1, 2, 1], qid=qid, metric="recall", k=[1, 2])
    >>> display.lines_[0].get_ydata().tolist()
    [0.5, 1.0]
    >>> plt.close(display.figure_)
    """

    def __init__(self, result: RankingReport | Comparison, *, metric: Any = None, name: str | None = None) -> None:
        super().__init__(result)
        self._reports: dict[str, RankingReport] = getattr(result, "reports", {name or "": result})
        self._metric, self._columns = _columns_at_k(next(iter(self._reports.values())), metric)
        names = list(self._reports)
        self._coloured = names if len(names) <= MOST_COLOURED else names[:1]

    def _draw(self, ax: Any) -> None:
        (ax,) = self._panels(ax, [max(HEIGHT, 1 + style.height_below(list(self._reports)))])
        look, k = style.polish(ax, "y"), list(self._columns)
        self.lines_: list[Any] = []
        self.bands_: list[Any] = []
        n_before = sum(line.get_label() == "_bold" for line in ax.get_lines())
        for name, report in reversed(self._reports.items()):  # the best is drawn last, on top
            place = n_before + self._coloured.index(name) if name in self._coloured else len(look.curves)
            bold = place < len(look.curves)
            colour = look.curves[place] if bold else look.soft
            style_of_line = {"color": colour, "linewidth": 2 if bold else 0.9, "label": "_bold" if bold else "_normal"}
            if bold:
                style_of_line |= {"marker": "o", "markersize": 3.5, "markevery": max(1, len(k) // MOST_MARKERS)}
            means = [report.mean[column] for column in self._columns.values()]
            self.lines_[:0] = ax.plot(k, means, **style_of_line, zorder=2, gid=name or None)
            if bold and len(self._coloured) <= MOST_BANDS:
                intervals = report.intervals()
                ends = zip(*(intervals[column] for column in self._columns.values()), strict=True)
                self.bands_.insert(0, ax.fill_between(k, *ends, color=colour, alpha=0.14, linewidth=0))
        ax.set_xticks(style.count_ticks(*ax.dataLim.intervalx))
        ax.margins(x=0.02)
        ax.set(xlabel="cutoff rank k", ylabel=f"{self._metric}@k, mean over queries with 95% interval")
        style.label_ends(ax, ax.get_lines())

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        qid: Any = None,
        metric: Any = "ndcg",
        k: int | Sequence[int] = 20,
        name: str | None = None,
        ax: Any = None,
    ) -> MetricAtKDisplay:
        """Compute a metric at several cutoffs from one ranking, and draw it.

        Parameters
        ----------
        y_true, y_score, qid : array-like
            Labels, scores and query ids, as in evaluate.
        metric : str, metric function or bound metric, default="ndcg"
            Metric without a cutoff, as in get_metric.
        k : int or sequence of int, default=20
            Largest cutoff, at least 2, or a sequence of at least two cutoffs.
        name : str, default=None
            Name of the model.
        ax : matplotlib Axes, default=None
            Axes to draw into, such as those of another display. None creates a new figure.

        Returns
        -------
        display : MetricAtKDisplay
            The drawn display.
        """
        report = evaluate(y_true, y_score, qid=qid, metrics=_at(metric, k))
        return cls.from_result(report, metric=metric, name=name, ax=ax)


def _columns_at_k(report: RankingReport, metric: Any) -> tuple[str, dict[int, str]]:
    """The metric without its cutoff as text, and the columns of the report by cutoff, smallest first."""
    # Found by the name in the report, as a convention may have changed the parameters, or by the metric itself.
    found: dict[str, dict[int, str]] = {}
    for column, bound in report.metrics.items():
        for whole in {column.removesuffix(f"@{bound.k}"), str(bound.replace(k=None))} if bound.k else ():
            found.setdefault(whole, {})[bound.k or 0] = column
    several = [whole for whole, columns in found.items() if len(columns) > 1]
    wanted = str(_without_cutoff("ndcg" if metric is None else metric))
    whole = several[0] if metric is None and several else wanted
    if whole not in several:
        raise ValueError(
            f"result must hold {whole} at two or more cutoffs, such as {whole}@1 and {whole}@10; got "
            f"{', '.join(report.mean)}."
        )
    return whole, dict(sorted(found[whole].items()))


def _without_cutoff(metric: Any) -> BoundMetric:
    bound = get_metric(metric)
    if not bound.record.has_cutoff:
        raise ValueError(f"metric must be one that takes a cutoff, such as ndcg; got {bound}.")
    if bound.k is not None:
        raise ValueError(f"metric must be passed without a cutoff, as {bound.replace(k=None)}; got {bound}.")
    return bound


def _at(metric: Any, k: Any) -> list[BoundMetric]:
    bound = _without_cutoff(metric)
    cutoffs = list(k) if isinstance(k, Sequence | np.ndarray | range) else range(1, 1 + (check_int(k, "k", 2) or 0))
    if len(set(cutoffs)) < 2:
        raise ValueError(f"k must be an int >= 2 or hold at least two cutoffs; got {k!r}.")
    return [bound.replace(k=cutoff) for cutoff in dict.fromkeys(cutoffs)]
