"""Labels that carry ids, masks, weights and columns, in random containers: what their index holds."""

import pickle

import numpy as np
import pandas as pd
import pytest

from skrank_metrics import evaluate, make_metric, with_qid


def paid(labels, price, shop, unranked=()):
    """What the ranked documents cost; the columns go on with those that were not ranked."""
    revenue = float(labels @ price[: len(labels)])
    share_of_b = (shop == "b").sum() / len(shop)
    return revenue + share_of_b


PAID = make_metric(paid, documents=["price", "shop"])
PLAIN = ("retrieved", "judged", "sample_weight")


def chance(random, share=0.5):
    return bool(random.random() < share)


class Rows:
    """Random rows: plain arrays of everything, and the labels of the rows if they have some."""

    def __init__(self, random):
        sizes = random.integers(1, 6, random.integers(3, 8))
        self.query = random.permutation(np.repeat(np.arange(len(sizes)), sizes))
        self.n = n = len(self.query)
        self.y = random.integers(0, 3, n)
        self.scores = random.normal(size=n)
        weights = random.choice([0.5, 1.0, 2.0], len(sizes))
        self.plain = {
            "retrieved": random.random(n) < 0.8,
            "judged": random.random(n) < 0.8,
            "sample_weight": weights[self.query],
        }
        self.documents = {
            "price": random.integers(0, 9, n) / 8,
            "shop": random.choice(["a", "b"], n).astype(object),
        }
        numbers = random.permutation(100)
        several = pd.MultiIndex.from_arrays([numbers[:n], numbers[-n:]], names=["item", None])
        of_numbers = pd.Index(numbers[:n])
        of_names = pd.Index([f"row {i}" for i in range(n)])
        indexes = [None, of_numbers, of_names, several]
        self.index = indexes[random.integers(4)]
        self.qid = self.random_ids(random)

    def random_ids(self, random):
        kind = random.integers(4)
        if kind == 0:
            return self.query + 5
        text = np.array([f"q{number}" for number in self.query], dtype=object)
        if kind == 1:
            return text.tolist()
        if kind == 2:
            return pd.Categorical(text, categories=sorted(set(text), reverse=True))
        return pd.Series(text, index=self.index)

    def contained(self, random, column):
        """A column as an array, a list or a Series with the labels of the rows."""
        if chance(random, 0.3):
            return column.tolist()
        return pd.Series(column, index=self.index) if chance(random) else column

    def frame(self, random, documents):
        if chance(random):
            return {name: self.contained(random, column) for name, column in documents.items()}
        return pd.DataFrame(documents, index=self.index)

    def labels(self, random):
        kind = random.integers(3) if self.index is None else 2
        if kind == 0:
            return self.y.tolist()
        return self.y if kind == 1 else pd.Series(self.y, index=self.index, name="grade")


def random_calls(random, rows):
    """Arguments of two calls, one after the other; what both have is equal."""
    calls = [{}, {}]
    for name, column in rows.plain.items():
        for call in calls:
            if chance(random, 0.4):
                call[name] = rows.contained(random, column)
    for call in calls:
        some = {name: column for name, column in rows.documents.items() if chance(random, 0.4)}
        if some:
            call["documents"] = rows.frame(random, some)
    return calls


def names_of(call):
    documents = list(call.get("documents", {}))
    return {*(call.keys() - {"documents"}), *(f"documents.{name}" for name in documents)}


@pytest.mark.parametrize("seed", range(30))
def test_an_index_holds_what_was_given_in_all_calls(seed):
    random = np.random.default_rng([seed, 6])
    rows = Rows(random)
    calls = random_calls(random, rows)
    given = rows.labels(random)
    labels = with_qid(given, rows.qid, **calls[0])
    assert set(labels.index.names) >= {"qid", *names_of(calls[0])}
    labels = with_qid(labels, rows.qid, **calls[1])
    names = names_of(calls[0]) | names_of(calls[1])

    of_rows = [None] if isinstance(rows.index, pd.Index) else []
    if isinstance(rows.index, pd.MultiIndex):
        of_rows = ["item", None]
    has_index = isinstance(given, pd.Series)
    if has_index and rows.index is None:
        of_rows = [None]
    found = list(labels.index.names)
    n_documents = sum(name.startswith("documents.") for name in names)
    plain = [name for name in PLAIN if name in names]
    start = 1 + len(plain)
    assert found[:start] == ["qid", *plain]
    assert set(found[start : start + n_documents]) == names - set(plain)
    assert found[start + n_documents :] == (of_rows if has_index else [])
    assert labels.tolist() == rows.y.tolist()
    assert labels.dtype == np.asarray(given).dtype
    assert labels.name == getattr(given, "name", None)
    columns = {f"documents.{key}": own for key, own in rows.documents.items()}
    expected = dict(rows.plain) | columns
    expected["qid"] = rows.qid
    for name in {"qid", *names}:
        level = labels.index.get_level_values(name)
        assert level.tolist() == list(expected[name]), name
    ids = labels.index.get_level_values("qid")
    assert isinstance(ids.dtype, pd.CategoricalDtype) == isinstance(rows.qid, pd.Categorical)
    if has_index:
        index = pd.RangeIndex(rows.n) if rows.index is None else rows.index
        levels = list(range(start + n_documents))
        without_levels = labels.droplevel(levels)
        assert without_levels.index.tolist() == index.tolist()
    check_that_metrics_find_it(random, rows, labels, names)


