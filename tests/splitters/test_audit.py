import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    check_cv,
)

from skrank_metrics import (
    PredefinedQuerySplit,
    QueryKFold,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    RepeatedQueryKFold,
    with_qid,
)
from skrank_metrics.splitters import audit_splits
from skrank_metrics.splitters.audit import split_rows

IN_ORDER = np.repeat(np.arange(20), np.arange(1, 21))
QID = np.random.default_rng(0).permutation(IN_ORDER)
LABELS = np.random.default_rng(1).integers(0, 2, len(QID))
Y = LABELS * (QID % 3 > 0)
X = np.zeros((len(QID), 1))


@pytest.mark.parametrize(
    "cv",
    [
        QueryKFold(4, stratify="both"),
        RepeatedQueryKFold(3, n_repeats=2),
        QueryShuffleSplit(2),
        QueryTimeSeriesSplit(3),
        PredefinedQuerySplit(QID % 4),
        GroupKFold(4),
        GroupShuffleSplit(2, random_state=0),
        LeaveOneGroupOut(),
        StratifiedGroupKFold(3),
    ],
    ids=lambda cv: type(cv).__name__,
)
@pytest.mark.parametrize(
    "ids",
    [
        {"qid": QID},
        {"groups": QID},
        {"groups": QID // 2, "qid": QID},
        {},
    ],
)
def test_whole_queries_do_not_leak(cv, ids):
    if "groups" in ids and isinstance(cv, PredefinedQuerySplit):
        ids = {"groups": QID}
    report = audit_splits(cv, X, Y if ids else with_qid(Y, QID), **ids)
    assert report.leaks == 0
    assert report.check() is None
    assert str(report).endswith("Nothing leaks: all queries are whole in every fold.")


@pytest.mark.parametrize(
    "cv",
    [
        KFold(4),
        StratifiedKFold(3),
        ShuffleSplit(2, random_state=0),
        TimeSeriesSplit(2),
        3,
        None,
    ],
)
def test_splitters_that_cut_queries(cv):
    report = audit_splits(cv, X, Y, qid=QID)
    assert report.leaks > 0
    assert "LEAK: fold 0 has " in str(report)
    with pytest.raises(
        ValueError, match=r"cv must keep every query whole; got .*Split|Fold.* Use a splitter"
    ):
        report.check()


@pytest.mark.option("audit_splits.groups", "audit_splits.qid")
def test_groups_are_for_the_splitter_and_audited_beside_ids():
    # Four queries of two users; GroupKFold tests the users' rows, of which the second user has more.
    features = [[0]] * 6
    labels = [0] * 6
    qid = np.array([0, 0, 1, 2, 2, 3])
    user = np.array([7, 7, 7, 8, 8, 8])
    by_user = audit_splits(GroupKFold(2), features, labels, groups=user, qid=qid)
    assert sorted(by_user.table["queries"].tolist()) == [2, 2]
    assert by_user.table["documents"].tolist() == [3, 3]
    assert by_user.leaks == 0
    by_query = audit_splits(GroupKFold(4), features, labels, groups=qid, qid=qid)
    assert sorted(by_query.table["documents"].tolist()) == [1, 1, 2, 2]


def test_without_other_ids_groups_are_audited():
    # Rows 3 to 5 share two of the three ids of rows 0 to 2.
    rows = {"cv": [([0, 1, 2], [3, 4, 5])], "X": [[0]] * 6, "y": [0] * 6}
    across = [0, 1, 2, 0, 1, 1]
    user = [7, 7, 7, 8, 8, 8]
    assert audit_splits(**rows, groups=across).leaks == 2
    assert audit_splits(**rows, groups=user, qid=across).leaks == 2
    of_both = audit_splits(**rows, groups=across, qid=user)
    assert of_both.table["leaking"].tolist() == [0]
    assert of_both.table["leaking_groups"].tolist() == [2]


def test_a_query_leaks_or_is_cut():
    # Query 7 is in both parts; of queries 8 and 9, some rows are in neither.
    qid = [7, 7, 7, 9, 9, 8, 8, 8]
    splits = [([0, 4], [1, 5, 6])]
    report = audit_splits(splits, [[0]] * 8, [0] * 8, qid=qid)
    assert report.table["leaking"].tolist() == [1]
    assert report.ids["leaking"][0].tolist() == [7]
    assert report.table["cut"].tolist() == [2]
    assert sorted(report.ids["cut"][0]) == [8, 9]


USER = QID // 2


@pytest.mark.parametrize("ids", [{"qid": QID}, {}], ids=["qid", "index of y"])
def test_groups_are_audited_as_queries_are_whatever_the_splitter(ids):
    splits = list(QueryKFold(3).split(X, groups=QID))
    y = Y if ids else with_qid(Y, QID)
    assert audit_splits(splits, X, y, **ids).leaks == 0
    report = audit_splits(splits, X, y, **ids, groups=USER)
    shared = [sorted(set(USER[train]) & set(USER[test])) for train, test in splits]
    assert [sorted(found) for found in report.ids["leaking_groups"]] == shared
    assert report.leaks == sum(map(len, shared)) > 0
    assert report.table["leaking_groups"].tolist() == [len(users) for users in shared]
    assert not report.table["leaking"].any()
    assert "groups with rows both in train and in test" in str(report)
    message = "keep every query whole; got an iterable .*fold 0 has .* gr"
    with pytest.raises(ValueError, match=message):
        report.check()
    by_users = list(QueryKFold(3).split(X, groups=USER))
    assert audit_splits(by_users, X, y, **ids, groups=USER).leaks == 0
    of_queries = audit_splits(splits, X, y, qid=QID, groups=QID + 100)
    assert "leaking_groups" not in of_queries.table


@pytest.mark.parametrize(
    ("ids", "suffix"),
    [
        ({"qid": list("aabbc")}, ""),
        ({"qid": range(5), "groups": list("aabbc")}, "_groups"),
    ],
)
def test_an_iterable_that_drops_rows(ids, suffix):
    features = [[0]] * 5
    labels = [1, 0, 0, 1, 1]
    splits = [([0, 1], [2, 4])]
    report = audit_splits(iter(splits), features, labels, **ids)
    assert report.ids["leaking" + suffix][0].tolist() == []
    assert report.ids["cut" + suffix][0].tolist() == ["b"]
    assert report.leaks == 1
    unit = "group" if suffix else "query"
    message = rf"iterable of .*: fold 0 has 1 {unit} with only some of the rows used: b\. Use a s"
    with pytest.raises(ValueError, match=message):
        report.check()
    is_train = np.array([True, True, False, False, False])
    whole = audit_splits([(is_train, ~is_train)], features, labels, **ids)
    assert whole.leaks == 0


def test_many_leaks_are_counted_and_the_first_named():
    splits = [([0, 2, 4, 6], [1, 3, 5, 7])]
    report = audit_splits(splits, [[0]] * 8, [1, 0] * 4, qid=list("aabbccdd"))
    sentence = "LEAK: fold 0 has 4 queries with rows both in train and in test: a, b, c, ..."
    assert sentence in str(report)


@pytest.mark.parametrize("name", ["X", "y", "qid", "groups"])
def test_rows_out_of_step(name):
    rows = {
        "X": pd.DataFrame({"x": [0] * 4}),
        "y": pd.Series([1, 0, 1, 0]),
        "qid": pd.Series([1, 1, 2, 2]),
        "groups": pd.Series(list("uuvv")),
    }
    rows = {key: column.set_axis(list("abcd")) for key, column in rows.items()}
    assert audit_splits(KFold(2), **rows).leaks == 0
    rows[name] = rows[name][::-1]
    with pytest.raises(
        ValueError, match=r"must have the same index as .*; got the same labels in different orders"
    ):
        audit_splits(KFold(2), **rows)


@pytest.mark.parametrize(
    ("cv", "changes", "error", "message"),
    [
        (KFold(2), {"qid": None}, TypeError, "audit_splits needs the query id"),
        (KFold(2), {"qid": [1, 2]}, ValueError, "qid must have the same length as y; got 2 and 4"),
        (KFold(2), {"y": [0, 1]}, ValueError, "inconsistent numbers of samples"),
        (KFold(2), {"y": np.zeros((4, 2))}, ValueError, "y must be 1-D"),
        (KFold(2), {"y": [0, 1, np.nan, 0]}, ValueError, "y contains NaN, first at row 2"),
        ([], {}, ValueError, "cv must yield at least one pair"),
        (
            [([0], [])],
            {},
            ValueError,
            "cv must yield rows for both sides; got none for one side of fold 0",
        ),
        ([([0], ["a"])], {}, IndexError, "integer or boolean arrays are valid indices"),
        ([([0], [4])], {}, IndexError, "index 4 is out of bounds"),
        (
            QueryKFold(3),
            {"qid": [1, 1, 2, 2]},
            ValueError,
            "n_splits must be at most the number of queries",
        ),
    ],
)
def test_bad_input(cv, changes, error, message):
    given = {"X": [[0]] * 4, "y": [0, 1, 0, 1], "qid": [1, 1, 2, 2], **changes}
    with pytest.raises(error, match=message):
        audit_splits(cv, **given)


ALL_BUT_THE_LAST = np.append(QID[:-1], -1)
NAMES_OF_QUERIES = np.char.mod("q%d", QID)


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (np.column_stack([Y, QID, QID + 1]), ["1"]),
        (pd.DataFrame({"a": Y, "query": QID, "name": NAMES_OF_QUERIES}), ["query"]),
        (pa.table({"a": Y, "query": QID}), ["query"]),
        (np.column_stack([Y, ALL_BUT_THE_LAST]), []),
        (sparse.csr_matrix(QID[:, None]), []),
        (QID, []),
    ],
    ids=["array", "frame", "table", "all but the last row", "sparse", "no columns"],
)
def test_columns_that_hold_the_query_ids_are_named(rows, found):
    report = audit_splits(QueryKFold(3), rows, Y, qid=QID)
    assert report.id_columns == found
    text = " ".join(str(report).split())
    for name in found:
        assert f"Column {name} of X holds the query ids" in text
    assert ("holds the query ids" in text) == bool(found)


