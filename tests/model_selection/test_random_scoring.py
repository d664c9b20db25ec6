"""Scorers in pipelines: which columns each requests, carries or gets under another name, against loops over folds."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from support.problems import CHEAPEST, Learned, Problem

from skrank_metrics import (
    QueryRanker,
    evaluate,
    get_metric,
    make_ranking_scorer,
    ranking_scorers,
    with_qid,
)
from skrank_metrics.model_selection import RacingSearchCV

METRICS = ["ndcg@3", "judged@2", "precision(average=micro)@2", "mrr(average=median)", "bpref"]
PLAIN = ("retrieved", "judged", "sample_weight")


def chance(random, share=0.5):
    return bool(random.random() < share)


class Requests:
    """For each scorer and the fit, the columns that it gets; and the names under which all columns are passed."""

    def __init__(self, random, columns, names):
        self.columns = columns
        # What the labels carry reaches all scorers.
        self.carried = {name: columns[name] for name in columns if chance(random, 0.3)}
        self.passed = {name: columns[name] for name in columns if chance(random, 0.7)}
        self.aliases = {name: f"my_{name}" for name in self.passed if chance(random, 0.3)}
        self.of_scorers = {}
        for name in names:
            asked = [column for column in self.passed if chance(random)]
            if name == CHEAPEST.__name__ and "documents" in self.passed:
                asked.append("documents")
            self.of_scorers[name] = set(asked)
        self.of_fit = "sample_weight" in self.passed and chance(random)

    def given(self, name):
        """The columns that reach a scorer."""
        asked = {column: self.columns[column] for column in self.of_scorers[name]}
        return self.carried | asked

    def scorers(self, metrics, **options):
        scorers = ranking_scorers(*metrics, **options)
        for name, scorer in scorers.items():
            requests = {"qid": True, "groups": True}
            for column in (*PLAIN, "documents"):
                is_asked = column in self.of_scorers[name]
                requests[column] = self.aliases.get(column, True) if is_asked else False
            scorer.set_score_request(**requests)
        return scorers

    def model(self, column):
        request = self.aliases.get("sample_weight", True) if self.of_fit else False
        ranker = QueryRanker(Learned(column)).set_fit_request(sample_weight=request)
        return make_pipeline(FunctionTransformer(), ranker)

    def params(self):
        return {self.aliases.get(name, name): column for name, column in self.passed.items()}


def rows_of(columns, rows):
    taken = {}
    for name, column in columns.items():
        if name == "documents":
            taken[name] = {key: np.asarray(column[key])[rows] for key in column}
        else:
            taken[name] = column[rows]
    return taken


def by_hand(problem, split, requests, metrics, column, convention, declines):
    """Values of the metrics on the test rows and on the training rows of a fold."""
    train, test = split
    weights = {}
    if requests.of_fit:
        weights["sample_weight"] = requests.columns["sample_weight"][train]
    fitted = Learned(column).fit(problem.X[train], problem.y[train], **weights)
    values = []
    for rows in (test, train):
        scores = fitted.predict(problem.X[rows])
        of_rows = {}
        for name, metric in metrics.items():
            given = rows_of(requests.given(name), rows)
            if declines:
                given["retrieved"] = given.get("retrieved", True) & (scores > -np.inf)
            report = evaluate(
                problem.y[rows],
                scores,
                qid=problem.qid[rows],
                metrics=metric,
                convention=convention,
                **given,
            )
            (of_rows[name],) = report.mean.values()
        values.append(of_rows)
    return values


def random_columns(random, problem):
    n = len(problem.y)
    weights = random.choice([0.5, 1.0, 4.0], problem.n_queries)
    return {
        "retrieved": random.random(n) < 0.8,
        "judged": random.random(n) < 0.7,
        "sample_weight": weights[problem.query],
        "documents": pd.DataFrame({"price": random.integers(0, 9, n) / 8}),
    }


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(9))
def test_each_scorer_gets_the_columns_that_it_requests(seed):
    random = np.random.default_rng([seed, 5])
    problem = Problem(random)
    columns = random_columns(random, problem)
    names = random.choice(METRICS, 3, replace=False).tolist()
    requests = Requests(random, columns, [*names, CHEAPEST.__name__])
    metrics = {name: name for name in names}
    if "documents" in requests.carried | requests.passed:
        metrics[CHEAPEST.__name__] = CHEAPEST
    convention = str(random.choice(["sklearn", "lightgbm"]))
    declines = chance(random, 0.3)
    splits = problem.splits(problem.fold)
    labels = with_qid(problem.y, problem.qid, **requests.carried)
    way = "qid" if chance(random) else "groups"
    params = {way: problem.qid, **requests.params()}
    kind = [cross_validate, GridSearchCV, RacingSearchCV][seed % 3]
    with sklearn.config_context(enable_metadata_routing=True):
        scorers = requests.scorers(
            metrics.values(), convention=convention, retrieved="scored" if declines else "all"
        )
        found = [{}, {}]
        options = {
            "scoring": scorers,
            "cv": splits,
            "return_train_score": True,
            "error_score": "raise",
        }
        if kind is cross_validate:
            one = [requests.model(column) for column in (0, 2)]
            found = [
                cross_validate(model, problem.X, labels, params=params, **options) for model in one
            ]
        else:
            grid = {"queryranker__estimator__column": [0, 2]}
            more = {"confidence": None} if kind is RacingSearchCV else {}
            search = kind(requests.model(1), grid, refit=False, **options, **more)
            results = search.fit(problem.X, labels, **params).cv_results_
    for number, column in enumerate((0, 2)):
        for fold, split in enumerate(splits):
            expected = by_hand(problem, split, requests, metrics, column, convention, declines)
            for part, values in zip(("test", "train"), expected, strict=True):
                for name, value in values.items():
                    if kind is cross_validate:
                        score = found[number][f"{part}_{name}"][fold]
                    else:
                        score = results[f"split{fold}_{part}_{name}"][number]
                    assert score == pytest.approx(value), (part, name, fold)


# Scorers by name


NAMES = ["ndcg@3", "map", "mrr@2"]
CONTAINERS = [
    list,
    tuple,
    set,
    lambda names: {name: name for name in names},
    lambda names: ranking_scorers(*names),
    lambda names: {name: make_ranking_scorer(name) for name in names},
]


GRID = {"column": [3, 0, 1]}


@pytest.fixture(scope="module")
def searched():
    """Rows, and the means over their folds by metric."""
    problem = Problem(np.random.default_rng(0))
    splits = problem.splits(problem.fold)
    scorers = ranking_scorers(*NAMES)
    search = GridSearchCV(Learned(), GRID, scoring=scorers, cv=splits, refit=False)
    results = search.fit(problem.X, problem.labels).cv_results_
    return problem, {name: results[f"mean_test_{name}"] for name in NAMES}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("refit", ["mrr@2", False])
def test_names_of_metrics_may_be_in_any_container(container, refit, searched):
    problem, expected = searched
    options = {"cv": problem.splits(problem.fold), "confidence": None, "refit": refit}
    scoring = container(NAMES)
    search = RacingSearchCV(Learned(), GRID, scoring=scoring, **options)
    search.fit(problem.X, problem.labels)
    assert search.scoring is scoring
    assert set(search.scorer_) == set(NAMES)
    for name in NAMES:
        np.testing.assert_array_equal(search.cv_results_[f"mean_test_{name}"], expected[name])
    if refit:
        assert search.best_index_ == np.argmax(expected[refit])


@pytest.mark.parametrize("place", range(3))
def test_every_scorer_of_a_dict_gives_one_number(place):
    metrics = [get_metric(name) for name in NAMES]
    metrics[place] = metrics[place].replace(average=None)
    with pytest.raises(ValueError, match="average must not be None where a single value is needed"):
        ranking_scorers(*metrics)
