"""What reaches ``fit`` in cross_evaluate, and which method predicts: wrappers, requests and parameters at random."""

import itertools
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.fixes import parse_version
from support.problems import Problem

from skrank_metrics import QueryRanker, cross_evaluate

NAMES = ("sample_weight", "price", "option", "pair")
# Since this version, scikit-learn scores models that are no classifiers by decision_function, too.
DECISIONS = parse_version("1.9")


def chance(random, share=0.5):
    return bool(random.random() < share)


class Recorder(BaseEstimator):
    """Keeps what each fit is given; each method predicts otherwise."""

    given: ClassVar[list] = []

    def fit(self, X, y, sample_weight=None, price=None, option=None, pair=None):
        given = {"sample_weight": sample_weight, "price": price, "option": option, "pair": pair}
        self.n_rows_ = len(X)
        of_index = list(getattr(getattr(y, "index", None), "names", []))
        call = {"X": np.asarray(X), "y": np.asarray(y), "index": of_index, **given}
        self.given.append(call)
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0] + self.n_rows_

    def decision_function(self, X):
        return 2 * self.predict(X)

    def transform_scores(self, X):
        return 3 * self.predict(X)


class Classifies(ClassifierMixin, Recorder):
    """Has probabilities, too."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return super().fit(X, y)

    def predict_proba(self, X):
        positive = 1 / (1 + np.abs(self.predict(X)))
        return np.column_stack([1 - positive, positive])


class Case:
    """A model, the requests of its parameters, and what is passed."""

    def __init__(self, random, problem):
        n = len(problem.y)
        self.columns = {
            "sample_weight": random.random(n),
            "price": random.random(n).tolist() if chance(random) else random.random(n),
            "option": [None, "fast", 3][random.integers(3)],
            "pair": (1, 2),
        }
        if chance(random):
            self.columns["sample_weight"] = pd.Series(self.columns["sample_weight"])
        self.wrapper = str(random.choice(["bare", "ranker", "pipeline", "both"]))
        self.is_ranker = self.wrapper in ("ranker", "both")
        self.requests = {}
        for name in NAMES:
            kinds = [None, True, True, True, False, f"my_{name}"]
            self.requests[name] = kinds[random.integers(len(kinds))]
        self.passed = {}
        for name in NAMES:
            if chance(random, 0.4):
                alias = self.requests[name]
                use_alias = isinstance(alias, str) and chance(random, 0.8)
                self.passed[alias if use_alias else name] = self.columns[name]
        self.model = self.make()

    def make(self):
        with sklearn.config_context(enable_metadata_routing=True):
            if not self.is_ranker:
                model = Recorder().set_fit_request(**self.requests)
            else:
                inner = dict(self.requests)
                weights = inner.pop("sample_weight")
                model = QueryRanker(Recorder().set_fit_request(**inner))
                model.set_fit_request(sample_weight=weights)
        if self.wrapper in ("pipeline", "both"):
            return Pipeline([("nothing", "passthrough"), ("last", model)])
        return model

    def requested(self, name):
        """The name by which the model requests a parameter; None if it does not say."""
        request = self.requests[name]
        # A ranker requests all that its estimator takes but weights.
        if request is None and self.is_ranker and name != "sample_weight":
            request = True
        return name if request is True else request

    def routed(self):
        """What fit gets if the model requests it; None if it must be passed as it is."""
        by_name = {self.requested(name): name for name in NAMES}
        arrives = {}
        for name, value in self.not_refused().items():
            if name in by_name:
                arrives[by_name[name]] = value
            # What is None is not passed.
            elif value is not None or name not in NAMES:
                return None
        return arrives

    def not_refused(self):
        refused = [name for name in NAMES if self.requests[name] is False]
        return {name: value for name, value in self.passed.items() if name not in refused}

    def expected(self):
        """What fit gets; None if it is an error."""
        is_pipeline = self.wrapper in ("pipeline", "both")
        if is_pipeline and len(self.not_refused()) < len(self.passed):
            return None, False
        routed = self.routed()
        if routed is not None:
            return routed, True
        is_known = all(name in NAMES for name in self.passed)
        # Pipelines take parameters after the names of their steps.
        return (None, False) if is_pipeline or not is_known else (self.not_refused(), False)


@pytest.mark.parametrize("seed", range(40))
def test_parameters_are_passed_as_they_are_requested(seed):
    random = np.random.default_rng([seed, 9])
    problem = Problem(random)
    case = Case(random, problem)
    ids = {}
    labels = problem.labels
    if chance(random):
        labels = problem.y
        ids = {"qid" if chance(random) else "groups": problem.qid}
    X = pd.DataFrame(problem.X) if chance(random) else problem.X
    splits = problem.splits(problem.fold)
    method = [None, "predict", "decision_function", ["nothing", "decision_function", "predict"]]
    method = method[random.integers(4)]
    options = {} if method is None else {"response_method": method}
    predicts = "predict" if case.is_ranker or method == "predict" else "decision_function"
    if method != "predict" and parse_version(sklearn.__version__) < DECISIONS:
        pytest.skip("scikit-learn scores all but classifiers by predict")
    options |= {"cv": splits, "params": case.passed, "metrics": "map", "verbose": 0}
    Recorder.given.clear()
    expected, is_routed = case.expected()
    if expected is None or (case.is_ranker and method == "decision_function"):
        with pytest.raises((TypeError, ValueError, AttributeError)):
            cross_evaluate({"model": case.model}, X, labels, **ids, **options)
        return
    with sklearn.config_context(enable_metadata_routing=True):
        other = Recorder().set_fit_request(**dict.fromkeys(NAMES, False))
    models = {"model": case.model}
    # What another model does not know is passed as it is.
    if set(case.passed) <= set(NAMES):
        models["other"] = other
    found = cross_evaluate(models, X, labels, **ids, **options)
    n_splits = len(splits)
    of_model = Recorder.given[:n_splits]
    of_other = Recorder.given[n_splits:]
    assert len(of_other) == len(splits) * (len(models) - 1)
    for given, name in itertools.product(of_other, NAMES):
        assert given[name] is None
    for (train, test), given in zip(splits, of_model, strict=True):
        np.testing.assert_array_equal(given["X"], problem.X[train])
        np.testing.assert_array_equal(given["y"], problem.y[train])
        if not is_routed and not case.is_ranker:
            assert "qid" in given["index"]
        for name in NAMES:
            value = expected.get(name)
            if name in expected and name in ("sample_weight", "price"):
                np.testing.assert_array_equal(given[name], np.asarray(value)[train])
            else:
                assert given[name] is value
        scores = problem.X[test, 0] + len(train)
        times = 1 if predicts == "predict" else 2
        np.testing.assert_allclose(found.scores["model"][test], times * scores)


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (("decision_function", "predict_proba", "predict"), "decision_function"),
        (("predict_proba", "decision_function"), "predict_proba"),
        ("transform_scores", "error"),
        (["nothing", "predict"], "predict"),
    ],
)
def test_the_first_method_that_a_classifier_has_predicts(method, expected):
    problem = Problem(np.random.default_rng(10))
    splits = problem.splits(problem.fold)
    labels = (problem.y > 0).astype(int)
    options = {"cv": splits, "metrics": "map", "response_method": method, "verbose": 0}
    if expected == "error":
        with pytest.raises((AttributeError, ValueError)):
            cross_evaluate(Classifies(), problem.X, labels, qid=problem.qid, **options)
        return
    found = cross_evaluate(Classifies(), problem.X, labels, qid=problem.qid, **options)
    for train, test in splits:
        fitted = Classifies().fit(problem.X[train], labels[train])
        scores = getattr(fitted, expected)(problem.X[test])
        if expected == "predict_proba":
            scores = scores[:, 1]
        np.testing.assert_allclose(found.scores["Classifies"][test], scores)
