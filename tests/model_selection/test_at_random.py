"""Random folds, queries, masks, weights and groups: cross-validation, searches and races against plain loops."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import GridSearchCV, cross_validate
from support.shown import words

from skrank_metrics import (
    RacingSearchCV,
    RankingReport,
    compare,
    cross_evaluate,
    evaluate,
    get_metric,
    get_metrics,
    kendall_tau_distance,
    make_metric,
    make_ranking_scorer,
    ranking_scorers,
    search_report,
    with_qid,
    within_noise,
)

METRICS = [
    "ndcg@3",
    "map(ties=worst)",
    "mrr(replace_undefined_by=0.25)@2",
    "neg_kendall_tau_distance",
    "judged@2",
    "recall@2",
    "rbp(gain=exp2, p=0.5)",
]
CHEAPEST = make_metric(
    lambda labels, price, unranked=(): float((labels[:1] * price[:1]).sum()) + 0.01 * len(labels),
    name="cheapest",
    documents=["price"],
)


class Learned(RegressorMixin, BaseEstimator):
    """Ranks by a column and by what it saw in training; declines low scores, and fails with the column -1."""

    def __init__(self, column=0, threshold=-np.inf):
        self.column, self.threshold = column, threshold

    def fit(self, X, y, sample_weight=None):
        if self.column < 0:
            raise RuntimeError("no such column")
        given = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        self.direction_ = (np.asarray(y) * given) @ np.asarray(X) / len(y)
        return self

    def predict(self, X):
        scores = X[:, self.column] + np.round(X @ self.direction_ / 2, 1)
        return np.where(scores < self.threshold, -np.inf, scores)


class Problem:
    """Rows in random order, of queries of unequal lengths, with whatever may belong to them, and ragged folds."""

    def __init__(self, random, n_queries=(10, 25), noise=(0.3, 0.5, 1.0, 3.0), *, is_defined=False):
        self.n_queries = int(random.integers(*n_queries))
        sizes = random.integers(1, 7, self.n_queries) + is_defined
        self.query = random.permutation(np.repeat(np.arange(self.n_queries), sizes))
        names = random.permutation(100)[: self.n_queries]
        self.ids = [names, np.array([f"query {name}" for name in names])][random.integers(2)]
        self.qid = self.ids[self.query]
        n = len(self.query)
        barren = random.random(self.n_queries) < 0.15
        self.y = np.where(barren[self.query], 0, random.integers(0, 3, n))
        self.X = np.round(self.y[:, None] + random.normal(size=(n, 4)) * noise, 1)
        users = random.integers(0, self.n_queries // 2, self.n_queries)
        self.users = users if random.random() < 0.5 else None
        units = np.arange(self.n_queries) if self.users is None else users
        self.fold = self.ragged_folds(random, units)
        weights = random.choice([0.0, 0.5, 1.0, 4.0], self.n_queries)
        weights[:: self.n_queries // 2] += 1
        carried = {
            "retrieved": random.random(n) < 0.85,
            "judged": random.random(n) < 0.85,
            "sample_weight": weights[self.query],
            "documents": {"price": random.integers(0, 9, n) / 8},
        }
        self.carried = {name: column for name, column in carried.items() if random.random() < 0.5}
        self.slices = random.choice(["x", "y"], self.n_queries)[self.query]
        self.labels = with_qid(self.y, self.qid, **self.carried)

    def ragged_folds(self, random, units):
        """The fold of each query, the same in a unit; small and large ones."""
        n_folds = int(random.integers(2, 5))
        of_unit = random.choice(n_folds, units.max() + 1, p=random.dirichlet(np.full(n_folds, 4)))
        # None is empty.
        of_unit[np.unique(units)[:n_folds]] = np.arange(len(np.unique(units)[:n_folds]))
        return of_unit[units]

    @property
    def groups(self):
        return None if self.users is None else self.users[self.query]

    def splits(self, fold):
        """Rows to fit on and to test, for each fold; -1 is never tested."""
        of_row = fold[self.query]
        numbers = range(fold.max() + 1)
        # In any order, as splitters may give them.
        mixed = np.random.default_rng(0).permutation
        return [
            (mixed(np.flatnonzero(of_row != f)), mixed(np.flatnonzero(of_row == f)))
            for f in numbers
        ]

    def evaluated(self, scores, rows, options, *, declines=False):
        """The report of some rows."""
        given = dict(self.carried)
        price = given.pop("documents", None)
        arrays = {name: column[rows] for name, column in given.items()}
        if price is not None:
            arrays["documents"] = {"price": price["price"][rows]}
        if declines:
            ranked = scores[rows] > -np.inf
            arrays["retrieved"] = ranked & arrays.get("retrieved", True)
        return evaluate(self.y[rows], scores[rows], qid=self.qid[rows], **arrays, **options)


def random_metrics(random, problem, n=3):
    names = random.choice(METRICS, n, replace=False).tolist()
    return [*names, CHEAPEST] if "documents" in problem.carried else names


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
        reports.append(problem.evaluated(scores[number], rows, {**options["of all"], **own}))
    report = reports[0] if len(reports) == 1 else mean_of_repetitions(reports)
    fold_of_id = dict(zip(problem.ids.tolist(), repetitions[0].tolist(), strict=True))
    folds = np.array([fold_of_id[one] for one in report.qid.tolist()])
    return scores.mean(axis=0), report.with_queries(folds=folds)


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
        repetitions[0] = np.where(problem.fold == 0, -1, problem.fold) - (problem.fold > 0)
    columns = {"by": problem.slices} if random.random() < 0.5 else {}
    if problem.users is not None:
        columns["groups"] = problem.groups
    of_fit = {"sample_weight": random.random(len(problem.y))} if random.random() < 0.5 else {}
    convention = str(random.choice(["sklearn", "lightgbm"]))
    metrics = random_metrics(random, problem)
    options = {"of all": {"metrics": metrics, "convention": convention}, "of rows": columns}
    models = {"a": Learned(0), "b": Learned(3), "c": Learned(2)}
    models = {name: models[name] for name in random.permutation(list("abc"))[: seed % 4 or 2]}
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
        almost(found.reports[name].to_frame().sort_index(), reports[name].to_frame().sort_index())
        assert found.reports[name].folds.tolist() == [
            reports[name].folds[reports[name].qid.tolist().index(one)] for one in found.qid.tolist()
        ]
    check_folds(found, reports)
    if len(models) == 1:
        return
    expected = compare(reports)
    assert found.verdict == expected.verdict
    almost(found.to_frame(), expected.to_frame())
    almost(found.to_frame(pairs=True), expected.to_frame(pairs=True))
    for value, part in expected.slices.items():
        almost(found.slices[value].to_frame(), part.to_frame())


def check_folds(found, reports):
    """Means over the queries of each fold, and what is printed of them."""
    shown = {}
    for name, metric in itertools.product(found.names, found.metrics):
        report = reports[name]
        weights = weights_of(report)
        means = []
        for fold in range(report.folds.max() + 1):
            inside = report.folds == fold
            # A fold without weight has no mean.
            values = report.per_query[metric][inside] if weights[inside].any() else [np.nan]
            means.append(np.average(values, weights=weights[inside] if len(values) > 1 else None))
        assert found.by_metric(metric).fold_means()[name] == pytest.approx(means, nan_ok=True)
        shown[name, metric] = (np.mean(means), np.std(means))
    text = words(found.details())
    for name in found.names:
        mean = shown[name, found.metrics[0]][0]
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


FAILURES = ("ignore:\\s*[0-9]+ fits failed", "ignore:.*non-finite", "ignore:In fold")


@pytest.mark.filterwarnings(*FAILURES)
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_scores_and_reports_of_searches_are_those_of_loops(seed):
    random = np.random.default_rng([seed, 2])
    problem = Problem(random, noise=2.0)
    if "sample_weight" in problem.carried:  # every fold has some
        problem.carried["sample_weight"] = problem.carried["sample_weight"] + 0.5
        problem.labels = with_qid(problem.y, problem.qid, **problem.carried)
    names = random_metrics(random, problem)
    declines = bool(random.random() < 0.4)
    convention = str(random.choice(["sklearn", "lightgbm"]))
    retrieved = "scored" if declines else "all"
    scorers = ranking_scorers(*names, convention=convention, retrieved=retrieved)
    splits = problem.splits(problem.fold)
    thresholds = [-np.inf, 0.0] if declines else [-np.inf]
    candidates = itertools.product([3, 0, 1, 2, -1][: random.integers(2, 6)], thresholds)
    grid = [{"column": [column], "threshold": [threshold]} for column, threshold in candidates]
    key = str(random.choice(list(scorers)))
    search = GridSearchCV(Learned(), grid, scoring=scorers, refit=key, cv=splits)
    search.fit(problem.X, problem.labels)
    results, params = search.cv_results_, search.cv_results_["params"]
    options = {"metrics": get_metrics(*names, convention=convention)}
    by_metric = {name: np.full((len(params), len(splits)), np.nan) for name in scorers}
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
    whole = [row for row in range(len(params)) if not np.isnan(means[row])]
    best_first = sorted(whole, key=lambda row: -round(means[row], 12))
    failed = [row for row in range(len(params)) if np.isnan(means[row])]
    assert report.params == {f"#{row + 1}": params[row] for row in range(len(params))}
    listed = [means[int(name[1:]) - 1] for name in report.params]
    assert listed == pytest.approx([means[row] for row in [*best_first, *failed]], nan_ok=True)
    compared = {f"#{row + 1}" for row in best_first[:n_candidates]}
    if len({round(means[row], 12) for row in whole}) == len(whole):
        assert set(report.names) == compared
        reasons = {
            f"#{row + 1}": f"not among the best {n_candidates}" for row in best_first[n_candidates:]
        }
        assert report.not_compared == reasons | {f"#{row + 1}": "failed" for row in failed}
    assert report.naive_score == pytest.approx(means[best_first[0]])
    lowest, highest = [], []
    for fold in range(scores.shape[1]):
        others = np.delete(scores[whole], fold, axis=1).sum(axis=1)
        # Several can be the best on the others.
        chosen = scores[whole][others > others.max() - 1e-9, fold]
        lowest.append(chosen.min())
        highest.append(chosen.max())
    assert np.mean(lowest) - 1e-9 <= report.expected_score <= np.mean(highest) + 1e-9
    assert report.changed == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_within_noise_is_a_loop_over_candidates(seed):
    random = np.random.default_rng([seed, 3])
    n, n_folds = int(random.integers(1, 8)), int(random.integers(2, 7))
    folds = random.normal(size=(n, 1)) / 8 + random.normal(size=(n, n_folds)) / 8
    folds = np.round(folds, 1)
    folds[1:][random.random(n - 1) < 0.2, 0] = np.nan
    params = [{"size": int(size)} for size in random.integers(0, 4, n)]
    results = {f"split{fold}_test_m": folds[:, fold] for fold in range(n_folds)}
    level, ratio = float(random.choice([0.05, 0.3])), float(random.choice([0.25, 1.0]))
    sign = random.choice([-1, 1])
    prefer = [None, "size", "-size"][sign]
    whole = [row for row in range(n) if not np.isnan(folds[row]).any()]
    best = max(whole, key=lambda row: round(folds[row].mean(), 12))
    kept = []
    for row in whole:
        lead = np.round(folds[best] - folds[row], 12)
        error = np.sqrt((1 / n_folds + ratio) * lead.var(ddof=1))
        p = stats.t.sf(lead.mean() / error, n_folds - 1) if error > 1e-9 else lead.mean() <= 0
        if p > level:
            kept.append(row)
    expected = min(kept, key=lambda row: (sign * params[row]["size"], -folds[row].mean().round(12)))
    rule = within_noise("m", prefer=prefer, test_ratio=ratio, level=level)
    assert rule({"params": params, **results}) == expected


# Races


class PlainRace:
    """A race once more, by definitions alone, with a loop over candidates, folds and groups."""

    def __init__(self, values, defined, weights, groups, confidence, min_queries):
        # By fold and candidate, arrays of queries; None for candidates that fail.
        self.values, self.defined, self.weights, self.groups = values, defined, weights, groups
        self.n_folds, self.n = len(values), len(values[0])
        self.sizes = [len(set(own.tolist())) for own in groups]
        self.level, self.min_queries = 1 - confidence, min_queries
        self.remaining = list(range(self.n))
        self.after = np.full(self.n, np.nan)
        self.because = np.full(self.n, "", dtype=object)
        self.difference, self.p = np.full(self.n, np.nan), np.full(self.n, np.nan)
        for run in range(1, self.n_folds + 1):
            self.run = run
            failed = [c for c in self.remaining if values[self.run - 1][c] is None]
            self.drop(failed, "failed")
            if self.run < self.n_folds and self.remaining:
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
        tested = {one for c in others for fold in range(self.run) for one in self.tested(fold, c)}
        for other in others:
            self.difference[other] = round(self.mean(self.leader) - self.mean(other), 12)
            self.p[other] = np.nan
            if len(tested) >= self.min_queries:
                self.p[other] = min(1, (self.n_folds - 1) * (self.n - 1) * self.p_value(other))
        self.drop([c for c in others if self.p[c] <= self.level + 1e-12], "behind")

    def lead(self, fold, other):
        return np.round(self.values[fold][self.leader] - self.values[fold][other], 12)

    def tested(self, fold, other):
        """Groups with a query that counts."""
        counted = ~np.isnan(self.lead(fold, other)) & (self.weights[fold] > 0)
        return set(self.groups[fold][counted & self.defined[fold][self.leader]].tolist())

    def observations(self, fold, values):
        """Means and masses of the groups."""
        counted = ~np.isnan(values) & (self.weights[fold] > 0)
        found = []
        for group in sorted(set(self.groups[fold][counted].tolist())):
            inside = counted & (self.groups[fold] == group)
            weights = self.weights[fold][inside]
            found.append((np.average(values[inside], weights=weights), weights.sum()))
        return np.array(found).reshape(-1, 2).T

    def p_value(self, other):
        n_run, n_to_come = self.run, self.n_folds - self.run
        squares, sizes = [], []
        for fold in range(n_run):
            leads, masses = self.observations(fold, self.lead(fold, other))
            if not len(leads):
                return np.nan
            n = masses.sum() ** 2 / (masses**2).sum()
            mean = np.average(leads, weights=masses)
            squares.append(n * np.average((leads - mean) ** 2, weights=masses))
            sizes.append(n)
        n_degrees = sum(sizes) - n_run
        if n_degrees < 1 - 1e-12:
            return np.nan
        share = sum(sizes) / sum(self.sizes[:n_run])
        left = (n_to_come / self.n_folds) ** 2
        seen = sum(1 / n for n in sizes) / n_run**2
        unseen = sum(1 / (n * share) for n in self.sizes[n_run:]) / n_to_come**2
        variance = left * (seen + unseen) * sum(squares) / n_degrees
        variance, n_degrees = self.with_fits(
            variance, n_degrees, left * (1 / n_run + 1 / n_to_come)
        )
        if variance == 0:
            return float(self.difference[other] <= 0)
        return stats.t.sf(self.difference[other] / np.sqrt(variance), n_degrees)

    def with_fits(self, variance, n_degrees, share):
        """What is added since fits vary from fold to fold."""
        n_folds, n_candidates = self.run, len(self.remaining)
        expected = np.mean([self.variance_of_mean(fold) for fold in range(n_folds)])
        if n_folds == 1 or n_candidates == 1 or np.isnan(expected):
            return variance * (1 + 3**2), n_degrees
        scores = np.array([[self.score(f, c) for c in self.remaining] for f in range(n_folds)])
        rest = scores - scores.mean(axis=0) - scores.mean(axis=1)[:, None] + scores.mean()
        n_of_folds = (n_folds - 1) * (n_candidates - 1)
        of_folds = 2 * share * (rest**2).sum() / n_of_folds
        of_fits = of_folds - 2 * share * expected
        if of_fits <= 0:
            return variance, n_degrees
        total = variance + of_fits
        return total, total**2 / (variance**2 / n_degrees + of_folds**2 / n_of_folds)

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
        n = masses.sum() ** 2 / (masses**2).sum()
        total = sum(
            np.average((row - np.average(row, weights=masses)) ** 2, weights=masses) for row in rest
        )
        return total / (n - 1) / (len(rest) - 1)


RACED = [
    "ndcg@3",
    "map(replace_undefined_by=nan)",
    "neg_kendall_tau_distance",
    "recall(ties=worst)@2",
    kendall_tau_distance,
]


@pytest.mark.filterwarnings(*FAILURES)
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_a_race_is_a_loop_over_folds(seed):
    random = np.random.default_rng([seed, 4])
    problem = Problem(random, (24, 50), is_defined=True)
    if "sample_weight" in problem.carried:
        problem.carried["sample_weight"] = problem.carried["sample_weight"] + (seed % 3) / 2
        problem.labels = with_qid(problem.y, problem.qid, **problem.carried)
    metric = get_metric(RACED[random.integers(len(RACED))])
    declines = bool(random.random() < 0.3)
    grid = [{"column": [3, 0, 1, 2]}, {"column": [0], "threshold": [0.5]}, {"column": [-1]}]
    grid = (
        grid[: int(random.integers(1, 4))]
        if declines
        else [grid[0], *grid[2 * (seed % 2) :: 2][:1]]
    )
    confidence, min_queries = float(random.choice([0.5, 0.8, 0.95])), int(random.integers(2, 20))
    splits = problem.splits(problem.fold)
    search = RacingSearchCV(
        Learned(),
        grid,
        scoring=make_ranking_scorer(metric, retrieved="scored" if declines else "all"),
        cv=splits,
        confidence=confidence,
        min_queries=min_queries,
    )
    given = {} if problem.users is None else {"groups": problem.groups}
    search.fit(problem.X, problem.labels, **given)
    results, params = search.cv_results_, search.cv_results_["params"]
    sign = 1 if metric.greater_is_better else -1
    values, defined, weights, groups = [], [], [], []
    for split in splits:
        reports = [
            None
            if own["column"] < 0
            else scored_by_hand(
                problem, Learned(**own), split, {"metrics": {"m": metric}}, declines=declines
            )
            for own in params
        ]
        first = reports[0]
        number = {one: place for place, one in enumerate(problem.ids.tolist())}
        queries = [number[one] for one in first.qid.tolist()]
        values.append([one and sign * one.per_query["m"] for one in reports])
        defined.append([one and ~np.isnan(one.results["m"].values) for one in reports])
        weights.append(np.ones(len(queries)) if first.weights is None else first.weights)
        groups.append(np.array(queries) if problem.users is None else problem.users[queries])
    expected = PlainRace(values, defined, weights, groups, confidence, min_queries)

    np.testing.assert_array_equal(results["dropped_after"], expected.after)
    assert results["dropped_because"].tolist() == expected.because.tolist()
    assert results["difference"] == pytest.approx(expected.difference, nan_ok=True, abs=1e-9)
    assert results["p_adjusted"] == pytest.approx(expected.p, nan_ok=True, rel=1e-6, abs=1e-12)
    for fold, row in itertools.product(range(len(splits)), range(len(params))):
        score = results[f"split{fold}_test_score"][row]
        ran = not fold >= np.nan_to_num(expected.after[row], nan=len(splits))
        if ran and values[fold][row] is not None:
            assert score == pytest.approx(expected.score(fold, row))
        else:
            assert np.isnan(score)
    means = [expected.mean(row) for row in expected.remaining]
    assert search.best_score_ == pytest.approx(max(means))
    assert search.n_fits_ == np.nan_to_num(expected.after, nan=len(splits)).sum()
    check_report_of_race(search, expected, problem)


def check_report_of_race(search, expected, problem):
    """What a race kept: values per query by id, weights, groups and folds."""
    report = search_report(search)
    assert set(report.names) == {f"#{row + 1}" for row in expected.remaining}
    kept = {
        f"#{row + 1}": (
            "failed"
            if expected.because[row] == "failed"
            else f"dropped after fold {expected.after[row]:.0f}"
        )
        for row in range(expected.n)
        if expected.because[row]
    }
    assert report.not_compared == kept
    number = {one: place for place, one in enumerate(problem.ids.tolist())}
    queries = [number[one] for one in report.qid.tolist()]
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
            by_group = sorted(zip(numbers(found[inside]), weights_of(own)[inside], strict=True))
            plain = sorted(
                zip(numbers(expected.values[fold][row]), expected.weights[fold], strict=True)
            )
            np.testing.assert_allclose(by_group, plain)
        if problem.users is None:
            assert own.groups is None
        elif len(set(problem.users.tolist())) < len(problem.users):
            assert len(set(own.groups.tolist())) == len(set(problem.users.tolist()))
            pairs = set(zip(own.groups.tolist(), problem.users[queries].tolist(), strict=True))
            assert len(pairs) == len(set(own.groups.tolist()))


def numbers(values):
    return np.nan_to_num(values.round(9), nan=-9.0)


def weights_of(report):
    return np.ones(report.n_queries) if report.weights is None else report.weights
