"""Random queries, folds, masks, weights and groups, and a model that plain loops can fit."""

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from skrank_metrics import evaluate, make_metric, with_qid

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
    """Ranks by a column and by what it saw in training; declines low scores.

    It fails with the column -1, and on more rows than it can hold.
    """

    def __init__(self, column=0, threshold=-np.inf, most_rows=np.inf):
        self.column = column
        self.threshold = threshold
        self.most_rows = most_rows

    def fit(self, X, y, sample_weight=None):
        if self.column < 0:
            raise RuntimeError("no such column")
        if len(y) > self.most_rows:
            raise RuntimeError("too many rows")
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
        numbers = np.arange(self.n_queries)
        sizes = random.integers(1, 7, self.n_queries) + is_defined
        in_order = np.repeat(numbers, sizes)
        self.query = random.permutation(in_order)
        self.ids = random.permutation(100)[: self.n_queries]
        if random.integers(2):
            self.ids = np.array([f"query {name}" for name in self.ids])
        self.qid = self.ids[self.query]
        n = len(self.query)
        is_barren = random.random(self.n_queries) < 0.15
        labels = random.integers(0, 3, n)
        self.y = np.where(is_barren[self.query], 0, labels)
        errors = random.normal(size=(n, 4)) * noise
        self.X = np.round(self.y[:, None] + errors, 1)
        users = random.integers(0, self.n_queries // 2, self.n_queries)
        self.users = users if random.random() < 0.5 else None
        units = numbers if self.users is None else users
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
        slices = random.choice(["x", "y"], self.n_queries)
        self.slices = slices[self.query]
        self.labels = with_qid(self.y, self.qid, **self.carried)

    def add_to_weights(self, more):
        if "sample_weight" in self.carried:
            self.carried["sample_weight"] = self.carried["sample_weight"] + more
            self.labels = with_qid(self.y, self.qid, **self.carried)

    def number_of(self, report):
        """The numbers of the queries of a report, in its order."""
        places = {one: place for place, one in enumerate(self.ids.tolist())}
        return [places[one] for one in report.qid.tolist()]

    def ragged_folds(self, random, units):
        """The fold of each query, the same in a unit; small and large ones."""
        n_folds = int(random.integers(2, 5))
        shares = random.dirichlet(np.full(n_folds, 4))
        of_unit = random.choice(n_folds, units.max() + 1, p=shares)
        # None is empty.
        firsts = np.unique(units)[:n_folds]
        of_unit[firsts] = np.arange(len(firsts))
        return of_unit[units]

    @property
    def groups(self):
        return None if self.users is None else self.users[self.query]

    def splits(self, fold):
        """Rows to fit on and to test, for each fold; -1 is never tested."""
        of_row = fold[self.query]
        # In any order, as splitters may give them.
        mixed = np.random.default_rng(0).permutation
        splits = []
        for number in range(fold.max() + 1):
            train = mixed(np.flatnonzero(of_row != number))
            test = mixed(np.flatnonzero(of_row == number))
            splits.append((train, test))
        return splits

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
