"""Random queries, groups and times: splits and audits against plain statements and loops."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from support.shown import assert_shown

from skrank_metrics import (
    PredefinedQuerySplit,
    QueryKFold,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    RepeatedQueryKFold,
    query_train_test_split,
    with_qid,
)
from skrank_metrics.splitters import audit_splits


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
    if splitter is kinds[0]:
        check_turns(rows, splits, stratify)
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


def dealt(rows, stratify):
    """Units in the order in which they are dealt to the folds, and their amounts of what folds share."""
    sizes = rows.sizes()
    relevant = sizes_of(rows.units, rows.y > 0)
    n_rows = len(rows.y)
    n_relevant = max(sum(relevant.values()), 1)
    by_relevance = stratify in ("relevance", "both")
    places = {}
    amounts = {}
    for unit, size in sizes.items():
        is_barren = by_relevance and unit not in relevant
        # In steps of a quarter, unless lengths are to be balanced, too.
        length = size
        if stratify not in ("size", "both"):
            length = math.floor(math.log(size, 1.25))
        places[unit] = (is_barren, -length, unit)
        amounts[unit] = [size / n_rows]
        if by_relevance:
            amounts[unit] += [relevant.get(unit, 0) / n_relevant, 2 * is_barren]
    return sorted(sizes, key=places.get), amounts


def check_turns(rows, splits, stratify):
    """In each turn, every fold got one unit, in the way that keeps the sum of squares of the amounts least."""
    n_folds = len(splits)
    fold_of = {unit: fold for fold, (_, test) in enumerate(splits) for unit in rows.units[test]}
    order, amounts = dealt(rows, stratify)
    loads = np.zeros((n_folds, len(amounts[order[0]])))
    for first in range(0, len(order), n_folds):
        turn = order[first : first + n_folds]
        found = tuple(fold_of[unit] for unit in turn)
        added = np.array([amounts[unit] for unit in turn])
        squares = {}
        for folds in itertools.permutations(range(n_folds), len(turn)):
            after = loads.copy()
            after[list(folds)] += added
            squares[folds] = (after**2).sum()
        assert squares[found] == pytest.approx(min(squares.values()), rel=1e-9)
        loads[list(found)] += added


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
    rows.units = rows.qid
    rows.groups = None
    n = len(set(rows.qid))
    n_splits = int(random.integers(2, 4))
    test_size = int(random.integers(1, 3))
    gap = int(random.integers(0, 2))
    most = [None, 3][random.integers(2)]
    ascending = np.cumsum(random.integers(1, 4, n))
    first_times = ascending[random.permutation(n)]
    offsets = random.integers(0, 5, len(rows.qid))
    time = first_times[rows.query] * 2 + offsets
    kind = ["no times", "numbers", "days"][seed % 3]
    options = {"gap": gap, "max_train_size": most, "test_size": test_size}
    gap_in_queries = gap
    gap_in_days = 0
    if kind == "numbers":
        options["time"] = time
    if kind == "days":
        gap_in_queries = 0
        gap_in_days = 2 * gap
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


WHAT = {
    "leaking": "with rows both in train and in test",
    "cut": "with only some of the rows used",
}


def line_of_leaks(fold, kind, ids):
    """What is said about the ids that leak in one way, the first three by name."""
    kind, _, of_groups = kind.partition("_")
    noun = "group" if of_groups else "query"
    if len(ids) > 1:
        noun = "groups" if of_groups else "queries"
    names = ", ".join([str(one) for one in ids[:3]])
    if len(ids) > 3:
        names += ", ..."
    what = WHAT[kind]
    return f"fold {fold} has {len(ids)} {noun} {what}: {names}"


def table_of(report):
    """The heads and rows of the table that is shown."""
    heads = ["fold"]
    heads += [name.replace("_", " ").removeprefix("share ") for name in report.table]
    rows = []
    for fold in range(len(report.table["queries"])):
        cells = [str(fold)]
        for name, column in report.table.items():
            value = column[fold]
            text = f"{value:.4f}" if name == "share_relevant" else str(value)
            cells.append(text)
        rows.append(cells)
    return [heads, *rows]


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
        ways = [rows.query, np.arange(len(rows.y)), rows.user]
        parts = ways[random.integers(3)]
        sides = random.choice(3, parts.max() + 1, p=[0.5, 0.4, 0.1])
        side = sides[parts]
        side[:2] = 0, 1
        train = random.permutation(np.flatnonzero(side == 0))
        test = random.permutation(np.flatnonzero(side == 1))
        as_masks = random.random() >= 0.5
        if as_masks:
            train = side == 0
            test = side == 1
        splits.append((train, test))
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
    lines = []
    n_leaks = 0
    for fold, (train, test) in enumerate(splits):
        trained = every_row[train]
        tested = every_row[test]
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
                    ids = report.ids[kind + suffix][fold]
                    lines.append(line_of_leaks(fold, kind + suffix, ids))
    assert report.leaks == n_leaks
    assert list(report.ids) == [kind + suffix for suffix in units for kind in ("leaking", "cut")]
    assert report.id_columns == id_columns
    check_printed(report, id_columns, lines)
    frame = report.to_frame()
    assert frame.index.name == "fold"
    for name, column in report.table.items():
        assert frame[name].tolist() == column.tolist()


def check_printed(report, id_columns, lines):
    """What is printed of an audit, and the error that it raises."""
    splitter = "an iterable of (train, test)"
    way_out = "Use a splitter that keeps them whole, such as QueryKFold."
    about = "of X holds the query ids, which say nothing of other queries: leave it out."
    shown = [splitter, *[f"Column {name} {about}" for name in id_columns]]
    shown += [f"LEAK: {line}" for line in lines]
    shown.append(way_out if lines else "Nothing leaks: all queries are whole in every fold.")
    assert_shown(report, [table_of(report)], shown)
    n = report.leaks
    noun = "leak" if n == 1 else "leaks"
    assert repr(report) == f"<SplitReport: 3 folds, {n} {noun}>"
    if not lines:
        assert report.check() is None
        return
    with pytest.raises(ValueError, match="keep every query whole") as raised:
        report.check()
    text = f"cv must keep every query whole; got {splitter}: {lines[0]}. {way_out}"
    assert str(raised.value) == text


@pytest.mark.parametrize("seed", range(12))
def test_prescribed_folds_are_those_of_the_queries(seed):
    random = np.random.default_rng([seed, 5])
    rows = Rows(random)
    rows.units = rows.qid
    rows.groups = None
    n = rows.query.max() + 1
    kinds = [[0, 4, 7], [-1, 2, 10], ["a", "b", "c"], ["2", "10", "9"]]
    numbers = kinds[seed % 4]
    others = random.choice(numbers, n - 3)
    of_query = random.permutation([*numbers, *others])
    of_row = of_query[rows.query]
    way = seed % 2
    splitter = PredefinedQuerySplit(of_row)
    splits = rows.split(splitter, way)
    assert len(splits) == splitter.get_n_splits() == 3
    assert_whole(rows, splits)
    without = rows.split(PredefinedQuerySplit(of_row, validation=True), way)
    assert_whole(rows, without)
    y = with_qid(rows.y, rows.qid)
    thirds = list(splitter.split_in_three(rows.X, y))
    # Numbers by size, text as text; the part before the first one is the last.
    ascending = sorted(numbers)
    before = [ascending[-1], *ascending[:-1]]
    parts = zip(ascending, before, splits, without, thirds, strict=True)
    for tested, validated, (train, test), (rest, again), third in parts:
        is_tested = of_row == tested
        is_validated = of_row == validated
        others = np.flatnonzero(~is_tested & ~is_validated).tolist()
        assert test.tolist() == again.tolist() == np.flatnonzero(is_tested).tolist()
        assert train.tolist() == np.flatnonzero(~is_tested).tolist()
        assert rest.tolist() == others
        expected = [others, np.flatnonzero(is_validated).tolist(), test.tolist()]
        assert [side.tolist() for side in third] == expected
