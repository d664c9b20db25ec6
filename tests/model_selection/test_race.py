from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from skrank_metrics.model_selection._race import (
    FoldValues,
    QueryValues,
    Race,
    Rules,
    behind,
    leader_of,
    over_folds,
    standings,
)

RULES = Rules(n_rounds=3, n_candidates=2)


def queries_of(values, weights=None):
    values = np.asarray(values, dtype=float)
    n = values.shape[1]
    return QueryValues(values, np.ones(n, dtype=bool), np.ones(n) if weights is None else np.asarray(weights), n)


def fold_of(values, first=0):
    values = np.asarray(values, dtype=float)
    n = values.shape[1]
    return FoldValues(first + np.arange(n), values, np.ones(n, dtype=bool))


def raced(folds, rules):
    """A race over folds of values, of which the mean is the score."""
    race = Race(rules)
    for fold in folds:
        running = race.start_round()
        race.finish_round({i: fold.values[i].mean() for i in running}, fold)
    return race


def test_p_values_are_those_of_a_paired_t_test_over_queries(rng):
    values = rng.random((4, 50)) - np.array([[0.0], [0.02], [0.1], [0.3]])
    found = standings(queries_of(values), 0, [1, 2, 3], Rules(n_rounds=3, n_candidates=4))
    for candidate, standing in found.items():
        p = stats.ttest_rel(values[0], values[candidate], alternative="greater").pvalue
        assert standing.p_adjusted == pytest.approx(min(1, 2 * 3 * p)), "two rounds, three others"
        assert standing.lead.mean == pytest.approx((values[0] - values[candidate]).mean())
        assert standing.leader == 0


def test_the_mean_over_all_queries_cannot_change_more_than_those_to_come_let_it(rng):
    values = rng.random((2, 60)) + np.array([[0.2], [0.0]])
    raw = stats.ttest_rel(*values)
    for n_queries in (None, 60_000, 120, 80):
        (found,) = standings(queries_of(values), 0, [1], Rules(2, 2, n_queries)).values()
        t = raw.statistic if n_queries is None else raw.statistic / (1 - 60 / n_queries) ** 0.5
        assert found.p_adjusted == pytest.approx(stats.t.sf(t, 59))
    (found,) = standings(queries_of(values), 0, [1], Rules(2, 2, 60)).values()
    assert found.p_adjusted == 0, "nothing can change any more"


def test_indifference_shifts_the_test(rng):
    values = rng.random((2, 60)) + np.array([[0.0], [0.1]])  # the candidate is ahead of the leader
    (found,) = standings(queries_of(values), 0, [1], Rules(2, 2, indifference=0.3)).values()
    assert found.p_adjusted == pytest.approx(stats.ttest_rel(values[0] + 0.3, values[1], alternative="greater").pvalue)
    (behind_by,) = standings(queries_of(values), 0, [1], Rules(2, 2, indifference=-0.3)).values()
    expected = stats.ttest_rel(values[0] - 0.3, values[1], alternative="greater").pvalue
    assert behind_by.p_adjusted == pytest.approx(expected)


@pytest.mark.parametrize(("lead", "indifference", "p"), [(0, 0, 1), (0.1, 0, 0), (-0.1, 0, 1), (0, 0.01, 0)])
def test_leads_without_spread(lead, indifference, p):
    values = np.full((2, 40), 0.3)
    values[0] += lead
    (found,) = standings(queries_of(values), 0, [1], Rules(2, 2, indifference=indifference)).values()
    assert found.p_adjusted == p


def test_leads_that_are_rounding_are_none():
    values = np.full((2, 40), 0.1 + 0.2)
    values[1] = 0.3
    (found,) = standings(queries_of(values), 0, [1], RULES).values()
    assert found.lead.mean == 0
    assert found.p_adjusted == 1


def test_weights_count(rng):
    values, weights = rng.random((2, 60)), np.repeat([1.0, 0.0], 30)
    (weighted,) = standings(queries_of(values, weights), 0, [1], RULES).values()
    (half,) = standings(queries_of(values[:, :30]), 0, [1], RULES).values()
    assert weighted == half


def test_too_few_defined_queries_are_not_tested():
    values = np.array([np.ones(40), np.zeros(40)])
    queries = QueryValues(values, np.arange(40) < 29, np.ones(40), 40)
    (found,) = standings(queries, 0, [1], RULES).values()
    assert np.isnan(found.p_adjusted)
    assert behind({1: found}, RULES) == []
    queries = QueryValues(values, np.arange(40) < 30, np.ones(40), 40)
    assert behind(standings(queries, 0, [1], RULES), RULES) == [1]
    at_the_level = {other: replace(found, p_adjusted=p) for other, p in ((1, 0.05), (2, 0.0500001))}
    assert behind(at_the_level, RULES) == [1]


