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
        self.query = random.permutation(np.repeat(np.arange(n), sizes))
        self.qid = random.permutation([f"q{number}" for number in range(n)])[self.query]
        self.user = random.integers(0, n // 2 + 2, n)[self.query]
        self.y = random.integers(0, 2, len(self.qid)) * (random.random(n) < 0.8)[self.query]
        self.X = random.normal(size=(len(self.qid), 2))
        self.units = [self.qid, self.user][random.integers(2)]
        self.groups = self.user if self.units is self.user else None

    def split(self, splitter, way):
        """The ids as an argument, or in the index of the labels."""
        y = self.y if way else with_qid(self.y, self.qid)
        return list(splitter.split(self.X, y, qid=self.qid if way else None, groups=self.groups))


def sizes_of(units, rows):
    """Number of rows of each unit among some rows."""
    return dict(zip(*np.unique(units[rows], return_counts=True), strict=True))


def assert_whole(rows, splits):
    """Every unit is on one side with all of its rows, or not used; rows ascend."""
    sizes = sizes_of(rows.units, np.arange(len(rows.units)))
    for train, test in splits:
        assert (np.diff(train) > 0).all()
        assert (np.diff(test) > 0).all()
        trained, tested = sizes_of(rows.units, train), sizes_of(rows.units, test)
        assert trained
        assert tested
        assert not set(trained) & set(tested)
        assert {unit: sizes[unit] for unit in trained | tested} == trained | tested


@pytest.mark.parametrize("seed", range(40))
def test_folds_by_plain_statements(seed):
    random = np.random.default_rng([seed, 1])
    rows = Rows(random)
    n_splits, stratify = int(random.integers(2, 5)), [None, "relevance", "size", "both"][seed % 4]
    options = {"stratify": stratify, "random_state": seed}
    kinds = [
        QueryKFold(n_splits, stratify=stratify),
        QueryKFold(n_splits, shuffle=True, **options),
        RepeatedQueryKFold(n_splits, n_repeats=2, **options),
    ]
    splitter = kinds[random.integers(3)]
    splits = rows.split(splitter, seed % 2)
    assert_whole(rows, splits)
    assert len(splits) == splitter.get_n_splits() == n_splits * (2 if splitter is kinds[2] else 1)
    relevant = {unit: rows.y[rows.units == unit].sum() for unit in set(rows.units)}
    for start in range(0, len(splits), n_splits):
        repeat = splits[start : start + n_splits]
        tested = np.concatenate([test for _, test in repeat])
        assert sorted(tested) == list(range(len(rows.y)))
        for train, test in repeat:
            assert sorted([*train, *test]) == list(range(len(rows.y)))
        units = [set(rows.units[test]) for _, test in repeat]
        counts = [len(one) for one in units]
        assert max(counts) - min(counts) <= 1
        if stratify in ("relevance", "both"):
            barren = [sum(relevant[unit] == 0 for unit in one) for one in units]
            assert max(barren) - min(barren) <= 1
        if stratify is None:
            longest = max(sizes_of(rows.units, np.arange(len(rows.y))).values())
            loads = [len(test) for _, test in repeat]
            assert max(loads) - min(loads) <= longest
    again = rows.split(splitter, 1 - seed % 2)
    assert all(np.array_equal(one[1], other[1]) for one, other in zip(splits, again, strict=True))
    if splitter is kinds[2] and n_splits > 2:
        tests = [[test.tolist() for _, test in splits[k : k + n_splits]] for k in (0, n_splits)]
        assert sorted(tests[0]) != sorted(tests[1]), "other folds in each repeat"


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
        found = len(set(rows.units[train])), len(set(rows.units[test]))
        assert found == (n_train or n - n_test, n_test or n - n_train)
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
    n_splits, test_size = int(random.integers(2, 4)), int(random.integers(1, 3))
    gap, most = int(random.integers(0, 2)), [None, 3][random.integers(2)]
    first_times = np.cumsum(random.integers(1, 4, n))[random.permutation(n)]
    time = first_times[rows.query] * 2 + random.integers(0, 5, len(rows.qid))
    kind = seed % 3  # without times, numbers, days with a gap in days
    options = {"gap": gap, "max_train_size": most, "test_size": test_size}
    if kind:
        days = pd.to_datetime("2026-01-01") + pd.to_timedelta(time, unit="D")
        options["time"] = time if kind == 1 else days
    if kind == 2:
        options["gap"] = f"{gap * 2}D"
    ids = list(dict.fromkeys(rows.qid.tolist()))
    own = {one: time[rows.qid == one] for one in ids}
    order = ids if kind == 0 else sorted(ids, key=lambda one: (own[one].min(), one))
    expected = []
    for part in range(n_splits):
        start = n - (n_splits - part) * test_size
        tested = order[start : start + test_size]
        past = order[: max(start - (gap if kind < 2 else 0), 0)]
        if kind:
            begin = min(own[one].min() for one in tested) - (gap * 2 if kind == 2 else 0)
            past = [one for one in past if own[one].max() < begin]
        expected.append((set(past if most is None else past[-most:]), set(tested)))
    splitter = QueryTimeSeriesSplit(n_splits, **options)
    if not all(past for past, _ in expected):
        with pytest.raises(
            ValueError, match=r"must leave a query that ends before|Too many splits"
        ):
            rows.split(splitter, seed % 2)
        return
    splits = rows.split(splitter, seed % 2)
    assert_whole(rows, splits)
    assert [(set(rows.qid[train]), set(rows.qid[test])) for train, test in splits] == expected


@pytest.mark.parametrize("seed", range(30))
def test_audits_are_loops_over_ids(seed):
    random = np.random.default_rng([seed, 4])
    rows = Rows(random)
    n = len(rows.y)
    splits = []
    for _ in range(3):
        parts = [rows.query, np.arange(n), rows.user][random.integers(3)]
        side = random.choice(3, parts.max() + 1, p=[0.5, 0.4, 0.1])[parts]
        side[:2] = 0, 1
        train, test = (random.permutation(np.flatnonzero(side == value)) for value in (0, 1))
        splits.append((train, test) if random.random() < 0.5 else (side == 0, side == 1))
    X = pd.DataFrame(rows.X, columns=["a", "b"])
    if seed % 2:
        X["which"] = rows.qid
    labels = rows.y if seed % 3 else with_qid(rows.y, rows.qid)
    groups = rows.user if seed % 5 else None
    report = audit_splits(splits, X, labels, qid=rows.qid if seed % 3 else None, groups=groups)
    units = {"": rows.qid} | ({} if groups is None else {"_groups": rows.user})
    lines, n_leaks = [], 0
    for fold, (train, test) in enumerate(splits):
        train, test = (np.arange(n)[part] for part in (train, test))
        assert report.table["queries"][fold] == len(set(rows.qid[test]))
        assert report.table["documents"][fold] == len(test)
        assert report.table["share_relevant"][fold] == pytest.approx(np.mean(rows.y[test] > 0))
        for suffix, column in units.items():
            sizes = sizes_of(column, np.arange(n))
            trained, tested = sizes_of(column, train), sizes_of(column, test)
            leaking = set(trained) & set(tested)
            used = trained | tested
            cut = {one for one in set(used) - leaking if used[one] < sizes[one]}
            for kind, expected in (("leaking", leaking), ("cut", cut)):
                assert set(report.ids[kind + suffix][fold]) == expected
                assert report.table[kind + suffix][fold] == len(expected)
                n_leaks += len(expected)
                if expected:
                    lines.append(f"fold {fold} has {len(expected)} ")
    assert report.leaks == n_leaks
    assert list(report.ids) == [kind + suffix for suffix in units for kind in ("leaking", "cut")]
    assert report.id_columns == (["which"] if seed % 2 else [])
    text = " ".join(str(report).split())
    assert text.count("LEAK: ") == len(lines)
    assert all(f"LEAK: {line}" in text for line in lines)
    frame = report.to_frame()
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
    fold = random.permutation(np.r_[0, 4, 7, random.choice([0, 4, 7], n - 3)])
    splitter = PredefinedQuerySplit(fold[rows.query])
    splits = rows.split(splitter, seed % 2)
    assert len(splits) == splitter.get_n_splits() == 3
    assert_whole(rows, splits)
    for number, (train, test) in zip((0, 4, 7), splits, strict=True):
        assert test.tolist() == np.flatnonzero(fold[rows.query] == number).tolist()
        assert len(train) + len(test) == len(rows.y)
