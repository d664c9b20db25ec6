"""Explain why two libraries give different values for the same metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations
from typing import Any

from skrank_metrics._engine.from_rows import ranking_from_rows
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._input.types import Ids, Numbers
from skrank_metrics._output.result import Column, Result, Section, Table, signed
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import MetricLike
from skrank_metrics.metrics.conventions import CONVENTIONS, ConventionName
from skrank_metrics.metrics.names import bind, in_convention
from skrank_metrics.reports.facts import values_of
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.reports.report_data import data_of

# The parameter that is the value of undefined queries.
UNDEFINED = "replace_undefined_by"
# What keeps the order of tied documents.
STABLE = ("ties", "stable")
# Parameters in which conventions differ, and their names in the explanation.
CAUSES = {
    "k": "cutoff",
    "relevance_threshold": "relevance threshold",
    "gain": "gain",
    "discount": "discount",
    "ideal": "ideal",
    "p": "p",
    "normalizer": "divisor",
    "divisor": "divisor",
    "ties": "ties",
    UNDEFINED: "queries without a value",
}


@dataclass(frozen=True)
class Cause:
    """One difference between two conventions."""

    cause: str
    change: str
    effect: float
    shown: str  # cause and change in the printed table


@dataclass(frozen=True, repr=False, eq=False)
class Difference(Result):
    """The gap between two conventions, attributed to its causes.

    Prints as a table that adds up to the gap, in terminals and notebooks. ``to_frame()`` gives one row per cause.

    Attributes
    ----------
    metric : str
        Name of the metric.
    conventions : tuple of str
        The two conventions.
    start, end : float
        Values by the first and the second convention.
    causes : list of Cause
        Causes with attributes ``cause``, ``change`` (old and new parameter) and ``effect`` (its part of the gap). The
        effects add up to ``end - start``.
    not_imitated : list of str
        Behaviour of the two libraries that these values do not reproduce.
    """

    _display = "DifferenceDisplay"

    metric: str
    conventions: tuple[str, str]
    start: float
    end: float
    causes: list[Cause]
    not_imitated: list[str]

    def _brief(self) -> str:
        return f"{self.metric} by {' and '.join(self.conventions)}"

    def _sections(self) -> list[Section]:
        first, second = self.conventions
        rows = [(cause.shown, cause.effect) for cause in self.causes]
        rows.append(("gap", self.end - self.start))
        sections: list[Section] = [
            f"{self.metric}: {self.start:z.4f} by {first}, {self.end:z.4f} by {second}",
            Table(("", Column("effect", signed)), rows, wraps=True),
        ]
        if self.causes:
            sections.append(f"To get {second}'s value, pass convention={second!r}.")
        return [*sections, *self.not_imitated]

    def _columns(self) -> dict[str, list[Any]]:
        names = ("cause", "change", "effect")
        return {name: [getattr(cause, name) for cause in self.causes] for name in names}


def explain_difference(
    y_true: Numbers | RankingReport,
    y_score: Numbers | None = None,
    *,
    qid: Ids | None = None,
    metric: MetricLike = "ndcg@10",
    conventions: tuple[ConventionName, ConventionName] = ("sklearn", "lightgbm"),
) -> Difference:
    """Attribute the gap between two conventions to its causes.

    Causes are the parameters that differ: cutoff, relevance threshold, gain, discount, ideal, divisor, ties, and the
    value of undefined queries. Since the effect of a change can depend on the other changes, each cause is assigned
    its mean effect over all orders of the changes (the Shapley value). Swapping the conventions only changes the
    signs.

    Parameters
    ----------
    y_true, y_score, qid : array-like
        As in evaluate. For weights, masks and lists by id, pass only a RankingReport, that of evaluate or evaluate_run,
        as y_true. Of lists by id, the ids are known, by which some libraries order tied documents.
    metric : str, metric function or bound metric, default="ndcg@10"
        Metric to compute, as in get_metric. Parameters that it sets are the same for both conventions.
    conventions : tuple of two str, default=("sklearn", "lightgbm")
        Names of conventions, as in evaluate.

    Returns
    -------
    difference : Difference
        Prints as a table that adds up to the gap.

    References
    ----------
    L. S. Shapley (1953). A value for n-person games. Contributions to the Theory of Games II, 307-317.
    https://doi.org/10.1515/9781400881970-018

    Examples
    --------
    In query "a", a document of grade 1 is ranked above one of grade 2. Its NDCG is (1 + 2 / log2(3)) / (2 + 1 /
    log2(3)) = 0.8597 with linear gains and (1 + 3 / log2(3)) / (3 + 1 / log2(3)) = 0.7967 with exponential ones. Query
    "b" has no relevant document and counts as 0 or 1, so the means of both queries are 0.4299 and 0.8984:

    >>> from skrank_metrics.conventions import explain_difference
    >>> print(explain_difference([1, 2, 0], [2, 1, 0], qid=["a", "a", "b"]))
    ndcg@10: 0.4299 by sklearn, 0.8984 by lightgbm
                                                      effect
    gain: linear -> exp2                                 -0.0315
    ties: average -> stable                              +0.0000
    queries with no relevant document count as 1, not 0  +0.5000
    gap                                                  +0.4685
    To get lightgbm's value, pass convention='lightgbm'.
    """
    first, second = (in_convention(metric, convention) for convention in conventions)
    first.check_one_value()
    ranking = rows_or_report(y_true, y_score, qid)
    # What each library sees: some order tied documents by their ids.
    by_id = [orders_by_id(convention, ranking) for convention in conventions]
    rankings = [ranking.by_id() if one else ranking.as_given() for one in by_id]
    texts = [partial(option_in_words, *pair) for pair in zip((first, second), by_id, strict=True)]
    changed: list[tuple[str, ...]] = [
        (name,)
        for name in CAUSES
        if name in first.record.parameters and texts[0](name) != texts[1](name)
    ]
    # The ideal of the first k does not go with averaged ties, so the two change together.
    ideals = (first.get("ideal"), second.get("ideal"))
    if {("ideal",), ("ties",)} <= set(changed) and "top" in ideals:
        changed.remove(("ties",))
        changed[changed.index(("ideal",))] = ("ideal", "ties")
    # There are 2^n subsets of the n parameters that differ, and conventions differ in five at most.
    means = _means_by_changes(rankings, first, second, changed)
    causes = [_cause(names, first, second, texts, means) for names in changed]
    remarks = []
    for convention in conventions:
        remark = CONVENTIONS[convention].differs.get(first.record.name)
        if remark:
            # What no parameter imitates would otherwise look like a mistake of the user.
            remarks.append(f"Not reproduced from {convention}: {remark}")
    return Difference(
        str(bind(metric)),
        (conventions[0], conventions[1]),
        means[frozenset()],
        means[frozenset(changed)],
        causes,
        remarks,
    )


def rows_or_report(y_true: Any, y_score: Any, qid: Any) -> Ranking:
    """The ranking of a report, or of rows."""
    if isinstance(y_true, RankingReport):
        if y_score is not None or qid is not None:
            raise TypeError("Pass a report alone, without y_score and qid; it holds its documents.")
        return data_of(y_true).own_ranking
    if y_score is None:
        raise TypeError("Pass labels and scores, y_true and y_score, or a report of evaluate.")
    return ranking_from_rows(y_true, y_score, qid=qid)


def orders_by_id(convention: str, ranking: Ranking) -> bool:
    """Whether a library orders tied documents of a ranking by their ids."""
    has_ids = ranking.documents.document_ids is not None
    return has_ids and CONVENTIONS[convention].ties_by_id == "id"


def option_in_words(metric: BoundMetric, by_id: bool, name: str) -> str:
    """A parameter of a metric, equal if it is computed alike: as text, NaN equals NaN."""
    value = str(metric.get(name))
    return "by document id" if by_id and (name, value) == STABLE else value


def _means_by_changes(
    rankings: Sequence[Ranking],
    first: BoundMetric,
    second: BoundMetric,
    changed: Sequence[tuple[str, ...]],
) -> dict[frozenset[tuple[str, ...]], float]:
    """The mean of a metric by each set of changes; with the ties, the ranking changes."""
    metrics: list[dict[frozenset[tuple[str, ...]], BoundMetric]] = [{}, {}]
    for n_changed in range(len(changed) + 1):
        for changes in combinations(changed, n_changed):
            new = {name: second.get(name) for name in chain.from_iterable(changes)}
            metrics["ties" in new][frozenset(changes)] = first.replace(**new)
    means: dict[frozenset[tuple[str, ...]], float] = {}
    for ranking, of_ranking in zip(rankings, metrics, strict=True):
        if of_ranking:
            found = values_of(ranking, of_ranking)
            means |= {subset: values.mean for subset, values in found.items()}
    return means


def _cause(
    names: tuple[str, ...],
    first: BoundMetric,
    second: BoundMetric,
    texts: Sequence[Callable[[str], str]],
    means: Mapping[frozenset[tuple[str, ...]], float],
) -> Cause:
    """The mean effect of a change over all orders of the changes."""
    n = max(map(len, means))
    effects = []
    for changes in means:
        if names not in changes:
            gain = means[changes | {names}] - means[changes]
            # Of the n! orders, |changes|! (n - 1 - |changes|)! make exactly these before this one.
            effects.append(gain / (n * math.comb(n - 1, len(changes))))
    cause = " and ".join(CAUSES[name] for name in names)
    change = ", ".join(f"{texts[0](name)} -> {texts[1](name)}" for name in names)
    shown = f"{cause}: {change}"
    if names == (UNDEFINED,):
        # Parameters are those of the metric itself, of which neg_ has the negative.
        sign = -1 if first.negative else 1
        new, old = second.get(UNDEFINED), first.get(UNDEFINED)
        counts = f"count as {sign * new:zg}, not {sign * old:zg}"
        shown = f"queries with {first.undefined} {counts}"
    return Cause(cause, change, math.fsum(effects), shown)
