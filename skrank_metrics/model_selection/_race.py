"""Decide which candidates leave a race, given their values per query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import special

from skrank_metrics._input.arrays import FloatArray, IntArray, Mask
from skrank_metrics.reports.mean_intervals import ROUNDING, Moments, moments


@dataclass(frozen=True)
class Rules:
    """The rules by which candidates leave.

    The test is about the means over all queries of the folds. Since some of these are still to come, the queries so far
    are a sample from a finite population. The level, 1 - confidence, is split evenly over the rounds after which
    candidates can leave, and over all candidates but one, since any of them may lead (Bonferroni). The winner of the
    grid search then leaves with a probability of at most 1 - confidence, whatever the true differences: if values are
    normal and queries independent, the difference between a mean so far and the final mean is independent of all final
    means.
    """

    n_rounds: int  # candidates can leave after all but the last
    n_candidates: int
    n_queries: int | None = None  # of all folds; None if some are tested again, so that no mean is ever final
    confidence: float = 0.95
    indifference: float = 0.0  # below 0, a candidate must be behind by more than that
    min_queries: int = 30
    max_fits: int | None = None
    n_rungs: int = 0  # rounds on a share of the training queries, before the others
    rung_margin: float = 0.0  # there, a candidate must be behind by more than this


@dataclass(frozen=True)
class Standing:
    """A candidate compared with the leader, on the queries so far."""

    leader: int
    lead: Moments  # of the differences, leader minus candidate
    p_adjusted: float  # for the number of candidates and rounds; NaN if there are too few queries to test


@dataclass(frozen=True)
class FoldValues:
    """Values per query of all candidates in one fold."""

    queries: IntArray  # (n_fold_queries,), numbers of the queries
    values: FloatArray  # (n_candidates, n_fold_queries); NaN for undefined queries and for candidates that did not run
    # (n_fold_queries,), False if the metric is undefined for the query, even if its value was replaced
    defined: Mask
    weights: FloatArray | None = None  # (n_fold_queries,)


@dataclass(frozen=True)
class QueryValues:
    """Values of all queries, over the folds so far."""

    values: FloatArray  # (n_candidates, n_queries)
    defined: Mask  # (n_queries,)
    weights: FloatArray  # (n_queries,), 0 for queries that were not tested
    n_tested: int


def over_folds(folds: Sequence[FoldValues]) -> QueryValues:
    """Mean value of each query over the folds that test it.

    A query that is tested again by repeated folds gets a more precise value, but counts only once.
    """
    n_queries = 1 + max(int(fold.queries.max()) for fold in folds)
    sums, counts = np.zeros((len(folds[0].values), n_queries)), np.zeros(n_queries)
    weights, defined = np.zeros(n_queries), np.zeros(n_queries, dtype=bool)
    for fold in folds:
        sums[:, fold.queries] += fold.values
        counts[fold.queries] += 1
        weights[fold.queries] = 1.0 if fold.weights is None else fold.weights
        defined[fold.queries] = fold.defined
    return QueryValues(sums / np.maximum(counts, 1), defined, weights, int(np.sum(counts > 0)))


def leader_of(means: FloatArray, remaining: Iterable[int]) -> int:
    """Remaining candidate with the best mean over folds; the first one if several are equal, as in a grid search."""
    places = np.fromiter(remaining, dtype=np.intp)
    return int(places[np.argmax(means[places])])


def standings(queries: QueryValues, leader: int, others: Sequence[int], rules: Rules) -> dict[int, Standing]:
    """Compare each candidate with the leader by a one-sided paired t-test over queries, adjusted."""
    pairs = {other: queries.values[[leader, other]] for other in others}
    leads = {other: _lead(pair, queries.weights) for other, pair in pairs.items()}
    enough = np.sum(queries.defined & (queries.weights > 0)) >= rules.min_queries
    to_come = 1.0 if rules.n_queries is None else 1 - queries.n_tested / rules.n_queries
    n_tests = (rules.n_rungs + rules.n_rounds - 1) * (rules.n_candidates - 1)
    adjusted = {other: n_tests * p_ahead(lead, rules, to_come) if enough else np.nan for other, lead in leads.items()}
    return {other: Standing(leader, lead, float(np.minimum(1, adjusted[other]))) for other, lead in leads.items()}


def _lead(pair: FloatArray, weights: FloatArray) -> Moments:
    """Mean and spread of the differences between two candidates."""
    counted = ~np.isnan(pair).any(axis=0) & (weights > 0)
    one, other = pair[:, counted]
    differences = one - other
    differences[np.abs(differences) <= ROUNDING * np.abs(one)] = 0
    return moments(differences, weights[counted])


def p_ahead(lead: Moments, rules: Rules, to_come: float) -> float:
    """One-sided p-value of a lead if the final lead is at most -indifference; 0 or 1 if there is no spread.

    The smaller the share of queries still to come, the less the mean can change, so its standard error has the finite
    population correction (Cochran 1977).
    """
    if lead.n_effective < 2:
        return np.nan
    beyond = lead.mean + rules.indifference
    error = lead.error * to_come**0.5
    if not error > 0:
        return 0.0 if beyond > 0 else 1.0
    return float(special.stdtr(lead.n_effective - 1, -beyond / error))


def behind(found: dict[int, Standing], rules: Rules) -> list[int]:
    """Candidates that are significantly behind the leader."""
    level = round(1 - rules.confidence, 12)  # 1 - 0.9 is less than 0.1
    return [candidate for candidate, standing in found.items() if standing.p_adjusted <= level]


@dataclass
class Race:
    """The candidates of a race, round by round."""

    rules: Rules
    remaining: list[int] = field(init=False)
    n_fits: float = 0  # fits on rungs count as their share of the training queries
    scores: list[FloatArray] = field(default_factory=list)  # of all candidates, one array per round
    folds: list[FoldValues] = field(default_factory=list)
    left: dict[int, tuple[int, str]] = field(default_factory=dict)  # number of rounds run, and why it left
    standings: dict[int, Standing] = field(default_factory=dict)  # the last of each candidate

    def __post_init__(self) -> None:
        self.remaining = list(range(self.rules.n_candidates))

    def start_round(self, share: float = 1) -> list[int]:
        """Candidates that run the next fold: as many of the best remaining ones as the budget lets finish."""
        if self.rules.max_fits is not None and self.scores:
            affordable = int(self.rules.max_fits - self.n_fits) // (self.rules.n_rounds - len(self.scores))
            best_first = sorted(self.remaining, key=lambda candidate: -self.means[candidate])
            self._leave(best_first[affordable:], "max_fits")
        self.n_fits += share * len(self.remaining)
        return list(self.remaining)

    def finish_round(self, scores: Mapping[int, float], fold: FoldValues) -> None:
        """Record the scores and values of the candidates that did not fail; those that failed or are behind leave."""
        self.scores.append(np.array([scores.get(candidate, np.nan) for candidate in range(self.rules.n_candidates)]))
        self.folds.append(fold)
        self._leave([candidate for candidate in self.remaining if candidate not in scores], "failed")
        if not self.remaining or len(self.scores) == self.rules.n_rounds:
            return
        leader = leader_of(self.means, self.remaining)
        others = [candidate for candidate in self.remaining if candidate != leader]
        found = standings(over_folds(self.folds), leader, others, self.rules)
        self.standings |= found
        self._leave(behind(found, self.rules), "behind")

    def finish_rung(self, scores: Mapping[int, float], fold: FoldValues, share: float) -> None:
        """Record the values of models fitted on a share of the training queries; failed or far behind ones leave."""
        self._leave([candidate for candidate in self.remaining if candidate not in scores], "failed")
        leader = max(self.remaining, key=lambda candidate: scores[candidate])
        others = [candidate for candidate in self.remaining if candidate != leader]
        rules = replace(self.rules, indifference=-self.rules.rung_margin, n_queries=None)
        found = standings(over_folds([fold]), leader, others, rules)
        self.standings |= found
        self._leave(behind(found, rules), f"behind on {share:g} of the training queries")

    @property
    def means(self) -> FloatArray:
        """Means over the folds so far; NaN for candidates that left."""
        return np.mean(self.scores, axis=0)

    def _leave(self, candidates: Iterable[int], why: str) -> None:
        for candidate in candidates:
            self.left[candidate] = len(self.scores), why
            self.remaining.remove(candidate)
