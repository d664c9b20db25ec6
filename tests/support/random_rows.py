"""Random rows with everything that evaluate takes beside them, for tests in which options meet."""

import datetime

import numpy as np
import polars as pl
from sklearn.utils.fixes import parse_version

# Ids of queries from their numbers, by kind.
IDS = {
    "int": lambda number: 3 - number,
    "str": lambda number: f"q {number}",
    "tuple": lambda number: (number // 2, number % 2),
    "bytes": lambda number: bytes([number, 255]),
    "float": float,
    "date": lambda number: datetime.date(2001, 2, 1 + number),
    "second": lambda number: datetime.datetime(2001, 2, 3, 4, 5, number, 6),
}
# Types of arrays that ids may have.
DTYPES = {"int": ("i8", ">i4", "i1"), "float": ("f8", "f4", ">f8"), "date": ("M8[D]", "M8[ns]")}
# Older versions of polars refuse the other byte order.
if parse_version(pl.__version__) < parse_version("2"):
    DTYPES |= {"int": ("i8", "i4", "i1"), "float": ("f8", "f4", "f8")}


def ids_of(numbers, random):
    """Ids of some kind, equal if the numbers are."""
    kind = str(random.choice(list(IDS)))
    ids = np.empty(len(numbers), dtype=object)
    ids[:] = [IDS[kind](int(number)) for number in numbers]
    if kind in DTYPES and random.random() < 0.8:
        return ids.astype(str(random.choice(DTYPES[kind])))
    return ids


def slices_of(query, random):
    """One slice, or a tuple of several, for each row; some are missing."""
    number = random.integers(0, 3, query.max() + 1)[query]
    other = random.integers(0, 2, query.max() + 1)[query]
    kind = random.integers(4)
    if kind == 0:
        return number
    if kind == 1:
        return {"a": np.array(["x", None, "z"], dtype=object)[number], "b": other}
    if kind == 2:
        return np.array([1.5, np.nan, 2])[number]
    return np.array(["x", None, "all"], dtype=object)[number]


def random_rows(random, n_queries=None, always=()):
    """Labels, scores, ids and options of queries of unequal lengths, mixed, as arguments of evaluate."""
    n = n_queries or int(random.integers(3, 13))
    in_order = np.repeat(np.arange(n), random.integers(1, 7, n))
    query = random.permutation(in_order)
    size = len(query)
    is_barren = random.random(n) < 0.3
    has_scores = random.random(n) < 0.8
    labels = np.where(is_barren[query], 0, random.integers(0, 4, size))
    scores = random.integers(0, 4, size) / 2
    weights = random.choice([0.0, 0.5, 1.0, 3.0], n)
    weights[0] += 1
    options = {
        "sample_weight": weights[query],
        "retrieved": random.random(size) < 0.85,
        "judged": random.random(size) < 0.8,
        "groups": random.integers(0, 4, n)[query],
        "by": slices_of(query, random),
        "documents": {"price": random.integers(0, 9, size)},
    }
    drawn = [name for name in options if random.random() < 0.5]
    chosen = {name: options[name] for name in options if name in {*drawn, *always}}
    if "judged" in chosen:
        chosen["condense"] = bool(random.random() < 0.5)
    rows = {"y_true": labels, "y_score": scores * has_scores[query]}
    return rows | {"qid": ids_of(query, random)} | chosen


def rows_at(rows, places):
    """Some of the rows, without slices."""
    found = {}
    for name, value in rows.items():
        if name == "documents":
            found[name] = {key: column[places] for key, column in value.items()}
        elif name == "condense":
            found[name] = value
        elif name != "by":
            found[name] = value[places]
    return found
