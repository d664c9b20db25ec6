"""The result of comparing rankings of the same queries by one or several metrics."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from skrank_metrics._input.arrays import IntArray
from skrank_metrics._input.parameters import check_bool, check_int, check_number
from skrank_metrics._output.result import (
    MOST_NOTES,
    Note,
    Result,
    Section,
    Sections,
    Table,
    counted,
    make_frame,
    visible,
)
from skrank_metrics.decisions import planning, tables, words
from skrank_metrics.decisions.outcome import (
    Gate,
    Outcome,
    Pair,
    QueryDifference,
    Standing,
    gate_of,
    largest_leads,
    most_different,
    outcome_of,
    split_outcomes,
    worst_of,
)
from skrank_metrics.decisions.plan import Plan, plan_from_file
from skrank_metrics.decisions.verdict import verdict_as_text, verdict_of
from skrank_metrics.metrics.names import check_column
from skrank_metrics.reports.facts import names_of_slices, queries_of_slices
from skrank_metrics.reports.inspection import Inspection, inspect_reports
from skrank_metrics.reports.mean_intervals import check_by_query
from skrank_metrics.reports.ranking_report import RankingReport, saved_report
from skrank_metrics.reports.report_data import data_of
from skrank_metrics.reports.saved import (
    class_of_comparison,
    current_fields,
    defaults_of,
    read_saved,
    restored_reports,
    saved_or_text,
    without_repetitions,
    write_saved,
)


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Result):
    """Rankings of the same queries, compared by one or several metrics.

    Prints a verdict and a table of rankings in terminals and notebooks. Nothing is tested before it is asked for. The
    verdict, decisions, frames and dicts are about all metrics, all else about the first one; ``by_metric`` gives the
    same comparison by another one.

    The names ``first`` and ``second`` of two rankings may be left out together, for the best ranking and the best
    baseline, or the next best.

    Attributes
    ----------
    reports : dict of str to RankingReport
        Reports over the same queries in the same order by name, best first by the first metric.
    metrics : tuple of str
        Names of the metrics.
    plan : Plan
        The options of compare: baseline, margin, confidence and random_state.
    """

    _index: ClassVar[str | None] = "ranking"
    _display: ClassVar[str | None] = "ComparisonDisplay"

    reports: dict[str, RankingReport]
    metrics: tuple[str, ...]
    plan: Plan = field(default_factory=Plan)
    # Outcomes are made when their metric is asked for, except those of slices, which are decided together.
    _outcomes: dict[str, Outcome] = field(default_factory=dict, kw_only=True)
    _is_slice: bool = field(default=False, kw_only=True)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the rankings, best first by the first metric."""
        return tuple(self.reports)

    @property
    def _first(self) -> RankingReport:
        return next(iter(self.reports.values()))

    @property
    def qid(self) -> NDArray[Any]:
        """Ids of the queries."""
        return self._first.qid

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self._first.n_queries

    @property
    def folds(self) -> IntArray | None:
        """The fold in which each query was tested; None unless rankings are out of fold."""
        return self._first.folds

    # Metrics and slices

    def by_metric(self, metric: Any) -> Self:
        """Put a metric first, so that all attributes are about it, and names are best first by it.

        In a slice, ``names`` keep their order.
        """
        bound = {name: self._first.metrics[name] for name in self.metrics}
        chosen = check_column(metric, bound)
        if chosen == self.metrics[0]:
            return self
        others = [name for name in self.metrics if name != chosen]
        # Slices have one order of rankings, so that their columns can stand side by side.
        names = self.names if self._is_slice else self.outcome(chosen).ranked
        reports = {name: self.reports[name] for name in names}
        return replace(self, metrics=(chosen, *others), reports=reports)

    def decided_as(self, other: Comparison) -> Self:
        """The reports and the plan of another comparison, and what else this one holds, such as scores."""
        self._check_whole("decided again")
        reports, metrics, plan = other.reports, other.metrics, other.plan
        return replace(self, reports=reports, metrics=metrics, plan=plan, _outcomes={})

    def outcome(self, metric: str | None = None) -> Outcome:
        """What is known by a metric, in numbers; by default, the first."""
        name = self.metrics[0] if metric is None else metric
        # Making an outcome tests nothing yet; but all views by other metrics are to share what it finds out.
        if name not in self._outcomes:
            self._outcomes[name] = outcome_of(self.reports, name, self.plan)
        return self._outcomes[name]

    @property
    def outcomes(self) -> list[Outcome]:
        """What is known by each metric, in numbers."""
        return [self.outcome(metric) for metric in self.metrics]

    def _check_whole(self, to_do: str) -> None:
        """Raise an error for a slice, which is decided together with the other slices."""
        if self._is_slice:
            raise ValueError(
                f"A slice of a comparison cannot be {to_do} alone, as its tests are corrected for all slices. Use the "
                "whole comparison and its .slices, or pass the .reports of the slice to compare."
            )

    @cached_property
    def slices(self) -> dict[Any, Self]:
        """One comparison per slice with a query to compare, tested together; rankings are in the same order.

        As the other slices belong to its tests, a slice can neither be saved nor be passed to compare; the whole can.
        """
        tested = [outcome.metric for outcome in self.outcomes if outcome.tested]
        if self._first.by is None or not tested:
            return {}
        slices = {}
        found = split_outcomes(self.reports, queries_of_slices(self._first.by), tested, self.plan)
        for value, (reports, outcomes) in found.items():
            own: Any = {"metrics": tuple(outcomes), "_outcomes": outcomes, "_is_slice": True}
            slices[value] = replace(self, reports=reports, **own)
        return slices

    @property
    def named_slices(self) -> dict[str, Self]:
        """The slices by their names as text."""
        return dict(zip(names_of_slices(self.slices).values(), self.slices.values(), strict=True))

    # What is known about the rankings

    @property
    def greater_is_better(self) -> bool:
        """Whether larger values are better."""
        return bool(self.outcome().bound.greater_is_better)

    @property
    def tested(self) -> bool:
        """Whether there are two rankings, and the metric is a mean over queries, so that it can be tested."""
        return self.outcome().tested

    def _testable(self) -> Outcome:
        """The outcome by the first metric, after checking that it can be tested."""
        outcome = self.outcome()
        check_by_query(outcome.metric, outcome.bound)
        if not outcome.tested:
            raise ValueError("reports must hold at least two reports to compare; got 1.")
        return outcome

    def means(self) -> dict[str, float]:
        """Means by name, best first, over queries with a value in every ranking; medians over all that have one."""
        outcome = self.outcome()
        return outcome.by_name(outcome.means.tolist())

    def _without_baseline(self, what: str) -> Outcome:
        """The outcome by the first metric, after checking that all pairs are compared."""
        outcome = self._testable()
        if self.plan.baselines:
            raise ValueError(
                f"There is {what} only if all rankings are compared with each other, not beside a baseline. Use "
                "compare(comparison), which leaves out the baseline."
            )
        return outcome

    @property
    def best_set(self) -> tuple[str, ...]:
        """The rankings that may be the best, best first; with confidence, the truly best one is among them."""
        outcome = self._without_baseline("a best set")
        return tuple(outcome.names[i] for i in outcome.order if outcome.decision.inside[i])

    @property
    def regret(self) -> dict[str, float]:
        """The most that choosing a ranking loses, with confidence, by name, best first; infinite if unknown."""
        outcome = self._without_baseline("a regret")
        return outcome.by_name(outcome.decision.regret.tolist())

    @property
    def letters(self) -> dict[str, str]:
        """Letters by name, best first; two rankings share one exactly if they do not differ significantly."""
        outcome = self._without_baseline("a letter per ranking")
        return outcome.by_name(outcome.decision.letters)

    @property
    def verdict(self) -> str:
        """What to do and what is known, in a few sentences that name their metric if there are several."""
        return visible(verdict_as_text(self._verdict()))

    def _verdict(self) -> list[Section]:
        of_slices = {name: part.outcome() for name, part in self.named_slices.items()}
        return verdict_of(self.outcomes, of_slices, self._noun)

    @property
    def decisions(self) -> dict[str, Gate]:
        """The decision on each ranking but baselines, best first: "ship", "do not ship" or "undecided".

        Every metric with a margin must let it pass against all baselines: it is better, equivalent, not worse, or its
        loss is small. It is not shipped if it is worse by one of them.
        """
        if self.plan.margin is None:
            raise ValueError(
                "A decision needs a margin and a baseline. Pass margin= and baseline= to compare."
            )
        guards = [outcome for outcome in self.outcomes if outcome.margin is not None]
        names = [name for name in self.names if name not in self.plan.baselines]
        return gate_of(names, guards)

    @property
    def decision(self) -> Gate:
        """One decision on all rankings: every one but baselines must pass."""
        return worst_of(self.decisions.values())

    def standings(self) -> tuple[Standing, ...]:
        """What is known about each ranking, best first."""
        return self.outcome().standings

    @property
    def folds_won(self) -> dict[str, int]:
        """Folds in which each ranking alone has the best mean, by name; empty unless they are out of fold."""
        return self.outcome().folds_won()

    def pairs(self) -> tuple[Pair, ...]:
        """All pairs, the better by the first metric first, or all rankings and each baseline."""
        return tuple(self._testable().pairs(self.names))

    def pair(self, first: str | None = None, second: str | None = None) -> Pair:
        """Compare two rankings. The difference is the first minus the second.

        By default, the best against the next best, or against the best baseline.
        """
        outcome = self._testable()
        if first is None and second is None:
            # A baseline may be the best itself.
            baselines = [name for name in outcome.ranked if name in self.plan.baselines]
            first, *others = (name for name in outcome.ranked if name not in baselines)
            second = (baselines or others)[0]
        one, other = str(first), str(second)
        if one == other or not {one, other} <= self.reports.keys():
            raise ValueError(
                f"first and second must be two of {', '.join(self.names)}; got {first!r} and {second!r}."
            )
        return outcome.pair(one, other)

    # Planning

    @property
    def detectable(self) -> float:
        """The difference that these queries detect with a power of 0.8; NaN if unknown.

        It is the median over the rankings that may be as good as the best one, or that are undecided beside baselines;
        if there are none, over all that are compared.
        """
        return planning.detectable(self._testable().decision)

    def queries_needed(
        self,
        difference: float,
        *,
        power: float = planning.POWER,
        first: str | None = None,
        second: str | None = None,
    ) -> int:
        """Compute how many queries are needed to detect a difference with this power.

        Two rankings show how much queries vary, which is uncertain (UserWarning) if fewer than 30 queries differ.
        After T. Sakai (2016), Topic set size design. https://doi.org/10.1007/s10791-015-9273-z
        """
        power = check_number(power, "power", "(0, 1)")
        wanted = check_number(difference, "difference", "(0, inf)")
        pair = self.pair(first, second)
        outcome = self.outcome()
        decision = outcome.decision
        at = outcome.names.index(pair.first), outcome.names.index(pair.second)
        planning.check_difference(decision, pair.metric, at, wanted)
        needed = planning.queries_needed(decision, *at, wanted, power)
        n_changed = pair.wins + pair.losses
        # The few that differ say little about how much queries vary.
        if n_changed < planning.FEW_CHANGED:
            what = f"Only {counted(n_changed, 'query')} of {pair.first} and {pair.second} differ"
            message = f"{what}, so the number of queries needed is uncertain."
            warnings.warn(message, UserWarning, stacklevel=2)
        return needed

    # Queries

    def worst(
        self, n: int = 10, first: str | None = None, second: str | None = None
    ) -> list[QueryDifference]:
        """List at most n queries on which the first ranking loses against the second, the largest loss first."""
        pair = self.pair(first, second)
        return largest_leads(pair, -self.outcome().turned(pair.differences), n)

    def best(
        self, n: int = 10, first: str | None = None, second: str | None = None
    ) -> list[QueryDifference]:
        """List at most n queries on which the first ranking wins against the second, the largest win first."""
        pair = self.pair(first, second)
        return largest_leads(pair, self.outcome().turned(pair.differences), n)

    def inspect(
        self,
        n: int | None = None,
        first: str | None = None,
        second: str | None = None,
        *,
        qid: Any = None,
        n_ranks: int | None = None,
    ) -> Inspection:
        """Show two rankings for the queries on which they differ most, or for the queries ``qid``.

        The number of queries n is 3 by default; other arguments are as in RankingReport.inspect.
        """
        if n is not None and qid is not None:
            raise ValueError(
                f"n must be left out if qid names the queries; got n={n} and qid={qid!r}."
            )
        check_int(n, "n", 1, or_none=True)
        pair = self.pair(first, second)
        if qid is None:
            qid = most_different(pair, n or 3)
        chosen = {own: self.reports[own] for own in (pair.first, pair.second)}
        return inspect_reports(chosen, pair.metric, qid, n_ranks)

    # Files

    def save(self, path: Any) -> None:
        """Write the reports, the options and all else that the result holds to a file, as RankingReport.save does.

        Parameters of candidates that a file cannot hold, such as estimators, are written as text.
        """
        self._check_whole("saved")
        reports = {name: saved_report(report) for name, report in self.reports.items()}
        body = {
            "class": type(self).__name__,
            "reports": without_repetitions(reports),
            "metrics": self.metrics,
            "plan": asdict(self.plan),
        }
        # What subclasses add.
        for one in fields(self)[len(fields(Comparison)) :]:
            body[one.name] = saved_or_text(getattr(self, one.name))
        write_saved("comparison", body, path)

    @staticmethod
    def load(path: Any) -> Comparison:
        """Read what ``save`` wrote, in the class that was saved; its reports keep no labels and scores."""
        saved, writer = read_saved("comparison", path)
        # Subclasses are higher in the package, so the file names its class.
        kind: type[Comparison] = class_of_comparison(saved.pop("class", ""))
        saved.setdefault("plan", {})
        saved = current_fields(saved, defaults_of(kind), "comparison", writer)
        reports = restored_reports(saved["reports"], writer)
        saved["reports"] = {name: RankingReport(**report) for name, report in reports.items()}
        saved["metrics"] = tuple(saved["metrics"])
        saved["plan"] = plan_from_file(saved["plan"], writer)
        return kind(**saved)

    # Text and frames

    def _brief(self) -> str:
        return f"{counted(len(self.names), 'ranking')} by {', '.join(self.metrics)}, {counted(self.n_queries, 'query')}"

    @property
    def _noun(self) -> str:
        """What the rankings are called."""
        return self._first.origin.noun

    def _title(self) -> str:
        return tables.title_of(self.outcomes, self._noun, self._first.origin.title)

    def _sections(self) -> list[Section]:
        notes = self._notes()
        more = self._more()
        n_further = len(notes) - MOST_NOTES
        if n_further > 0 and not more:
            more = f".details() has {counted(n_further, 'more note')}"
        hints = [Note("", f"More: {more}")] if more else []
        return [*self._above(), *notes[:MOST_NOTES], *words.read_of(self.reports), *hints]

    def _more(self) -> str:
        """The calls that this result makes useful."""
        return words.more_of(self.outcomes, can_inspect=data_of(self._first).has_documents)

    def _whole(self) -> list[Section]:
        return [*self._above(), *self._notes(), *words.read_of(self.reports)]

    def _sections_of_page(self) -> list[Section]:
        if self.plan.margin is None or not self.tested:
            return self._whole()
        # Whoever gets the page of a gate cannot ask for the queries that lose.
        return [*self._whole(), *tables.worst_queries(self.pair(), self.worst(5))]

    def _above(self) -> list[Section]:
        """What is printed above the notes: verdict, tables, and what these queries can show."""
        outcome = self.outcome()
        of_slices = {name: part.outcome() for name, part in self.named_slices.items()}
        found = [*tables.tables_of(self.outcomes, self._title()), *self._further_tables()]
        found += tables.slices_of(outcome, of_slices)
        # Tables come first.
        found.sort(key=lambda section: not isinstance(section, Table))
        if outcome.tested:
            found += words.can_show(self.outcomes)
        return [*self._verdict(), *found]

    def labels(self) -> dict[str, str]:
        """What pictures call rankings whose names say little; subclasses have some."""
        return {}

    def _further_tables(self) -> list[Section]:
        """Tables of subclasses."""
        return []

    def _notes(self) -> list[Section]:
        """Sentences below the table, the most important first; subclasses add theirs."""
        return list(words.notes_of(self.outcomes, self.reports, has_slices=bool(self.slices)))

    def _explanations(self) -> list[str]:
        return self._first._explanations()

    def notes(self) -> list[str]:
        """All sentences on what to keep in mind, the most important first; the print has four."""
        return list(map(str, self._notes()))

    def details(self) -> Sections:
        """What the print leaves out: p-values, effects, letters, a sentence for a paper, and all notes."""
        return Sections([*self._details(), *self._notes()])

    def _details(self) -> Iterator[Section]:
        return tables.details_of(self.outcomes, self._title())

    def to_frame(self, library: str = "pandas", *, pairs: bool = False) -> Any:
        """Put the rankings, or the pairs, into a frame of pandas or polars.

        For each metric, there are the mean with its interval, the entries of ``standings`` and ``letters``, and the
        effect: the mean difference divided by the standard deviation of the differences.
        """
        if check_bool(pairs, "pairs"):
            return make_frame(library, self.columns_of_pairs(), None)
        return make_frame(library, self._columns(), self._index)

    def to_dict(self, *, flat: bool = False) -> dict[str, Any]:
        """What is known by ranking and metric, for JSON: "mean", "status", "difference", "low" and "high".

        If flat, the dict has a single level of numbers, as experiment trackers require, with keys such as
        "new_ndcg_at_10", "new_ndcg_at_10_difference", "new_ndcg_at_10_low" and "new_ndcg_at_10_p"; other characters of
        names are encoded as in RankingReport.to_dict.
        """
        if check_bool(flat, "flat"):
            return tables.flat_entries(self.outcomes)
        return tables.entries(self.outcomes, self.names)

    def _columns(self) -> dict[str, list[Any]]:
        return tables.columns_of_rankings(self.outcomes, self.reports)

    def columns_of_pairs(self) -> Mapping[str, list[Any]]:
        """Columns of a frame with one row per metric and pair."""
        return tables.columns_of_pairs(self.outcomes, self.names)
