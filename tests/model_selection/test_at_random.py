"""Random folds, queries, masks, weights and groups: cross-validation, searches and races against plain loops."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate
from support.problems import Learned, Problem, random_metrics
from support.shown import words

from skrank_metrics import (
    compare,
    cross_evaluate,
    get_metric,
    kendall_tau_distance,
    make_ranking_scorer,
    ranking_scorers,
    with_qid,
)
from skrank_metrics.metrics import get_metrics
from skrank_metrics.model_selection import RacingSearchCV, search_report, within_noise
from skrank_metrics.reports import RankingReport
from skrank_metrics.reports.ranking_report import with_queries
from skrank_metrics.reports.report_data import data_of


def almost(found, expected):
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, rtol=1e-7, atol=1e-9)


# cross_evaluate


def mean_of_repetitions(reports):
    """A report whose values are means over repetitions."""
    first = reports[0]
    columns = {"qid": first.qid, "weight": first.weights, "by": first.by, "group": first.groups}
    for name in first.metrics:
        columns[name] = np.mean([report.per_query[name] for report in reports], axis=0)
    given = {name: column for name, column in columns.items() if column is not None}
    return RankingReport.from_frame(given, metrics=first.metrics)


def out_of_fold(problem, model, repetitions, options, fit_weights):
    """Mean scores of all rows, and the report, of a model that is fitted in a loop."""
    scores = np.full((len(repetitions), len(problem.y)), np.nan)
    reports = []
    for number, fold in enumerate(repetitions):
        for train, test in problem.splits(fold):
            given = {name: column[train] for name, column in fit_weights.items()}
            fitted = clone(model).fit(problem.X[train], problem.y[train], **given)
            scores[number, test] = fitted.predict(problem.X[test])
        rows = np.flatnonzero(fold[problem.query] >= 0)
        own = {name: column[rows] for name, column in options["of rows"].items()}
        own |= options["of all"]
        reports.append(problem.evaluated(scores[number], rows, own))
    report = reports[0] if len(reports) == 1 else mean_of_repetitions(reports)
    folds = repetitions[0][problem.number_of(report)]
    return scores.mean(axis=0), with_queries(report, folds=folds)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_cross_evaluate_is_a_loop_over_folds(seed):
    random = np.random.default_rng([seed, 1])
    problem = Problem(random)
    repetitions = [problem.fold]
    if seed % 3 == 0:
        repetitions.append(problem.fold.max() - problem.fold)
        others = random.permutation(problem.fold)
        repetitions[1] = others if problem.users is None else repetitions[1]
    elif seed % 3 == 1:  # queries that are never tested
        left_out = problem.fold == 0
        later = problem.fold > 0
        repetitions[0] = np.where(left_out, -1, problem.fold) - later
    columns = {"by": problem.slices} if random.random() < 0.5 else {}
    if problem.users is not None:
        columns["groups"] = problem.groups
    of_fit = {"sample_weight": random.random(len(problem.y))} if random.random() < 0.5 else {}
    convention = str(random.choice(["sklearn", "lightgbm"]))
    metrics = random_metrics(random, problem)
    options = {"of all": {"metrics": metrics, "convention": convention}, "of rows": columns}
    models = {"a": Learned(0), "b": Learned(3), "c": Learned(2)}
    shuffled = random.permutation(list("abc"))
    n_models = seed % 4 or 2
    models = {name: models[name] for name in shuffled[:n_models]}
    found = cross_evaluate(
        models,
        problem.X,
        problem.labels,
        cv=[split for fold in repetitions for split in problem.splits(fold)],
        metrics=metrics,
        convention=convention,
        params=of_fit,
        verbose=0,
        **columns,
    )
    reports = {}
    for name, model in models.items():
        scores, reports[name] = out_of_fold(problem, model, repetitions, options, of_fit)
        np.testing.assert_allclose(found.scores[name], scores)
        frame = found.reports[name].to_frame()
        expected_frame = reports[name].to_frame()
        almost(frame.sort_index(), expected_frame.sort_index())
        expected_folds = dict(zip(reports[name].qid.tolist(), reports[name].folds, strict=True))
        folds = [expected_folds[one] for one in found.qid.tolist()]
        assert found.reports[name].folds.tolist() == folds
    check_folds(found, reports)
    if len(models) == 1:
        return
    expected = compare(reports)
    # Reports by themselves are rankings; what was fitted and tested is a model.
    assert found.verdict == expected.verdict.replace("the rankings", "the models")
    almost(found.to_frame(), expected.to_frame())
    almost(found.to_frame(pairs=True), expected.to_frame(pairs=True))
    for value, part in expected.slices.items():
        almost(found.slices[value].to_frame(), part.to_frame())
        check_folds(found.slices[value], part.reports)


AVERAGED = ["ndcg@3", "recall(average=micro)@2", "mrr(average=median)", "judged(average=micro)@3"]


def averaged(metric, values, weights, n_relevant):
    """The mean of values per query, as the name of a metric says."""
    if "median" in metric:
        in_order = np.repeat(values, (2 * weights).astype(int))
        return np.median(in_order)
    shares = weights
    if metric.startswith("recall"):
        shares = weights * n_relevant
    return np.average(values, weights=shares) if shares.any() else 0.0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_folds_may_be_tested_again_in_any_order(seed):
    random = np.random.default_rng([seed, 8])
    problem = Problem(random)
    weights = random.choice([0.5, 1.0, 4.0], problem.n_queries)[problem.query]
    problem.carried = {"sample_weight": weights} if seed % 2 else {}
    problem.labels = with_qid(problem.y, problem.qid, **problem.carried)
    n_folds = problem.fold.max() + 1
    n_times = int(random.integers(1, 4))
    order = random.permutation(np.repeat(np.arange(n_folds), n_times)).tolist()
    in_order = list(dict.fromkeys(order))
    plain = problem.splits(problem.fold)
    splits = []
    for number in order:
        train, test = plain[number]
        others = random.permutation(np.unique(problem.query[train]))
        some = others[: max(1, len(others) - 1)]
        splits.append((train[np.isin(problem.query[train], some)], test))
    metrics = [AVERAGED[0], *random.permutation(AVERAGED[1:])]
    found = cross_evaluate(
        Learned(1), problem.X, problem.labels, cv=splits, metrics=metrics, verbose=0
    )

    scores = np.full((n_times, len(problem.y)), np.nan)
    n_before = dict.fromkeys(in_order, 0)
    for number, (train, test) in zip(order, splits, strict=True):
        fitted = Learned(1).fit(problem.X[train], problem.y[train])
        scores[n_before[number], test] = fitted.predict(problem.X[test])
        n_before[number] += 1
    np.testing.assert_allclose(found.scores["Learned"], scores.mean(axis=0))
    report = found.reports["Learned"]
    queries = problem.number_of(report)
    assert found.folds.tolist() == [in_order.index(problem.fold[query]) for query in queries]
    rows = np.arange(len(problem.y))
    again = [problem.evaluated(own, rows, {"metrics": metrics}) for own in scores]
    assert again[0].qid.tolist() == report.qid.tolist()
    relevant = problem.y > 0
    n_relevant = np.array([relevant[problem.query == query].sum() for query in queries])
    weights = weights_of(report)
    for metric in metrics:
        values = np.mean([one.per_query[metric] for one in again], axis=0)
        np.testing.assert_allclose(report.per_query[metric], values)
        expected = averaged(metric, values, weights, n_relevant)
        assert report.mean[metric] == pytest.approx(expected)
        assert report.n_undefined[metric] == again[0].n_undefined[metric]
        of_folds = []
        for number in range(n_folds):
            own = found.folds == number
            of_folds.append(averaged(metric, values[own], weights[own], n_relevant[own]))
        assert found.by_metric(metric).fold_means()["Learned"] == pytest.approx(of_folds)


def means_of_folds(report, metric):
    """Means over the queries of each fold that has some; a fold without weight has none."""
    weights = weights_of(report)
    means = []
    for fold in sorted(set(report.folds.tolist())):
        inside = report.folds == fold
        if not weights[inside].any():
            means.append(np.nan)
            continue
        values = report.per_query[metric][inside]
        means.append(np.average(values, weights=weights[inside]))
    return means


def check_folds(found, reports):
    """Means over the queries of each fold, and what is printed of them."""
    shown = {}
    for name, metric in itertools.product(found.names, found.metrics):
        means = means_of_folds(reports[name], metric)
        assert found.by_metric(metric).fold_means()[name] == pytest.approx(means, nan_ok=True)
        shown[name, metric] = (np.mean(means), np.std(means))
    text = words(found.details())
    for name in found.names:
        mean, _ = shown[name, found.metrics[0]]
        after_name = re.search(rf"\b{name} (-?[.\d]+) ±", text)
        assert np.isnan(mean) or float(after_name[1]) == pytest.approx(mean, abs=6e-5)
    # A table that is too wide is shown in parts.
    pairs = np.array(re.findall(r"(-?[.\d]+) ± ([.\d]+)", text), dtype=float)
    expected = [cell for cell in shown.values() if not np.isnan(cell).any()]
    expected = np.reshape(expected, (-1, 2))
    np.testing.assert_allclose(np.sort(pairs, axis=0), np.sort(expected, axis=0), rtol=0, atol=6e-5)


# Searches


def scored_by_hand(problem, model, split, options, *, declines=False):
    """The report of the test rows of a fold."""
    train, test = split
    fitted = clone(model).fit(problem.X[train], problem.y[train])
    scores = np.full(len(problem.y), np.nan)
    scores[test] = fitted.predict(problem.X[test])
    return problem.evaluated(scores, test, options, declines=declines)


FAILURES = ("ignore:\\s*[0-9]+ fits failed", "ignore:.*non-finite")


@pytest.mark.filterwarnings(*FAILURES)
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_scores_and_reports_of_searches_are_those_of_loops(seed):
    random = np.random.default_rng([seed, 2])
    problem = Problem(random, noise=2.0)
    problem.add_to_weights(0.5)  # every fold has some
    names = random_metrics(random, problem)
    declines = bool(random.random() < 0.4)
    convention = str(random.choice(["sklearn", "lightgbm"]))
    retrieved = "scored" if declines else "all"
    scorers = ranking_scorers(*names, convention=convention, retrieved=retrieved)
    splits = problem.splits(problem.fold)
    n_columns = random.integers(2, 6)
    columns = [3, 0, 1, 2, -1][:n_columns]
    thresholds = [-np.inf, 0.0] if declines else [-np.inf]
    candidates = itertools.product(columns, thresholds)
    grid = [{"column": [column], "threshold": [threshold]} for column, threshold in candidates]
    key = str(random.choice(list(scorers)))
    search = GridSearchCV(Learned(), grid, scoring=scorers, refit=key, cv=splits)
    search.fit(problem.X, problem.labels)
    results, params = search.cv_results_, search.cv_results_["params"]
    options = {"metrics": get_metrics(*names, convention=convention)}
    shape = (len(params), len(splits))
    by_metric = {name: np.full(shape, np.nan) for name in scorers}
    for row, fold in itertools.product(range(len(params)), range(len(splits))):
        if params[row]["column"] >= 0:
            model = Learned(**params[row])
            report = scored_by_hand(problem, model, splits[fold], options, declines=declines)
            for name in scorers:
                by_metric[name][row, fold] = report.mean[name]
    for name, fold in itertools.product(scorers, range(len(splits))):
        expected = by_metric[name][:, fold]
        assert results[f"split{fold}_test_{name}"] == pytest.approx(expected, nan_ok=True)
    one = Learned(0)
    alone = cross_validate(one, problem.X, problem.labels, cv=splits, scoring=scorers)
    row = params.index({"column": 0, "threshold": -np.inf})
    for name in scorers:
        assert alone[f"test_{name}"] == pytest.approx(by_metric[name][row])

    asked = str(random.choice(list(scorers)))
    n_candidates = int(random.integers(2, 4))
    report = search_report(
        search,
        problem.X,
        problem.labels,
        metric=None if asked == key else asked,
        n_candidates=n_candidates,
        verbose=0,
    )
    check_report(report, by_metric[asked], params, n_candidates)
    models = {name: Learned(**report.params[name]) for name in report.reports}
    order = [asked, *(name for name in scorers if name != asked)]
    again = cross_evaluate(
        models,
        problem.X,
        problem.labels,
        cv=splits,
        metrics={name: scorers[name] for name in order},
        verbose=0,
    )
    frame = report.to_frame()
    assert frame["column"].tolist() == [report.params[name]["column"] for name in frame.index]
    # A search spells out the options of its convention.
    frame = frame.drop(columns=["column", "threshold"])
    almost(frame.set_axis(again.to_frame().columns, axis=1), again.to_frame())


def check_report(report, scores, params, n_candidates):
    """Order, reasons and optimism, from the scores of candidates on folds, larger ones better."""
    means = scores.mean(axis=1)
    rounded = means.round(12)
    names = {row: f"#{row + 1}" for row in range(len(params))}
    failed = [row for row in names if np.isnan(means[row])]
    whole = [row for row in names if row not in failed]
    best_first = sorted(whole, key=lambda row: -rounded[row])
    assert report.params == {name: params[row] for row, name in names.items()}
    listed = [means[int(name[1:]) - 1] for name in report.params]
    expected = means[[*best_first, *failed]]
    assert listed == pytest.approx(expected, nan_ok=True)
    if len(set(rounded[whole])) == len(whole):
        compared, others = best_first[:n_candidates], best_first[n_candidates:]
        reasons = {names[row]: f"not among the best {n_candidates}" for row in others}
        reasons |= {names[row]: "failed" for row in failed}
        assert set(report.names) == {names[row] for row in compared}
        assert report.not_compared == reasons
    assert report.naive_score == pytest.approx(means[best_first[0]])
    lowest, highest = [], []
    for fold in range(scores.shape[1]):
        others = np.delete(scores[whole], fold, axis=1).sum(axis=1)
        # Several can be the best on the others.
        is_best = others > others.max() - 1e-9
        chosen = scores[whole][is_best, fold]
        lowest.append(chosen.min())
        highest.append(chosen.max())
    assert np.mean(lowest) - 1e-9 <= report.expected_score <= np.mean(highest) + 1e-9
    assert report.changed == pytest.approx(0, abs=1e-12)


def share_of_rotations(folds, own, t):
    """How often the best of the candidates is as far ahead of one of them if the folds are rotated at random."""
    n_folds = folds.shape[1]
    directions = np.random.default_rng(0).normal(size=(n_folds, 4_000)).T
    n_ahead = 0
    for direction in directions:
        unit = direction / np.sqrt(np.sum(direction**2))
        best = max(folds, key=lambda scores: scores @ unit)
        difference = best - own
        along = difference @ unit
        across = np.sqrt(max(difference @ difference - along**2, 0) / (n_folds - 1))
        n_ahead += along > t * across
    return n_ahead / len(directions)


@pytest.mark.parametrize("seed", range(30))
def test_within_noise_is_a_loop_over_candidates(seed):
    random = np.random.default_rng([seed, 3])
    n = int(random.integers(1, 8))
    n_folds = int(random.integers(2, 7))
    of_candidates = random.normal(size=(n, 1)) / 8
    noise = random.normal(size=(n, n_folds)) / 8
    folds = np.round(of_candidates + noise, 1)
    has_failed = random.random(n - 1) < 0.2
    folds[1:][has_failed, 0] = np.nan
    sizes = random.integers(0, 4, n).tolist()
    results = {f"split{fold}_test_m": folds[:, fold] for fold in range(n_folds)}
    results["params"] = [{"size": size} for size in sizes]
    level = float(random.choice([0.05, 0.3]))
    ratio = float(random.choice([0.25, 1.0]))
    sign = random.choice([-1, 1])
    prefer = "size" if sign > 0 else "-size"

    means = folds.mean(axis=1).round(12)
    whole = np.flatnonzero(~np.isnan(means)).tolist()
    best = max(whole, key=lambda row: means[row])
    kept = []
    for row in whole:
        lead = np.round(folds[best] - folds[row], 12)
        variance = (1 / n_folds + ratio) * lead.var(ddof=1)
        error = np.sqrt(variance)
        p = float(lead.mean() <= 0)
        if error > 1e-9:
            p = stats.t.sf(lead.mean() / error, n_folds - 1)
            if len(whole) > 2:
                p = max(p, share_of_rotations(folds[whole], folds[row], lead.mean() / error))
        if p > level:
            kept.append(row)
    expected = min(kept, key=lambda row: (sign * sizes[row], -means[row]))
    rule = within_noise("m", prefer=prefer, test_ratio=ratio, level=level)
    assert rule(results) == expected


# Races


class PlainRace:
    """A race once more, by definitions alone, with a loop over candidates, folds and groups."""

    def __init__(self, values, defined, weights, groups, confidence, min_queries):
        # By fold and candidate, arrays of queries; None for candidates that fail.
        self.values, self.defined = values, defined
        self.weights, self.groups = weights, groups
        self.n_folds, self.n = len(values), len(values[0])
        self.sizes = [len(set(own.tolist())) for own in groups]
        self.level, self.min_queries = 1 - confidence, min_queries
        self.remaining = list(range(self.n))
        self.because = np.full(self.n, "", dtype=object)
        self.after = np.full(self.n, np.nan)
        self.difference = np.full(self.n, np.nan)
        self.p = np.full(self.n, np.nan)
        for fold, of_candidates in enumerate(values):
            self.run = fold + 1
            failed = [c for c in self.remaining if of_candidates[c] is None]
            self.drop(failed, "failed")
            if 1 < self.run < self.n_folds and self.remaining:
                self.compare()

    def drop(self, candidates, why):
        for candidate in candidates:
            self.remaining.remove(candidate)
            self.after[candidate], self.because[candidate] = self.run, why

    def score(self, fold, candidate):
        values = self.values[fold][candidate]
        known = ~np.isnan(values)
        return np.average(values[known], weights=self.weights[fold][known])

    def mean(self, candidate):
        return np.mean([self.score(fold, candidate) for fold in range(self.run)])

    def compare(self):
        self.leader = max(self.remaining, key=lambda c: round(self.mean(c), 12))
        others = [c for c in self.remaining if c != self.leader]
        tested = set()
        for other, fold in itertools.product(others, range(self.run)):
            tested |= self.tested(fold, other)
        n_tests = (self.n_folds - 2) * (self.n - 1) ** (1 / 4)
        for other in others:
            difference = self.mean(self.leader) - self.mean(other)
            self.difference[other] = round(difference, 12)
            self.p[other] = np.nan
            if len(tested) >= self.min_queries:
                self.p[other] = min(1, n_tests * self.p_value(other))
        limit = self.level + 1e-12
        behind = [c for c in others if self.p[c] <= limit]
        self.drop(behind, "behind")

    def lead(self, fold, other):
        values = self.values[fold]
        return np.round(values[self.leader] - values[other], 12)

    def tested(self, fold, other):
        """Groups with a query that counts."""
        is_weighted = self.weights[fold] > 0
        counted = ~np.isnan(self.lead(fold, other)) & is_weighted
        leader_is_defined = self.defined[fold][self.leader]
        groups = self.groups[fold][counted & leader_is_defined]
        return set(groups.tolist())

    def observations(self, fold, values):
        """Means and masses of the groups."""
        weights, groups = self.weights[fold], self.groups[fold]
        counted = ~np.isnan(values) & (weights > 0)
        means, masses = [], []
        for group in sorted(set(groups[counted].tolist())):
            inside = counted & (groups == group)
            means.append(np.average(values[inside], weights=weights[inside]))
            masses.append(weights[inside].sum())
        return np.array(means), np.array(masses)

    def p_value(self, other):
        n_run, n_to_come = self.run, self.n_folds - self.run
        squares, sizes = [], []
        for fold in range(n_run):
            leads, masses = self.observations(fold, self.lead(fold, other))
            if not len(leads):
                return np.nan
            n = effective(masses)
            squares.append(n * variance_of(leads, masses))
            sizes.append(n)
        n_degrees = sum(sizes) - n_run
        if n_degrees < 1 - 1e-12:
            return np.nan
        share = sum(sizes) / sum(self.sizes[:n_run])
        left = (n_to_come / self.n_folds) ** 2
        seen = sum(1 / n for n in sizes) / n_run**2
        to_come = self.sizes[n_run:]
        unseen = sum(1 / (n * share) for n in to_come) / n_to_come**2
        variance = left * (seen + unseen) * sum(squares) / n_degrees
        s2 = sum(squares) / n_degrees
        h, n_of_folds = self.instability(other, s2 * np.mean([1 / n for n in sizes]))
        if h > 1:
            variance *= h
            n_degrees = 1 / (1 / n_degrees + 1 / n_of_folds)
        if variance == 0:
            return float(self.difference[other] <= 0)
        return stats.t.sf(self.difference[other] / np.sqrt(variance), n_degrees)

    def instability(self, other, explained_of_pair):
        """How many times as much as their queries explain means vary from fold to fold."""
        n_folds, n_candidates = self.run, len(self.remaining)
        scores = np.array([[self.score(f, c) for c in self.remaining] for f in range(n_folds)])
        of_means = scores.mean(axis=1, keepdims=True)
        rest = scores - scores.mean(axis=0) - of_means + scores.mean()
        n_degrees = (n_folds - 1) * (n_candidates - 1)
        explained = np.mean([self.variance_of_mean(fold) for fold in range(n_folds)])
        pooled, of_pair = 0.0, 0.0
        if explained > 0:
            pooled = (rest**2).sum() / n_degrees / explained
        if explained_of_pair > 0:
            leads = [self.score(f, self.leader) - self.score(f, other) for f in range(n_folds)]
            of_pair = np.var(np.round(leads, 12), ddof=1) / explained_of_pair
        return max(1.0, pooled, (pooled + of_pair) / 2), n_degrees

    def variance_of_mean(self, fold):
        """Of a candidate around all, over the queries that all define."""
        own = np.array([self.values[fold][c] for c in self.remaining])
        own[:, np.isnan(own).any(axis=0)] = np.nan
        observed = [self.observations(fold, values) for values in own]
        masses = observed[0][1]
        if len(masses) < 2 or len(own) < 2:
            return np.nan
        rest = np.array([values for values, _ in observed])
        rest = rest - rest.mean(axis=0)
        total = sum(variance_of(row, masses) for row in rest)
        return total / (effective(masses) - 1) / (len(rest) - 1)


def effective(masses):
    """The number of equal masses that vary as much."""
    return masses.sum() ** 2 / (masses**2).sum()


def variance_of(values, masses):
    mean = np.average(values, weights=masses)
    return np.average((values - mean) ** 2, weights=masses)


RACED = [
    "ndcg@3",
    "map(replace_undefined_by=nan)",
    "neg_kendall_tau_distance",
    "recall(ties=worst)@2",
    kendall_tau_distance,
]


class SimplestOf:
    """A rule for refit that says which metric it is about."""

    def __init__(self, metric):
        self.metric = metric

    def __call__(self, results):
        return int(np.nanargmax(results[f"mean_test_{self.metric}"]))


def random_race(random, problem, splits, *, more_rows):
    """A race of random candidates by one of several metrics, and that metric."""
    raced = get_metric(RACED[random.integers(len(RACED))])
    declines = bool(random.random() < 0.3)
    retrieved = "scored" if declines else "all"
    sizes = [len(train) for train, _ in splits]
    columns, declining, failing, flaky = [
        {"column": [3, 0, 1, 2]},
        {"column": [0], "threshold": [0.5]},
        {"column": [-1]},
        # Fails in the folds with the most rows to train on.
        {"column": [3], "most_rows": [int(np.median(sizes))]},
    ]
    if declines:
        n_grids = int(random.integers(1, 5))
        grid = [columns, declining, failing, flaky][:n_grids]
    else:
        grid = [columns, flaky, failing if more_rows else columns]
    scorers = {
        "first": make_ranking_scorer("mrr", retrieved=retrieved),
        "m": make_ranking_scorer(raced, retrieved=retrieved),
        "last": make_ranking_scorer("judged@3", retrieved=retrieved),
    }
    way = int(random.integers(4))
    if way == 0:
        scoring, refit, key = scorers["m"], True, "score"
    elif way == 1:
        scoring, refit, key = {"m": scorers["m"], "last": scorers["last"]}, False, "m"
    else:
        scoring, refit, key = scorers, "m" if way == 2 else SimplestOf("m"), "m"
    search = RacingSearchCV(
        Learned(),
        grid,
        scoring=scoring,
        refit=refit,
        cv=splits,
        confidence=float(random.choice([0.5, 0.8, 0.95])),
        min_queries=int(random.integers(2, 20)),
        error_score=float(random.choice([np.nan, 0.5])),
        return_train_score=bool(random.random() < 0.3),
    )
    return search, raced, key, declines


@pytest.mark.filterwarnings(*FAILURES)
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_a_race_is_a_loop_over_folds(seed):
    random = np.random.default_rng([seed, 4])
    problem = Problem(random, (24, 50), is_defined=True)
    problem.add_to_weights((seed % 3) / 2)
    splits = problem.splits(problem.fold)
    search, metric, key, declines = random_race(random, problem, splits, more_rows=seed % 2)
    given = {} if problem.users is None else {"groups": problem.groups}
    search.fit(problem.X, problem.labels, **given)
    results, params = search.cv_results_, search.cv_results_["params"]
    sign = 1 if metric.greater_is_better else -1
    options = {"metrics": {"m": metric}}
    values, defined, weights, groups = [], [], [], []
    for split in splits:
        reports = [None] * len(params)
        for row, own in enumerate(params):
            if not fails(own, split):
                model = Learned(**own)
                reports[row] = scored_by_hand(problem, model, split, options, declines=declines)
        first = reports[0]
        queries = np.array(problem.number_of(first))
        values.append([one and sign * one.per_query["m"] for one in reports])
        defined.append([one and ~np.isnan(data_of(one).results["m"].values) for one in reports])
        weights.append(weights_of(first))
        groups.append(queries if problem.users is None else problem.users[queries])
    expected = PlainRace(values, defined, weights, groups, search.confidence, search.min_queries)

    np.testing.assert_array_equal(results["dropped_after"], expected.after)
    assert results["dropped_because"].tolist() == expected.because.tolist()
    assert results["difference"] == pytest.approx(expected.difference, nan_ok=True, abs=1e-9)
    assert results["p_adjusted"] == pytest.approx(expected.p, nan_ok=True, rel=1e-6, abs=1e-12)
    scores = np.full((len(params), len(splits)), np.nan)
    for fold, row in itertools.product(range(len(splits)), range(len(params))):
        if fold >= np.nan_to_num(expected.after[row], nan=len(splits)):
            continue
        has_failed = values[fold][row] is None
        scores[row, fold] = search.error_score if has_failed else expected.score(fold, row)
    for fold in range(len(splits)):
        found = results[f"split{fold}_test_{key}"]
        assert found == pytest.approx(scores[:, fold], nan_ok=True)
    means = scores.mean(axis=1)
    assert results[f"mean_test_{key}"] == pytest.approx(means, nan_ok=True)
    if search.refit:
        assert means[search.best_index_] == pytest.approx(np.nanmax(means))
        assert search.best_params_ == params[search.best_index_]
    assert search.n_fits_ == np.nan_to_num(expected.after, nan=len(splits)).sum()
    assert hasattr(search, "best_estimator_") == bool(search.refit)
    # A score for a fold that failed makes a candidate whole, which has no values.
    if not np.isfinite(means[np.isfinite(expected.after)]).any():
        check_report_of_race(search, expected, problem)


def fails(params, split):
    n_train = len(split[0])
    most_rows = params.get("most_rows", np.inf)
    return params["column"] < 0 or n_train > most_rows


def check_report_of_race(search, expected, problem):
    """What a race kept: values per query by id, weights, groups and folds."""
    report = search_report(search, metric=None if search.refit else "m")
    assert set(report.names) == {f"#{row + 1}" for row in expected.remaining}
    reasons = {}
    for row, why in enumerate(expected.because):
        if why == "failed":
            reasons[f"#{row + 1}"] = why
        elif why:
            reasons[f"#{row + 1}"] = f"dropped after fold {expected.after[row]:.0f}"
    assert report.not_compared == reasons
    queries = problem.number_of(report)
    assert report.folds.tolist() == problem.fold[queries].tolist()
    after = np.nan_to_num(expected.after, nan=np.inf)
    last = [after[int(name[1:]) - 1] for name in report.params]
    assert last == sorted(last, reverse=True), "those that ran longest come first"
    for row in expected.remaining:
        own = report.reports[f"#{row + 1}"]
        found = next(iter(own.per_query.values()))
        n_undefined = sum((~of_fold[row]).sum() for of_fold in expected.defined)
        assert list(own.n_undefined.values()) == [n_undefined]
        for fold in range(expected.n_folds):
            inside = report.folds == fold
            of_fold = sorted_pairs(found[inside], weights_of(own)[inside])
            plain = sorted_pairs(expected.values[fold][row], expected.weights[fold])
            np.testing.assert_allclose(of_fold, plain)
        if problem.users is None:
            assert own.groups is None
            continue
        users = problem.users[queries].tolist()
        n_users = len(set(users))
        if n_users < len(users):
            groups = own.groups.tolist()
            assert len(set(groups)) == n_users
            assert len(set(zip(groups, users, strict=True))) == n_users


def sorted_pairs(values, weights):
    """Values of queries with their weights, whatever the order of the queries."""
    numbers = np.nan_to_num(values.round(9), nan=-9.0)
    return sorted(zip(numbers, weights, strict=True))


def weights_of(report):
    return np.ones(report.n_queries) if report.weights is None else report.weights
