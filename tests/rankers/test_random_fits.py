"""What QueryRanker passes to ``fit`` of the boosters: options crossed at random, against loops over queries."""

import re
from types import SimpleNamespace

import catboost
import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostRanker
from lightgbm import LGBMRanker
from sklearn.linear_model import Ridge
from xgboost import XGBRanker

from skrank_metrics import QueryRanker, with_qid
from skrank_metrics.rankers.booster_metrics import LightGBMMetric

BEST = 7


class Recording:
    """Is not fitted, but keeps what it is given."""

    def fit(self, X, y, **given):
        self.given_ = {"X": X, "y": y, **given}
        return self


class RecordingLGBMRanker(Recording, LGBMRanker):
    booster_ = SimpleNamespace(current_iteration=lambda: BEST)


class RecordingXGBRanker(Recording, XGBRanker):
    best_iteration = BEST - 1


class RecordingCatBoostRanker(Recording, CatBoostRanker):
    tree_count_ = BEST


class RecordingRidge(Recording, Ridge):
    def fit(self, X, y, sample_weight=None):
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        return super().fit(X, y, **given)


KINDS = [RecordingLGBMRanker, RecordingXGBRanker, RecordingCatBoostRanker, RecordingRidge]
# Scores to start from, in the fit and in validation sets.
STARTS = {
    "RecordingLGBMRanker": ("init_score", "eval_init_score"),
    "RecordingXGBRanker": ("base_margin", "base_margin_eval_set"),
    "RecordingCatBoostRanker": ("baseline", "baseline"),
}
# Names under which an estimator may hold a number of rounds without improvement, and a metric.
PATIENCE = {
    "RecordingLGBMRanker": ["early_stopping_round", "early_stopping_rounds"],
    "RecordingXGBRanker": ["early_stopping_rounds"],
    "RecordingCatBoostRanker": ["early_stopping_rounds", "od_wait"],
}
METRICS = {
    "RecordingLGBMRanker": {"metric": "map", "metrics": "map", "metric_types": "map"},
    "RecordingXGBRanker": {"eval_metric": "map@3"},
    "RecordingCatBoostRanker": {"eval_metric": "MAP:top=3"},
}
# What is passed on as it is.
PASSED = {
    "RecordingLGBMRanker": {"callbacks": [print], "eval_metric": "auc", "eval_at": [3]},
    "RecordingXGBRanker": {"verbose": True},
    "RecordingCatBoostRanker": {"cat_features": ["word"], "verbose": 3},
}


def chance(random, share=0.5):
    return bool(random.random() < share)


class Part:
    """Rows in random order, with a number of its own in the first column of each, and what belongs to them."""

    def __init__(self, random, prefix, *, first_row=0, varies=False):
        sizes = random.integers(1, 5, random.integers(4, 9))
        query = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
        self.n = len(query)
        kind = random.integers(3)
        names = random.permutation(100)[: len(sizes)]
        self.ids = [f"{prefix} {name}" for name in names] if kind else names.tolist()
        if kind == 2:
            self.ids = [(prefix, name) for name in names.tolist()]
        self.query = query
        numbers = first_row + np.arange(self.n)
        feature = random.integers(0, 3, self.n)
        self.X = np.column_stack([numbers, feature])
        self.y = random.integers(0, 4, self.n)
        weights = random.choice([0.5, 1.0, 4.0], len(sizes))[query]
        self.weights = weights + 0.25 * (np.arange(self.n) % 3 == 0) if varies else weights
        self.start = random.normal(size=self.n)
        # Labels of the rows.
        self.index = random.permutation(self.n) + 100 if chance(random) else None
        self.is_reordered = self.index is not None and chance(random, 0.1)

    @property
    def qid(self):
        return pd.Series([self.ids[number] for number in self.query]).to_numpy()

    def in_order(self):
        """Rows of each query, queries in order of first appearance."""
        queries = list(dict.fromkeys(self.query.tolist()))
        return [np.flatnonzero(self.query == query).tolist() for query in queries]

    def frame(self):
        return pd.DataFrame(self.X, columns=["row", "word"], index=self.index)

    def labels(self):
        if self.index is None:
            return self.y
        return pd.Series(self.y, index=self.index[::-1] if self.is_reordered else self.index)