def test_queries_without_weight_do_not_make_up_the_least_number():
    values = np.array([np.ones(40), np.zeros(40)])
    for n_weighted, places in ((29, []), (30, [1])):
        weighted = queries_of(values, np.arange(40) < n_weighted)
        assert behind(standings(weighted, 0, [1], RULES), RULES) == places


def test_a_rung_is_tested_like_a_sample_of_endless_queries(rng):
    values = rng.random((3, 60)) + np.array([[0.1], [0.0], [0.05]])
    race = Race(Rules(n_rounds=2, n_candidates=3, n_queries=60, n_rungs=2))
    race.start_round(0.5)
    race.finish_rung(dict(enumerate(values.mean(axis=1))), fold_of(values), 0.5)
    for candidate in (1, 2):
        p = stats.ttest_rel(values[0], values[candidate], alternative="greater").pvalue
        # Two rungs and one round, two others; models change until they get all rows.
        assert race.standings[candidate].p_adjusted == pytest.approx(min(1, 3 * 2 * p))


def test_queries_without_a_value_are_left_out(rng):
    values = rng.random((2, 80))
    values[:, 40:] = np.nan
    (found,) = standings(queries_of(values), 0, [1], RULES).values()
    (half,) = standings(queries_of(values[:, :40]), 0, [1], RULES).values()
    assert found == half


def test_repeated_folds_count_queries_once(rng):
    first, second = rng.random((2, 2, 30))
    found = over_folds([fold_of(first), fold_of(second)])
    np.testing.assert_allclose(found.values, (first + second) / 2)
    assert found.n_tested == found.defined.sum() == np.sum(found.weights > 0) == 30


def test_the_first_of_equal_candidates_leads():
    assert leader_of(np.array([0.9, 0.5, 0.7, 0.7]), [1, 2, 3]) == 2


def test_a_leader_may_change_and_one_that_fails_leaves(rng):
    noise = rng.normal(0, 0.1, 100)
    first = np.array([0.8 + noise, 0.7 + noise[::-1] * 8, 0.7 + noise * 6])
    second = first + np.array([[-0.5], [0.0], [-0.1]])
    race = Race(Rules(4, 3))
    race.finish_round(dict(enumerate(first.mean(axis=1))), fold_of(first))
    assert {standing.leader for standing in race.standings.values()} == {0}
    assert race.remaining == [0, 1, 2]
    race.finish_round(dict(enumerate(second.mean(axis=1))), fold_of(second, 100))
    assert race.standings[0].leader == 1
    race.finish_round({0: 0.3, 2: 0.3}, fold_of(second, 200))
    assert race.left[1] == (3, "failed")
    assert 1 not in race.remaining


def test_after_the_last_round_nobody_leaves():
    values = [np.ones(40), np.zeros(40)]
    assert raced([fold_of(values)], Rules(1, 2)).left == {}
    assert raced([fold_of(values), fold_of(values, 40)], Rules(2, 2)).left == {1: (1, "behind")}


def test_a_budget_keeps_those_with_the_best_means_that_it_can_finish(rng):
    folds = [fold_of(rng.random((6, 5)), 5 * i) for i in range(3)]  # five queries are too few to test
    race = raced(folds, Rules(3, 6, max_fits=12))
    assert race.n_fits == 12  # 6 + 3 + 3
    best = np.argsort(-folds[0].values.mean(axis=1))[:3]
    assert sorted(race.remaining) == sorted(best)
    assert set(race.left.values()) == {(1, "max_fits")}
    assert raced(folds, Rules(3, 6, max_fits=18)).left == {}
    assert raced(folds, Rules(3, 6, max_fits=8)).n_fits == 8  # 6 + 1 + 1


def null_race(rng, n_queries=30, n_candidates=8, n_folds=5, spread=0.1):
    """Candidates with the same true mean; returns those that left, and the best over all folds."""
    easy = rng.normal(size=n_queries * n_folds)
    values = easy + spread * rng.normal(size=(n_candidates, n_queries * n_folds))
    folds = [fold_of(values[:, i * n_queries : (i + 1) * n_queries], i * n_queries) for i in range(n_folds)]
    return raced(folds, Rules(n_folds, n_candidates, n_queries * n_folds)).left, int(values.mean(axis=1).argmax())


@pytest.mark.slow
def test_the_winner_of_the_grid_rarely_leaves_among_equals():
    rng = np.random.default_rng(0)
    left = [null_race(rng) for _ in range(200)]
    assert np.mean([winner in found for found, winner in left]) <= 0.05
    assert np.mean([len(found) > 0 for found, _ in left]) > 0.05, "others leave"