def test_a_column_of_strings_that_are_the_query_ids():
    names = NAMES_OF_QUERIES
    frame = pd.DataFrame({"x": Y, "name": names})
    assert audit_splits(QueryKFold(3), frame, Y, qid=names).id_columns == ["name"]
    assert audit_splits(QueryKFold(3), frame, Y, qid=QID).id_columns == []


def test_sides_of_splits_may_be_masks_and_are_kept_as_small_integers():
    is_train = np.array([True, True, False, True])
    splits = split_rows(check_cv([(is_train, ~is_train)]), None, np.zeros(4), groups=None, qid=None)
    [(train, test)] = splits
    assert train.tolist() == [0, 1, 3]
    assert test.tolist() == [2]
    assert train.dtype == test.dtype == np.int8


@pytest.mark.parametrize("n_queries", [9, 200])
def test_splitters_with_arrays_are_named_in_one_line(n_queries):
    qid = np.repeat(np.arange(n_queries), 2)
    cv = PredefinedQuerySplit(qid % 3)
    report = audit_splits(cv, np.zeros((len(qid), 1)), qid % 2, qid=qid)
    assert report.splitter.startswith("PredefinedQuerySplit(parts=array([0, 0, ")
    assert "\n" not in report.splitter
    assert "\\n" not in str(report)
    assert report.splitter.split() == str(cv).split()