class Case:
    """An estimator, options of the ranker, rows, and arguments of a fit; and what is wrong with them."""

    def __init__(self, random, kind):
        self.name = kind.__name__
        self.is_booster = self.name in STARTS
        self.wrong = []
        is_odd = chance(random, 0.15)  # sets that something else excludes
        varies = self.name == "RecordingLGBMRanker" or chance(random, 0.15)
        self.train = Part(random, "train", varies=varies)
        self.given = {}
        self.weighted = chance(random)
        if self.weighted:
            self.given["sample_weight"] = self.train.weights
            self.check_weights(self.train)
        self.of_model = {}
        self.options = {}
        self.parts = []
        self.way = str(random.choice(["none", "own", "own", "held out", "held out"]))
        if self.is_booster:
            self.draw_validation(random, is_odd)
            self.draw_start(random)
            self.draw_metric(random)
        else:
            self.rounds = None
        self.draw_passed_on(random)
        self.model = kind(**self.of_model)
        if any(part.is_reordered for part in (self.train, *self.parts)):
            self.wrong.append("must have the same index as X")

    def check_weights(self, part):
        """Weights that vary in a query are for boosters that weight rows."""
        if self.name not in ("RecordingXGBRanker", "RecordingCatBoostRanker"):
            return
        if any(np.ptp(part.weights[rows]) > 0 for rows in part.in_order()):
            self.wrong.append("sample_weight must be constant within a query")

    def draw_validation(self, random, is_odd):
        self.rounds = None
        if self.way != "none" and chance(random):
            self.rounds = int(random.integers(1, 9))
        if self.way == "held out":
            self.rounds = self.rounds or 5
            self.options["validation_fraction"] = float(random.choice([0.2, 0.4]))
        if self.way == "own":
            n_sets = 1 if self.rounds and not is_odd else int(random.integers(1, 3))
            for number in range(n_sets):
                self.add_set(random, number)
            if self.rounds and n_sets == 2:
                self.wrong.append("and 2 sets")
        if is_odd and self.way == "none":
            self.rounds = 3
            self.wrong.append("got validation_fraction=None and 0 sets")
        if is_odd and self.way == "held out" and chance(random):
            self.add_set(random, 0)
            self.wrong.append(r"got validation_fraction=0\.. and 1 sets")
        self.options["early_stopping_rounds"] = self.rounds
        if self.rounds is not None and chance(random, 0.3):
            more = int(chance(random, 0.3))
            name = str(random.choice(PATIENCE[self.name]))
            self.of_model[name] = self.rounds + more
            if more:
                self.wrong.append(f"early_stopping_rounds must not contradict {name}")

    def add_set(self, random, number):
        of_set = Part(random, f"set {number}", first_row=1000 * (number + 1))
        of_set.ids = [f"{one} of set {number}" for one in of_set.ids]
        of_set.weighted = chance(random)
        self.parts.append(of_set)

    def draw_start(self, random):
        self.has_start = chance(random, 0.1 if self.parts else 0.5)
        if self.has_start:
            self.given[STARTS[self.name][0]] = self.train.start
            if self.parts:
                self.wrong.append("must be None if fit gets validation sets")

    def draw_metric(self, random):
        self.metric = {}
        if chance(random):
            names = METRICS[self.name]
            name = str(random.choice(list(names)))
            self.metric = {name: names[name]}
            self.of_model |= self.metric

    def draw_passed_on(self, random):
        possible = PASSED.get(self.name, {})
        self.passed = {name: value for name, value in possible.items() if chance(random)}
        if self.name == "RecordingXGBRanker" and chance(random):
            # As many as there are rows, but of the features.
            self.passed["feature_weights"] = np.ones(self.train.n)
        self.given |= self.passed
        if self.name == "RecordingCatBoostRanker":
            if chance(random):
                self.of_model["text_features"] = ["text"]
            self.subgroups = chance(random)
            if self.subgroups:
                self.given["subgroup_id"] = np.arange(self.train.n) % 3

    def labels_of(self, part):
        weights = part.weights if part.weighted else None
        return with_qid(part.labels(), part.qid, sample_weight=weights)


