"""Several models on the same documents, side by side, with a verdict on what to ship."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from skrank_metrics._input.arrays import check_bool
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics._output.table import Column, Table, as_text
from skrank_metrics.metrics.names import check_column
from skrank_metrics.reports import statistics
from skrank_metrics.reports._alignment import named_reports
from skrank_metrics.reports._board_input import check_same_slices, check_values, comparable
from skrank_metrics.reports._standings import LETTERS, best_first, listed, verdict
from skrank_metrics.reports.compare import check_how, compare
from skrank_metrics.reports.comparison import Comparison, lack_of_power, queries_needed
from skrank_metrics.reports.ranking_report import RankingReport, drawn_orders
from skrank_metrics.reports.slices import largest, names_of_slices

# Number of metrics that fit side by side into 80 columns.
BESIDE = 3
# Up to this many models, the values of all are printed per slice; else only those of the best.
FEW = 4
_OTHERS = object()  # not a slice


@dataclass(frozen=True, repr=False, eq=False)
class Leaderboard(Result):
    """Models ranked by the first metric, with a verdict on which to ship.

    Prints a verdict and a table, also in notebooks: the best value of each metric is marked with "*", and models that
    share a letter are not significantly different. ``to_frame()`` gives one row per model, best first. For each metric,
    it has the value, the ends of its interval ("ndcg@10 low", "ndcg@10 high"), the letters, the difference from the
    best ("ndcg@10 minus best") and the adjusted p-value of that difference ("ndcg@10 p"). ``to_frame(slices=True)``
    gives one row per slice and model.

    Attributes
    ----------
    reports : dict of str to RankingReport
        Reports by model name, best first.
    options : dict of str to object
        Options passed to ``compare`` for all comparisons.
    """

    _index: ClassVar[str | None] = "model"

    reports: dict[str, RankingReport]
    options: dict[str, Any] = field(default_factory=dict)
    _compared: dict[str, Comparison | None] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        named = named_reports(self.reports)
        object.__setattr__(self, "reports", {name: named[name] for name in rank(named, self.metrics[0])})

    @classmethod
    def from_reports(
        cls,
        reports: Mapping[str, RankingReport],
        *,
        test: str = "permutation",
        correction: str | None = "holm",
        confidence: float = 0.95,
        n_resamples: int | None = None,
        random_state: Any = None,
    ) -> Leaderboard:
        """Rank reports over the same queries, such as those of TREC runs, evaluate_batches or cross_evaluate.

        Parameters
        ----------
        reports : dict of str to RankingReport
            At least two reports by model name, with the same metrics. Models are ranked by the first metric. Names
            become text, by which they must differ.
        test, correction, confidence, n_resamples, random_state : object
            As in compare.

        Returns
        -------
        board : Leaderboard
            As returned by leaderboard.

        Raises
        ------
        TypeError
            If ``reports`` holds anything but reports, or an argument has the wrong type.
        ValueError
            If there are fewer than two reports; if they differ in metrics, queries, documents, labels, weights or
            slices; or if no query has a value.

        Examples
        --------
        >>> from skrank_metrics import Leaderboard, evaluate
        >>> rankings = {"one": [[1, 2]], "other": [[2, 1]]}
        >>> reports = {name: evaluate([[1, 0]], scores, metrics="mrr") for name, scores in rankings.items()}
        >>> Leaderboard.from_reports(reports).best
        'other'
        """
        options = {"test": test, "correction": correction, "confidence": confidence}
        options |= {"n_resamples": n_resamples, "random_state": random_state}
        how = check_how(**options)
        named = named_reports(reports)
        first = next(iter(named.values()))
        for name, report in named.items():
            if list(report.mean) != list(first.mean):
                raise ValueError(f"reports must have the same metrics; got {list(first.mean)} and {list(report.mean)}.")
            check_same_slices(name, report, next(iter(named)), first)
        check_values(named, how, "reports")
        return cls(named, options)

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics; models are ranked by the first."""
        return tuple(next(iter(self.reports.values())).mean)

    @property
    def best(self) -> str:
        """The best model by the first metric."""
        return next(iter(self.reports))

    @property
    def contenders(self) -> list[str]:
        """The best model and those that are not significantly worse by the first metric."""
        found = self.compare()
        return [name for name in self.reports if name == self.best or not _worse(found, name, self.best)]

    @property
    def verdict(self) -> str:
        """One sentence on what to ship."""
        by = self.metrics[0]
        if self._comparison(by) is None:
            return f"{self.best} is ahead by {by}, which is not a mean over queries and cannot be tested."
        return self._decision(by, {name: name for name in self.reports})

    def _decision(self, by: str, spelled: Mapping[str, str]) -> str:
        """The verdict, with the metric by its name and the models as spelled."""
        best, *open_to = (spelled[name] for name in self.contenders)
        worse = [spelled[name] for name in self.reports if name not in self.contenders]
        level = {spelled[name]: same for name, same in self._level(self.metrics[0]).items()}
        return verdict(best, open_to, worse, by, level)

    def _level(self, metric: str) -> dict[str, bool]:
        """The models whose mean equals that of the best, and whether they are equal on every query."""
        found, mean = self.compare(metric), self.reports[self.best].mean[metric]
        others = (name for name in self.reports if name != self.best)
        return {
            name: found.pair(name, self.best).is_equal
            for name in others
            if _is_level(self.reports[name].mean[metric], mean)
        }

    def compare(self, metric: Any = None) -> Comparison:
        """Compare all models by a metric, once.

        Parameters
        ----------
        metric : str, metric function or bound metric, default=None
            A metric of the leaderboard, by its name there or as passed to it. None means the first.

        Returns
        -------
        comparison : Comparison
            Comparison of all pairs, with the options of the leaderboard, also within slices if there are any.

        Raises
        ------
        ValueError
            If the metric is missing or is not a mean over queries.
        """
        report = self.reports[self.best]
        name = self.metrics[0] if metric is None else check_column(metric, report.metrics)
        if self._compared.get(name) is None:
            self._compared[name] = compare(self.reports, name, by=report.by, **self.options)
        found = self._compared[name]
        assert found is not None
        return found

    def _stars(self, metric: str | None = None) -> set[str]:
        """The best models by a metric: several if their means are equal."""
        name = self.metrics[0] if metric is None else metric
        best = self.reports[rank(self.reports, name)[0]].mean[name]
        return {model for model, report in self.reports.items() if _is_level(report.mean[name], best)}

    def _comparison(self, name: str) -> Comparison | None:
        """The comparison by a metric; None if the metric is not a mean over queries."""
        return self.compare(name) if comparable(self.reports[self.best], name) else None

    @property
    def _confidence(self) -> float:
        return float(self.options.get("confidence", 0.95))

    def _parts(self) -> list[Part]:
        report, found = self.reports[self.best], self._comparison(self.metrics[0])
        ends = [(report.metrics[name], interval) for name, interval in report.intervals(self._confidence).items()]
        parts: list[Part] = [
            self.verdict,
            f"{counted(len(self.reports), 'model')}, {counted(report.n_queries, 'query')}, "
            f"{counted(report.n_documents or 0, 'document')}",
            *self._tables(),
        ]
        if found is not None:
            correction = statistics.CORRECTIONS[found.correction]
            adjusted = f"{correction} for {counted(found.n_tests, 'pair')}" if correction else "not adjusted"
            test = f"{statistics.TESTS[found.test]}, {adjusted} per metric"
            parts += [f"*: best. {LETTERS[:-1]} at {found.level:.2g}: {test}.", self._leads(found)]
        parts += [
            *self._contradictions(),
            f"Intervals: {statistics.METHOD}, not adjusted{statistics.why_none(ends)}.",
            *statistics.weighting(report.weights),
            *drawn_orders(self.reports, report.metrics),
        ]
        if found is not None:
            pairs = [found.pair(self.best, other) for other in self.reports if other != self.best]
            parts += [*lack_of_power(found), *queries_needed(found, pairs)]
        return [*parts, *self._parts_of_slices(), *self._findings()]

    def _tables(self) -> list[Table]:
        """One row per model, with the interval of the first metric; several tables if there are many metrics."""
        ends = [0, *range(BESIDE, len(self.metrics), BESIDE), len(self.metrics)]
        return [self._standings(self.metrics[start:end]) for start, end in pairwise(ends)]

    def _standings(self, metrics: Sequence[str]) -> Table:
        columns, cells = [Column("", str)], [self._cells(metric) for metric in metrics]
        for metric in metrics:
            tested = self._comparison(metric) is not None
            interval = f"{100 * self._confidence:g}% interval" if metric == self.metrics[0] else None
            columns += [Column(metric, _starred), Column("" if tested else None, str), Column(interval)]
        return Table(columns, [(name, *(cell for found in cells for cell in found[name])) for name in self.reports])

    def _cells(self, metric: str) -> dict[str, tuple[tuple[float, bool], str, tuple[float, float]]]:
        """Mean and whether it is the best, letters, and interval by model."""
        found, stars = self._comparison(metric), self._stars(metric)
        shared = found.letters if found else dict.fromkeys(self.reports, "")
        return {
            name: (
                (report.mean[metric], name in stars),
                shared[name],
                report.intervals(self._confidence)[metric],
            )
            for name, report in self.reports.items()
        }

    def _leads(self, found: Comparison) -> Table:
        """Differences from the best by the first metric."""
        difference, interval, p = found.heads_of_leads
        rows = []
        for name in self.reports:
            if name != self.best:
                pair = found.pair(name, self.best)
                rows.append((name, pair.difference, pair.interval, pair.wins, pair.losses, pair.p_adjusted))
        return Table((Column("", str), difference, interval, "wins", "losses", p), rows)

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"model": list(self.reports)}
        for metric in self.metrics:
            found, cells = self._comparison(metric), self._cells(metric)
            best = rank(self.reports, metric)[0]
            pairs = [found.pair(name, best) if found and name != best else None for name in self.reports]
            columns |= {
                metric: [cells[name][0][0] for name in self.reports],
                f"{metric} low": [cells[name][2][0] for name in self.reports],
                f"{metric} high": [cells[name][2][1] for name in self.reports],
                f"{metric} letters": [cells[name][1] for name in self.reports],
                f"{metric} minus best": [pair.difference if pair else np.nan for pair in pairs],
                f"{metric} p": [pair.p_adjusted if pair else np.nan for pair in pairs],
            }
        return columns

    def _contradictions(self) -> Iterator[str]:
        """Name the models that are significantly better than the best by another metric."""
        for metric in self.metrics[1:]:
            found = self._comparison(metric)
            better = [n for n in self.reports if found and n != self.best and _worse(found, self.best, n)]
            if better:
                is_ = "is" if len(better) == 1 else "are"
                yield f"But by {metric}, {listed(better)} {is_} significantly better than {self.best}."

    def _parts_of_slices(self) -> Iterator[Part]:
        """The models in each slice."""
        own, found = self._slices, self._comparison(self.metrics[0])
        if not own:
            return
        shown = largest(own, {value: report.n_queries for value, report in own.items()})
        yield self._few_in_slices(shown) if len(self.reports) <= FEW else self._best_in_slices(shown)
        many = f"the largest {len(shown)} of {len(own)}; to_frame(slices=True) has all. "
        some = many if len(shown) < len(own) else ""
        n_tests = next((part.n_tests for part in found.slices.values()), 0) if found else 0
        adjusted = f"adjusted for {n_tests} tests, all pairs in all slices." if found and found.correction else ""
        if some or adjusted:
            yield f"Slices: {some}{adjusted.capitalize() if some else adjusted}".rstrip()

    def _few_in_slices(self, shown: Mapping[Any, RankingReport]) -> Table:
        """The value of each model in each slice, with letters, and in all other slices together."""
        metric, found = self.metrics[0], self._comparison(self.metrics[0])
        columns = [Column("slice", str), Column("queries")]
        for name in self.reports:
            columns += [Column(name, _starred), Column("" if found else None, str)]
        by_model = {name: report._shown_slices for name, report in self.reports.items()}
        # The last row is for all other slices together, which are not tested.
        values = [*shown, _OTHERS][: len(by_model[self.best])]
        rows = []
        for place, value in enumerate(values):
            parts = {name: of_model[place][1] for name, of_model in by_model.items()}
            best = parts[rank(parts, metric)[0]].mean[metric]
            compared = found.slices.get(value) if found else None
            shared = compared.letters if compared else dict.fromkeys(parts, "")
            cells = [
                ((part.mean[metric], _is_level(part.mean[metric], best)), shared[name]) for name, part in parts.items()
            ]
            name, report = by_model[self.best][place]
            rows.append((name, report.n_queries, *(cell for pair in cells for cell in pair)))
        return Table(columns, rows)

    def _best_in_slices(self, shown: Mapping[Any, RankingReport]) -> Table:
        """The overall best model and the best model of each slice."""
        metric, found = self.metrics[0], self._comparison(self.metrics[0])
        slices, names, rows = (
            {name: report.slices for name, report in self.reports.items()},
            names_of_slices(self._slices),
            [],
        )
        for value, report in shown.items():
            best = rank({name: parts[value] for name, parts in slices.items()}, metric)[0]
            compared = found.slices.get(value) if found and best != self.best else None
            differs = ("yes" if _worse(compared, self.best, best) else "no") if compared else ""
            means = report.mean[metric], slices[best][value].mean[metric]
            rows.append((names[value], report.n_queries, means[0], best, means[1], differs))
        heads = ("slice", "queries", f"{metric} of the overall best", "best", metric, "significantly different")
        return Table(heads, rows)

    def to_frame(self, library: str = "pandas", *, slices: bool = False) -> Any:
        """Put the models, or the models in each slice, into a data frame.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
            Library of the frame.
        slices : bool, default=False
            Whether to return one row per slice and model, with the columns "slice", "model", "n_queries" and, for each
            metric, its value, its difference from the overall best model ("ndcg@10 minus best") and the p-value of the
            difference, adjusted for all pairs in all slices ("ndcg@10 p").

        Returns
        -------
        frame : pandas.DataFrame or polars.DataFrame
            Without ``slices``, one row per model.

        Raises
        ------
        ImportError
            If the library is not installed.
        ValueError
            If there are no slices.
        """
        if not check_bool(slices, "slices"):
            return super().to_frame(library)
        if not self._slices:
            raise ValueError("slices must be False for a leaderboard without slices; got True. Pass by= to make some.")
        return self._frame(library, self._columns_of_slices(), "slice")

    @property
    def _slices(self) -> dict[Any, RankingReport]:
        return self.reports[self.best].slices

    def _columns_of_slices(self) -> dict[str, list[Any]]:
        cells = [
            (value, slice_, name) for value, slice_ in names_of_slices(self._slices).items() for name in self.reports
        ]
        parts = [self.reports[name].slices[value] for value, _, name in cells]
        columns: dict[str, list[Any]] = {
            "slice": [slice_ for _, slice_, _ in cells],
            "model": [name for *_, name in cells],
        }
        columns["n_queries"] = [part.n_queries for part in parts]
        for metric in self.metrics:
            found = self._comparison(metric)
            compared = [found.slices.get(value) if found and name != self.best else None for value, _, name in cells]
            pairs = [one and one.pair(name, self.best) for one, (*_, name) in zip(compared, cells, strict=True)]
            columns |= {
                metric: [part.mean[metric] for part in parts],
                f"{metric} minus best": [pair.difference if pair else np.nan for pair in pairs],
                f"{metric} p": [pair.p_adjusted if pair else np.nan for pair in pairs],
            }
        return columns

    def _findings(self) -> Iterator[str]:
        """Findings that all models share, and the kinds of the others with the models that they are about."""
        found = {name: report.health.findings for name, report in self.reports.items()}
        number = Counter(finding for findings in found.values() for finding in findings)
        yield from (finding for finding in found[self.best] if number[finding] == len(found))
        kinds: dict[str, list[str]] = {}
        for name, findings in found.items():
            for kind in dict.fromkeys(
                finding.partition(":")[0] for finding in findings if number[finding] < len(found)
            ):
                kinds.setdefault(kind, []).append(name)
        if kinds:
            named = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items())
            yield f"Found in some models, see reports[...].health: {named}."


def _is_level(mean: float, best: float) -> bool:
    """Whether a mean equals that of the best up to rounding."""
    return bool(abs(mean - best) <= statistics.ROUNDING * abs(best))


def _starred(value: tuple[float, bool]) -> str:
    mean, is_best = value
    return f"{'*' * is_best}{as_text(mean)}"


def _worse(found: Comparison, name: str, than: str) -> bool:
    """Whether a model is significantly worse than another."""
    pair = found.pair(name, than)
    return pair.p_adjusted <= found.level and (pair.difference < 0) == found.greater_is_better


def rank(reports: Mapping[str, RankingReport], metric: str) -> list[str]:
    """Names, best first; those without a mean last."""
    greater_is_better = next(iter(reports.values())).metrics[metric].greater_is_better
    return best_first(
        {name: report.mean[metric] for name, report in reports.items()}, greater_is_better=greater_is_better
    )