def check_that_metrics_find_it(random, rows, labels, names):
    """Parts of the labels, copied and put together again, give the report of plain arrays."""
    metrics = ["ndcg@2", "judged@2", "map"]
    arrays = {name: rows.plain[name] for name in PLAIN if name in names}
    if {"documents.price", "documents.shop"} <= names:
        metrics.append(PAID)
        arrays["documents"] = rows.documents
    order = random.permutation(rows.n)[: 2 * rows.n // 3]
    first = labels.iloc[order[:3]]
    pickled = pickle.dumps(labels.iloc[order[3:]])
    parts = [first, pickle.loads(pickled)]
    together = pd.concat(parts) * 2
    found = evaluate(together, rows.scores[order], metrics=metrics).to_frame()
    taken = {name: column[order] for name, column in arrays.items() if name != "documents"}
    if "documents" in arrays:
        taken["documents"] = {name: own[order] for name, own in rows.documents.items()}
    qid = np.asarray(rows.qid)[order]
    expected = evaluate(
        2 * rows.y[order], rows.scores[order], qid=qid, metrics=metrics, **taken
    ).to_frame()
    pd.testing.assert_frame_equal(found, expected, check_index_type=False, check_dtype=False)


# Defects by name: how a column is changed, and what the error says.
def reordered(rows, column):
    return pd.Series(column, index=range(rows.n)).iloc[::-1]


@pytest.mark.parametrize("name", ["qid", *PLAIN, "price", "frame of documents"])
@pytest.mark.parametrize("seed", range(2))
def test_columns_in_another_order_than_the_labels_are_refused(name, seed):
    random = np.random.default_rng([seed, 7])
    rows = Rows(random)
    y = pd.Series(rows.y, index=np.arange(rows.n))
    given = {"qid": rows.query, **rows.plain, "documents": dict(rows.documents)}
    if name == "price":
        given["documents"]["price"] = reordered(rows, rows.documents["price"])
    elif name == "frame of documents":
        given["documents"] = pd.DataFrame(rows.documents).iloc[::-1]
    else:
        given[name] = reordered(rows, given[name])
    if seed:
        # Where the labels have no rows of their own, any two columns still agree.
        y = rows.y
        with_rows = dict.fromkeys(PLAIN, pd.Series(rows.plain["judged"], index=range(rows.n)))
        given |= {key: with_rows[key] for key in ("judged",) if name != key}
        if name == "judged":
            given["qid"] = pd.Series(rows.query, index=range(rows.n))
    with pytest.raises(ValueError, match=r"must have the same index as .*different orders"):
        with_qid(y, given.pop("qid"), **given)


@pytest.mark.parametrize("name", [*PLAIN, "documents.price", "documents.shop"])
def test_a_second_call_must_not_contradict_the_first(name):
    rows = Rows(np.random.default_rng(8))
    given = {**rows.plain, "documents": rows.documents}
    labels = with_qid(rows.y, rows.query, **given)
    others = {
        "retrieved": ~rows.plain["retrieved"],
        "judged": ~rows.plain["judged"],
        "sample_weight": rows.plain["sample_weight"] + 1,
        "documents.price": {"price": rows.documents["price"] + 1},
        "documents.shop": {"shop": rows.documents["shop"] + "!"},
    }
    argument = name.partition(".")[0]
    with pytest.raises(ValueError, match=f"{name} must agree with the index level '{name}'"):
        with_qid(labels, rows.query, **{argument: others[name]})