# What fit gets


def assert_given(found, expected):
    """Compare the arguments of a fit, arrays by values."""
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if isinstance(value, list | tuple):
            assert type(found[name]) is type(value), name
            assert len(found[name]) == len(value), name
            for one, other in zip(found[name], value, strict=True):
                assert_given({name: one}, {name: other})
        elif isinstance(value, SimpleNamespace):
            assert_given(vars(found[name]), vars(value))
        elif value is None or callable(value):
            assert found[name] is value, name
        else:
            np.testing.assert_array_equal(np.asarray(found[name]), np.asarray(value), err_msg=name)


def numbers(queries):
    """The number of the query of each row."""
    return np.array([number for number, rows in enumerate(queries) for _ in rows])


def sizes(queries):
    return np.array([len(rows) for rows in queries])


def flat(queries):
    return [row for rows in queries for row in rows]


def of_queries(weights, queries):
    return np.array([np.mean(weights[rows]) for rows in queries])


def of_rows(weights, queries):
    """The mean weight of a query, for each of its rows."""
    return np.array([np.mean(weights[rows]) for rows in queries for _ in rows])


def expected_fit(case, queries):
    """Arguments of the booster for the rows of these queries."""
    rows = flat(queries)
    train = case.train
    given = {"X": train.X[rows], "y": train.y[rows]}
    if case.name == "RecordingLGBMRanker":
        given["group"] = sizes(queries)
    if case.name == "RecordingXGBRanker":
        given["qid"] = numbers(queries)
    if case.name == "RecordingCatBoostRanker":
        given["group_id"] = numbers(queries)
        if case.subgroups:
            given["subgroup_id"] = (np.arange(train.n) % 3)[rows]
    if case.weighted:
        weights = train.weights[rows]
        if case.name == "RecordingCatBoostRanker":
            given["group_weight"] = weights
        elif case.name == "RecordingXGBRanker":
            given["sample_weight"] = of_queries(train.weights, queries)
        else:
            given["sample_weight"] = weights
    if case.is_booster and case.has_start:
        given[STARTS[case.name][0]] = train.start[rows]
    return given


def expected_sets(case, sets):
    """Further arguments for validation on these sets: pairs of a part and the rows of its queries."""
    if not sets:
        return {}
    start = case.has_start and case.way == "held out"
    X = [part.X[flat(queries)] for part, queries in sets]
    y = [part.y[flat(queries)] for part, queries in sets]
    starts = [part.start[flat(queries)] if start else None for part, queries in sets]
    pairs = list(zip(X, y, strict=True))
    if case.name == "RecordingXGBRanker":
        weights = [
            of_queries(part.weights, queries) if part.weighted else None for part, queries in sets
        ]
        quiet = {"verbose": False} if case.rounds else {}
        return quiet | {
            "eval_set": pairs,
            "eval_qid": [numbers(queries) for _, queries in sets],
            "sample_weight_eval_set": weights,
            "base_margin_eval_set": starts,
        }
    weights = [part.weights[flat(queries)] if part.weighted else None for part, queries in sets]
    if case.name == "RecordingCatBoostRanker":
        columns = {
            "cat_features": case.passed.get("cat_features"),
            "text_features": case.of_model.get("text_features"),
            "embedding_features": None,
        }
        pools = []
        for number, (part, queries) in enumerate(sets):
            of_set = {"group_id": numbers(queries), "group_weight": weights[number]}
            if start:
                of_set["baseline"] = starts[number]
            if case.subgroups and case.way == "held out":
                of_set["subgroup_id"] = (np.arange(part.n) % 3)[flat(queries)]
            pools.append(SimpleNamespace(data=pairs[number], **of_set, **columns))
        given = {"eval_set": pools}
        if case.rounds:
            given["early_stopping_rounds"] = case.rounds
        return given
    weights = [of_rows(part.weights, own) if part.weighted else None for part, own in sets]
    given = {
        "eval_group": [sizes(queries) for _, queries in sets],
        "eval_sample_weight": weights,
        "eval_init_score": starts,
    }
    if "eval_X" in LGBMRanker.fit.__annotations__:
        return given | {"eval_X": tuple(X), "eval_y": tuple(y)}
    return given | {"eval_set": pairs}


