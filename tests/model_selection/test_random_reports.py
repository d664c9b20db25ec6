"""Reports of random searches of every kind say what ``cv_results_`` do."""

import re

import numpy as np
import pytest
from scipy.stats import randint
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.experimental import enable_halving_search_cv  # noqa: F401  makes the halving search importable
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from support.problems import Learned, Problem
from support.shown import html_of, words

from skrank_metrics import compare, get_metric, ranking_scorers
from skrank_metrics.model_selection import RacingSearchCV, search_report, within_noise
from skrank_metrics.model_selection._search_report import SearchReport

FAILURES = ("ignore:\\s*[0-9]+ fits failed", "ignore:.*non-finite")
NAMES = ["ndcg@3", "map(ties=worst)", "neg_kendall_tau_distance"]


class Shift(TransformerMixin, BaseEstimator):
    """Adds to a column, times the size, which a halving search raises."""

    def __init__(self, column=0, size=1):
        self.column, self.size = column, size

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        moved = X.copy()
        moved[:, self.column] += 0.1 * self.size * X[:, 3]
        return moved


def chance(random, share=0.5):
    return bool(random.random() < share)


def random_grid(random, splits):
    sizes = [len(train) for train, _ in splits]
    possible = {
        "learned__column": [0, 2, 3],
        "shift__column": [1, 2],
        "learned__threshold": [-np.inf, -1e6, -1234567.25],
        "learned__most_rows": [np.inf, int(np.median(sizes))],
        "learned": [Learned(3), Learned(1)],
        "shift": ["passthrough", Shift(2, size=1 / 3)],
    }
    grids = []
    for names in (list(possible)[:4], [*list(possible)[4:], "learned__column"]):
        some = [name for name in names if chance(random)]
        if not grids and chance(random):
            some = ["learned__column", "learned__most_rows"]
        some = some or names[:1]
        grids.append({name: possible[name] for name in some})
    return grids[: 1 + chance(random)]


def fails_on_many_rows(params):
    return np.isfinite(params.get("learned__most_rows", np.inf))


def random_search(random, splits, kind):
    model = Pipeline([("shift", Shift()), ("learned", Learned(2))])
    grid = random_grid(random, splits)
    key = str(random.choice(NAMES))
    # What is fitted again must not fail.
    rule = within_noise(key, prefer=fails_on_many_rows, test_ratio=0.5)
    refit = [key, False, rule][random.integers(3)]
    options = {"scoring": ranking_scorers(*NAMES), "cv": splits, "refit": refit}
    if chance(random):
        # The best may have failed in a fold, so it is not fitted again.
        options |= {"error_score": 0.9, "refit": False}
    if kind is HalvingGridSearchCV:
        scoring = ranking_scorers(key)[key]
        options |= {"scoring": scoring, "resource": "shift__size", "error_score": np.nan}
        options["refit"] = True
        grid = {"learned__column": [0, 1, 2, 3], "shift__column": [0, 1]}
        return kind(model, grid, **options, max_resources=4, factor=2), "score"
    if kind is RandomizedSearchCV:
        drawn = {"learned__column": randint(0, 4), "shift__column": randint(0, 4)}
        return kind(model, drawn, **options, n_iter=5, random_state=0), key
    if kind is RacingSearchCV:
        confidence = [None, 0.3, 0.9][random.integers(3)]
        return kind(model, grid, **options, confidence=confidence, min_queries=4), key
    return kind(model, grid, **options), key


def spelled(value):
    """A value in a cell of at most 40 characters."""
    text = str(value)
    if isinstance(value, float) and float(f"{value:.6g}") == value:
        text = f"{value:.6g}"
    text = " ".join(text.split())
    return text if len(text) <= 40 else text[:37] + "..."


class Plain:
    """What a report says, from the results of a search by one metric, with loops."""

    def __init__(self, results, key, n_candidates):
        self.params = results["params"]
        names = sorted(
            name for name in results if re.fullmatch(rf"split\d+_test_{re.escape(key)}", name)
        )
        self.scores = np.column_stack([results[name] for name in names])
        rungs = results.get("iter", np.zeros(len(self.params)))
        last_rung = max(rungs)
        last = [row for row in range(len(self.params)) if rungs[row] == last_rung]
        self.whole = [row for row in last if not np.isnan(self.scores[row]).any()]
        n_scored = {row: np.isfinite(self.scores[row]).sum() for row in last}
        means = {
            row: np.mean(self.scores[row][np.isfinite(self.scores[row])])
            for row in last
            if n_scored[row]
        }
        self.means = {row: means.get(row, 0.0) for row in last}
        self.listed = sorted(last, key=lambda row: (-n_scored[row], -self.means[row], row))
        self.compared = [row for row in self.listed if row in self.whole][:n_candidates]
        self.reasons = {}
        for row in self.listed:
            if row in self.compared:
                continue
            why = f"not among the best {n_candidates}"
            if results.get("dropped_because", [""] * len(self.params))[row] == "behind":
                why = f"dropped after fold {int(results['dropped_after'][row])}"
            elif row not in self.whole:
                why = "failed"
            self.reasons[f"#{row + 1}"] = why
        self.naive = self.means[self.compared[0]]
        chosen = []
        for fold in range(self.scores.shape[1]):
            others = {row: np.delete(self.scores[row], fold).sum() for row in self.whole}
            best = max(others.values())
            chosen.append(
                {self.scores[row][fold] for row in self.whole if others[row] > best - 1e-9}
            )
        self.expected = (
            np.mean([min(own) for own in chosen]),
            np.mean([max(own) for own in chosen]),
        )

    def table(self, order):
        """Heads and rows of the parameters that vary."""
        names = list(dict.fromkeys(name for row in self.listed for name in self.params[row]))
        varying = []
        for name in names:
            texts = {repr(self.params[row].get(name, "")) for row in self.listed}
            if len(texts) > 1:
                varying.append(name)
        heads = [name.split("__")[-1] for name in varying]
        if len(set(heads)) < len(heads):
            heads = varying
        rows = []
        for name in order:
            own = self.params[int(name[1:]) - 1]
            rows.append([name, *(spelled(own.get(one, "")) for one in varying)])
        return [["", *heads], *rows] if varying else None


