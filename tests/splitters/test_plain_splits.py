"""Random queries, groups and times: splits and audits against plain statements and loops."""

import math

import numpy as np
import pandas as pd
import pytest

from skrank_metrics import (
    PredefinedQuerySplit,
    QueryKFold,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    RepeatedQueryKFold,
    audit_splits,
    query_train_test_split,
    with_qid,
)


class Rows:
    """Rows in random order, of queries of unequal lengths, of which some belong to one user."""

    def __init__(self, random):
        n = int(random.integers(8, 20))
        sizes = random.choice([1, 2, 5, 9], n) + random.integers(0, 2, n)
        in_order = np.repeat(np.arange(n), sizes)
        self.query = random.permutation(in_order)
        names = random.permutation([f"q{number}" for number in range(n)])
        self.qid = names[self.query]
        users = random.integers(0, n // 2 + 2, n)
        self.user = users[self.query]
        labels = random.integers(0, 2, len(self.query))
        has_relevant = random.random(n) < 0.8
        self.y = labels * has_relevant[self.query]
        self.X = random.normal(size=(len(self.query), 2))
        self.units = self.qid
        self.groups = None
        if random.integers(2):
            self.units = self.groups = self.user

    def split(self, splitter, way):
        """The ids as an argument, or in the index of the labels."""
        if way:
            splits = splitter.split(self.X, self.y, qid=self.qid, groups=self.groups)
        else:
            labels = with_qid(self.y, self.qid)
            splits = splitter.split(self.X, labels, groups=self.groups)
        return list(splits)

    def sizes(self):
        """Number of rows of each unit."""
        return sizes_of(self.units, np.arange(len(self.units)))


def sizes_of(units, rows):
    """Number of rows of each unit among some rows."""
    values, counts = np.unique(units[rows], return_counts=True)
    return dict(zip(values, counts, strict=True))


def assert_whole(rows, splits):
    """Every unit is on one side with all of its rows, or not used; rows ascend."""
    sizes = rows.sizes()
    for train, test in splits:
        assert (np.diff(train) > 0).all()
        assert (np.diff(test) > 0).all()
        trained = sizes_of(rows.units, train)
        tested = sizes_of(rows.units, test)
        assert trained
        assert tested
        assert not set(trained) & set(tested)
        used = trained | tested
        assert used == {unit: sizes[unit] for unit in used}


def difference(numbers):
    """Between the largest and the smallest."""
    return max(numbers) - min(numbers)


@pytest.mark.parametrize("seed", range(40))
def test_folds_by_plain_statements(seed):
    random = np.random.default_rng([seed, 1])
    rows = Rows(random)
    n_splits = int(random.integers(2, 5))
    stratify = [None, "relevance", "size", "both"][seed % 4]
    options = {"stratify": stratify, "random_state": seed}
    kinds = [
        QueryKFold(n_splits, stratify=stratify),
        QueryKFold(n_splits, shuffle=True, **options),
        RepeatedQueryKFold(n_splits, n_repeats=2, **options),
    ]
    splitter = kinds[random.integers(3)]
    n_repeats = 2 if splitter is kinds[2] else 1
    way = seed % 2
    splits = rows.split(splitter, way)
    assert_whole(rows, splits)
    assert len(splits) == splitter.get_n_splits() == n_splits * n_repeats
    repeats = [splits[:n_splits], splits[n_splits:]][:n_repeats]
    for repeat in repeats:
        check_repeat(rows, repeat, stratify)
    tested = [test.tolist() for _, test in splits]
    again = rows.split(splitter, 1 - way)
    assert [test.tolist() for _, test in again] == tested
    if n_repeats == 2 and n_splits > 2:
        first, second = tested[:n_splits], tested[n_splits:]
        assert sorted(first) != sorted(second), "other folds in each repeat"


def check_repeat(rows, splits, stratify):
    """Every row is tested once, and folds have as much of everything as each other."""
    every_row = list(range(len(rows.y)))
    tests = [test for _, test in splits]
    assert sorted(np.concatenate(tests)) == every_row
    for train, test in splits:
        assert sorted([*train, *test]) == every_row
    units = [set(rows.units[test]) for test in tests]
    counts = [len(one) for one in units]
    assert difference(counts) <= 1
    if stratify in ("relevance", "both"):
        with_relevant = set(rows.units[rows.y > 0])
        barren = [len(one - with_relevant) for one in units]
        assert difference(barren) <= 1
    if stratify is None:
        longest = max(rows.sizes().values())
        loads = [len(test) for test in tests]
        assert difference(loads) <= longest


@pytest.mark.parametrize("seed", range(30))
def test_draws_by_plain_statements(seed):
    random = np.random.default_rng([seed, 2])
    rows = Rows(random)
    n = len(set(rows.units))
    test_size = [None, 0.3, 3][seed % 3]
    train_size = [None, 0.4, 2][seed // 3 % 3]
    splitter = QueryShuffleSplit(
        3, test_size=test_size, train_size=train_size, random_state=int(random.integers(9))
    )
    splits = rows.split(splitter, seed % 2)
    assert len(splits) == splitter.get_n_splits() == 3
    assert_whole(rows, splits)

    def number(size, rounded):
        return rounded(size * n) if isinstance(size, float) else size

    default = 0.1 if train_size is None and test_size is None else None
    n_test = number(test_size or default, math.ceil)
    n_train = number(train_size, math.floor)
    for train, test in splits:
        assert len(set(rows.units[train])) == (n_train or n - n_test)
        assert len(set(rows.units[test])) == (n_test or n - n_train)
    parts = query_train_test_split(
        rows.X,
        rows.y,
        np.arange(len(rows.y)),
        qid=rows.units,
        test_size=test_size,
        train_size=train_size,
        random_state=seed,
    )
    X_train, X_test, y_train, y_test, train, test = parts
    assert_whole(rows, [(train, test)])
    np.testing.assert_array_equal(X_train, rows.X[train])
    np.testing.assert_array_equal(X_test, rows.X[test])
    np.testing.assert_array_equal(y_train, rows.y[train])
    np.testing.assert_array_equal(y_test, rows.y[test])
    n_test = number(test_size or (0.25 if train_size is None else None), math.ceil)
    assert len(set(rows.units[test])) == (n_test or n - n_train)


@pytest.mark.parametrize("seed", range(40))
def test_splits_by_time_are_a_loop_over_queries(seed):
    random = np.random.default_rng([seed, 3])
    rows = Rows(random)
    rows.units, rows.groups = rows.qid, None
    n = len(set(rows.qid))
    n_splits = int(random.integers(2, 4))
    test_size = int(random.integers(1, 3))
    gap = int(random.integers(0, 2))
    most = [None, 3][random.integers(2)]
    ascending = np.cumsum(random.integers(1, 4, n))
    first_times = ascending[random.permutation(n)]
    time = first_times[rows.query] * 2 + random.integers(0, 5, len(rows.qid))
    kind = ["no times", "numbers", "days"][seed % 3]
    options = {"gap": gap, "max_train_size": most, "test_size": test_size}
    gap_in_queries, gap_in_days = gap, 0
    if kind == "numbers":
        options["time"] = time
    if kind == "days":
        gap_in_queries, gap_in_days = 0, 2 * gap
        options["time"] = pd.to_datetime("2026-01-01") + pd.to_timedelta(time, unit="D")
        options["gap"] = f"{gap_in_days}D"
    order = list(dict.fromkeys(rows.qid.tolist()))
    begins = {one: time[rows.qid == one].min() for one in order}
    ends = {one: time[rows.qid == one].max() for one in order}
    if kind != "no times":
        order.sort(key=lambda one: (begins[one], one))
    expected = []
    for part in range(n_splits):
        start = n - (n_splits - part) * test_size
        tested = order[start : start + test_size]
        past = order[: max(start - gap_in_queries, 0)]
        if kind != "no times":
            begin = min(begins[one] for one in tested) - gap_in_days
            past = [one for one in past if ends[one] < begin]
        if most is not None:
            past = past[-most:]
        expected.append((set(past), set(tested)))
    splitter = QueryTimeSeriesSplit(n_splits, **options)
    way = seed % 2
    if not all(past for past, _ in expected):
        message = "must leave a query that ends before|Too many splits"
        with pytest.raises(ValueError, match=message):
            rows.split(splitter, way)
        return
    splits = rows.split(splitter, way)
    assert_whole(rows, splits)
    found = [(set(rows.qid[train]), set(rows.qid[test])) for train, test in splits]
    assert found == expected


def leaking_and_cut(units, train, test):
    """Units on both sides, and those on one without all of their rows."""
    sizes = sizes_of(units, np.arange(len(units)))
    trained = sizes_of(units, train)
    tested = sizes_of(units, test)
    leaking = set(trained) & set(tested)
    used = trained | tested
    cut = {unit for unit in set(used) - leaking if used[unit] < sizes[unit]}
    return {"leaking": leaking, "cut": cut}


def random_splits(random, rows):
    """Three of queries, rows or users, as rows or masks."""
    splits = []
    for _ in range(3):
        parts = [rows.query, np.arange(len(rows.y)), rows.user][random.integers(3)]
        sides = random.choice(3, parts.max() + 1, p=[0.5, 0.4, 0.1])
        side = sides[parts]
        side[:2] = 0, 1
        train = random.permutation(np.flatnonzero(side == 0))
        test = random.permutation(np.flatnonzero(side == 1))
        as_masks = random.random() >= 0.5
        splits.append((side == 0, side == 1) if as_masks else (train, test))
    return splits


@pytest.mark.parametrize("seed", range(30))
def test_audits_are_loops_over_ids(seed):
    random = np.random.default_rng([seed, 4])
    rows = Rows(random)
    every_row = np.arange(len(rows.y))
    splits = random_splits(random, rows)
    X = pd.DataFrame(rows.X, columns=["a", "b"])
    id_columns = []
    if seed % 2:
        X["which"] = rows.qid
        id_columns = ["which"]
    units = {"": rows.qid}
    groups = None
    if seed % 5:
        units["_groups"] = groups = rows.user
    if seed % 3:
        report = audit_splits(splits, X, rows.y, qid=rows.qid, groups=groups)
    else:
        report = audit_splits(splits, X, with_qid(rows.y, rows.qid), groups=groups)
    lines, n_leaks = [], 0
    for fold, (train, test) in enumerate(splits):
        trained, tested = every_row[train], every_row[test]
        share = np.mean(rows.y[tested] > 0)
        assert report.table["queries"][fold] == len(set(rows.qid[tested]))
        assert report.table["documents"][fold] == len(tested)
        assert report.table["share_relevant"][fold] == pytest.approx(share)
        for suffix, column in units.items():
            for kind, expected in leaking_and_cut(column, trained, tested).items():
                assert set(report.ids[kind + suffix][fold]) == expected
                assert report.table[kind + suffix][fold] == len(expected)
                n_leaks += len(expected)
                if expected:
                    lines.append(f"fold {fold} has {len(expected)} ")
    assert report.leaks == n_leaks
    assert list(report.ids) == [kind + suffix for suffix in units for kind in ("leaking", "cut")]
    assert report.id_columns == id_columns
    text = " ".join(str(report).split())
    assert text.count("LEAK: ") == len(lines)
    assert all(f"LEAK: {line}" in text for line in lines)
    frame = report.to_frame()
    assert frame.index.name == "fold"
    for name, column in report.table.items():
        assert frame[name].tolist() == column.tolist()
    if lines:
        with pytest.raises(ValueError, match=lines[0]):
            report.check()
    else:
        report.check()


@pytest.mark.parametrize("seed", range(10))
def test_prescribed_folds_are_those_of_the_queries(seed):
    random = np.random.default_rng([seed, 5])
    rows = Rows(random)
    rows.units, rows.groups = rows.qid, None
    n = rows.query.max() + 1
    numbers = [0, 4, 7]
    others = random.choice(numbers, n - 3)
    of_query = random.permutation([*numbers, *others])
    of_row = of_query[rows.query]
    splitter = PredefinedQuerySplit(of_row)
    splits = rows.split(splitter, seed % 2)
    assert len(splits) == splitter.get_n_splits() == 3
    assert_whole(rows, splits)
    for number, (train, test) in zip(numbers, splits, strict=True):
        assert test.tolist() == np.flatnonzero(of_row == number).tolist()
        assert len(train) + len(test) == len(rows.y)