def check_model(case, ranker, given):
    """The metric that is watched, and what stops early."""
    model = ranker.estimator_
    params = model.get_params()
    names = {"RecordingLGBMRanker": "metric"}
    of_package = {
        "RecordingLGBMRanker": "None",
        "RecordingXGBRanker": "ndcg@10",
        "RecordingCatBoostRanker": "NDCG:top=10;type=Base",
    }
    name = names.get(case.name, "eval_metric")
    if case.metric:
        assert {**params, **case.metric} == params
    elif case.rounds is None:
        assert params.get(name) is None
    else:
        assert params[name] == of_package[case.name]
    if case.name == "RecordingXGBRanker":
        assert params["early_stopping_rounds"] == case.rounds
    if case.name != "RecordingLGBMRanker" or case.rounds is None:
        return
    assert params["early_stopping_round"] == case.rounds
    if not case.metric and "eval_metric" not in case.passed:
        watched = given.pop("eval_metric")
        assert isinstance(watched, LightGBMMetric)
        assert watched.__name__ == "ndcg@10"


def recorded_pool(data, label, **given):
    return SimpleNamespace(data=(data, label), **given)


def held_out(case, given):
    """The queries that were held out, known by their rows, and the others; whole ones, as many as asked for."""
    if "eval_X" in given:
        X = given["eval_X"][0]
    else:
        sets = given["eval_set"]
        X = sets[0].data[0] if isinstance(sets[0], SimpleNamespace) else sets[0][0]
    rows = set(np.asarray(X)[:, 0].tolist())
    queries = case.train.in_order()
    inside = [own for own in queries if rows & set(own)]
    assert set(flat(inside)) == rows
    assert len(inside) == round(case.options["validation_fraction"] * len(queries))
    return inside, [own for own in queries if own not in inside]


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_arguments_of_fit_are_those_of_loops(kind, seed, monkeypatch):
    monkeypatch.setattr(catboost, "Pool", recorded_pool)
    random = np.random.default_rng([seed, KINDS.index(kind)])
    case = Case(random, kind)
    ranker = QueryRanker(case.model, **case.options, random_state=0)
    before = str(case.model.get_params())
    train = case.train
    given = dict(case.given)
    ids = str(random.choice(["qid", "groups", "index of y"]))
    labels = train.labels()
    if ids == "index of y":
        labels = with_qid(labels, train.qid)
    if ids != "index of y":
        given[ids] = train.qid
    sets = [(part.frame(), case.labels_of(part)) for part in case.parts]
    if len(sets) == 1 and chance(random):
        given["X_val"], given["y_val"] = sets[0]
    elif sets:
        given["eval_set"] = sets
    if case.wrong:
        with pytest.raises((TypeError, ValueError)) as raised:
            ranker.fit(train.frame(), labels, **given)
        assert re.search("|".join(case.wrong), str(raised.value))
        return
    ranker.fit(train.frame(), labels, **given)
    assert str(case.model.get_params()) == before
    found = dict(ranker.estimator_.given_)
    queries = train.in_order()
    assert ranker.n_queries_ == len(queries)
    assert list(ranker.feature_names_in_) == ["row", "word"]
    assert getattr(ranker, "best_iteration_", None) == (BEST if case.rounds else None)
    if not case.is_booster:
        queries = [[row] for row in range(train.n)]
    of_sets = [(part, part.in_order()) for part in case.parts]
    if case.way == "held out" and case.is_booster:
        validation, queries = held_out(case, found)
        train.weighted = case.weighted
        of_sets = [(train, validation)]
    if case.is_booster:
        check_model(case, ranker, found)
    expected = expected_fit(case, queries)
    expected |= expected_sets(case, of_sets)
    expected |= case.passed
    assert_given(found, expected)