@pytest.mark.filterwarnings(*FAILURES)
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "kind", [GridSearchCV, RandomizedSearchCV, HalvingGridSearchCV, RacingSearchCV]
)
def test_a_report_says_what_the_results_of_the_search_do(kind, seed, tmp_path):
    random = np.random.default_rng([seed, len(kind.__name__)])
    problem = Problem(random, (20, 30), noise=1.0)
    problem.add_to_weights(0.5)
    splits = problem.splits(problem.fold)
    search, key = random_search(random, splits, kind)
    search.fit(problem.X, problem.labels)
    n_candidates = int(random.integers(2, 5))
    plain = Plain(search.cv_results_, key, n_candidates)
    asked = key
    if key != "score" and chance(random):
        asked = get_metric(key)
    given = {"metric": asked, "n_candidates": n_candidates, "verbose": 0}
    rows = [problem.X, problem.labels]
    # Other scores than those of values, which are nowhere.
    if (plain.scores[plain.compared] == 0.9).any():
        with pytest.raises(RuntimeError, match="too many rows"):
            search_report(search, *rows, **given)
        return
    if kind is RacingSearchCV and key == search._key_of_values and chance(random):
        rows = []
    report = search_report(search, *rows, **given)

    assert list(report.params) == [f"#{row + 1}" for row in plain.listed]
    assert list(report.params.values()) == [plain.params[row] for row in plain.listed]
    assert set(report.names) == {f"#{row + 1}" for row in plain.compared}
    assert report.not_compared == plain.reasons
    assert report.naive_score == pytest.approx(plain.naive)
    assert plain.expected[0] - 1e-9 <= report.expected_score <= plain.expected[1] + 1e-9
    assert report.changed == pytest.approx(0, abs=1e-12)
    for name in report.names:
        own = plain.scores[int(name[1:]) - 1]
        assert report.fold_means()[name] == pytest.approx(own)
    check_frame(report)
    check_shown(report, plain)
    baseline = report.names[-1] if len(report.names) > 1 else None
    other = compare(report, baseline=baseline, confidence=0.9)
    report.save(tmp_path / "report.json")
    loaded = SearchReport.load(tmp_path / "report.json")
    for again in (other, loaded):
        assert type(again) is SearchReport
        assert list(again.params) == list(report.params)
        assert again.not_compared == report.not_compared
        assert (again.naive_score, again.expected_score) == (
            report.naive_score,
            report.expected_score,
        )
        assert again.changed == report.changed
    assert str(loaded.details()) == str(report.details())


def check_frame(report):
    frame = report.to_frame()
    names = dict.fromkeys(name for row in report.names for name in report.params[row])
    n_before = len(frame.columns) - len(names)
    assert list(frame.columns[n_before:]) == list(names)
    for row in report.names:
        for name in names:
            expected = report.params[row].get(name)
            found = frame.loc[row, name]
            assert found is expected or found == expected or (expected is None and found != found)


def check_shown(report, plain):
    tables, _ = html_of(report)
    table = plain.table(report.names)
    assert (table in tables) == (table is not None)
    heads = [own[0] for own in tables[1:]]
    if table is None:
        assert ["", "column"] not in heads
    text = words(report.details())
    number_of_best = plain.listed[0] + 1
    best = f"not {plain.naive:.4f}: #{number_of_best} was chosen because it did well on these."
    n_whole = len(plain.whole)
    expected = f"{report.expected_score:.4f}"
    looks_better = n_whole > 1 and f"{report.naive_score:.4f}" != expected
    assert (best in words(report)) == looks_better
    assert ("Expect about" in words(report)) == looks_better
    counts = {}
    for reason in plain.reasons.values():
        counts[reason] = counts.get(reason, 0) + 1
    phrases = [f"{number} {reason}" for reason, number in counts.items()]
    said = ", ".join(phrases)
    assert (f"Not compared: {said}." in text) == bool(counts)
    assert ("Not compared" in text) == bool(counts)
    assert "Fitted again, fold scores differ" not in text
