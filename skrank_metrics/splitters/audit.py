"""What a splitter of any kind does to queries."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv
from sklearn.utils import check_consistent_length

from skrank_metrics._input.arrays import IntArray, Mask, check_label_column
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.query_ids import query_ids

# Of each fold, this many of the queries that leak are named.
NAMED_LEAKS = 3
WAY_OUT = "Use a splitter that keeps queries whole, such as QueryKFold."


@dataclass(frozen=True, repr=False, eq=False)
class SplitReport:
    """The folds of a splitter, and the queries that it cuts.

    Attributes
    ----------
    splitter : str
        The splitter, as it prints.
    table : dict of str to ndarray of shape (n_folds,)
        Of the test part of each fold: "queries", "documents", "share_relevant" (of rows), "share_without_relevant" (of
        queries), "single_document" (queries); then, of the fold, "leaking" (queries with rows both in train and in
        test) and "cut" (other queries with only some of their rows in the fold).
    leaking : list of ndarray
        Ids of the queries with rows both in train and in test, one array a fold.
    cut : list of ndarray
        Ids of the other queries of which only some rows are in the fold, one array a fold.
    """

    splitter: str
    table: dict[str, NDArray[Any]]
    leaking: list[NDArray[Any]]
    cut: list[NDArray[Any]]

    @property
    def leaks(self) -> int:
        """Number of times that a query leaks from train to test, or is cut, over all folds."""
        return int(self.table["leaking"].sum() + self.table["cut"].sum())

    def check(self) -> None:
        """Refuse folds that leak.

        Raises
        ------
        ValueError
            Where a query has rows both in train and in test of a fold, or is cut otherwise; the first is named.
        """
        for line in self._lines_of_leaks():
            raise ValueError(f"cv must keep every query whole; got {self.splitter}: {line}. {WAY_OUT}")

    def to_frame(self) -> Any:
        """Put the folds into a table.

        Returns
        -------
        frame : pandas.DataFrame of shape (n_folds, 7)
            The columns of ``table``, one row a fold.

        Raises
        ------
        ImportError
            Where pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError("to_frame needs pandas (pip install pandas); table holds the same.") from None
        return pd.DataFrame(self.table).rename_axis("fold")

    def _lines_of_leaks(self) -> Iterator[str]:
        ways = ((self.leaking, "with rows both in train and in test"), (self.cut, "with only some of the rows used"))
        for fold in range(len(self.leaking)):
            for ids, what in ways:
                found = ids[fold]
                if len(found):
                    named = ", ".join(map(str, found[:NAMED_LEAKS])) + (", ..." if len(found) > NAMED_LEAKS else "")
                    count = "1 query" if len(found) == 1 else f"{len(found)} queries"
                    yield f"fold {fold} has {count} {what}: {named}"

    def __str__(self) -> str:
        heads = ["fold", *(name.replace("_", " ") for name in self.table)]
        rows = [
            [str(fold), *(f"{value:.4f}" if isinstance(value, np.floating) else str(value) for value in values)]
            for fold, values in enumerate(zip(*self.table.values(), strict=True))
        ]
        lines = [
            self.splitter,
            *("  ".join(c.rjust(len(h)) for c, h in zip(r, heads, strict=True)) for r in [heads, *rows]),
        ]
        leaks = [f"LEAK: {line}" for line in self._lines_of_leaks()]
        return "\n".join([*lines, *leaks, WAY_OUT if leaks else "No query leaks: all are whole in every fold."])

    __repr__ = __str__


def audit_splits(cv: Any, X: Any, y: Any, *, qid: Any = None, groups: Any = None) -> SplitReport:
    """Look at what a splitter of any kind does to queries.

    Nothing in scikit-learn says so where a splitter cuts queries: a model is then tested on queries that it was trained
    on, and on lists that are shorter than they will be.

    Parameters
    ----------
    cv : cross-validation splitter, int, iterable of (train, test) or None
        What GridSearchCV takes as ``cv``; an int or None is KFold, as there.
    X : array-like of shape (n_documents, n_features)
        Passed on to the splitter.
    y : array-like of shape (n_documents,)
        Relevance labels, finite and >= 0; above 0 is relevant. May carry the query ids in an index level named "qid".
    qid : array-like of shape (n_documents,), default=None
        Query ids; where missing, ``groups`` and then the index of ``y`` are taken, in the order in which scorers do.
    groups : array-like of shape (n_documents,), default=None
        Passed on to the splitter as the unit to keep together; None means the query ids.

    Returns
    -------
    report : SplitReport
        Prints as a table by fold with a line for every leak; ``report.leaks`` counts them and ``report.check()`` raises
        where there are any.

    Raises
    ------
    TypeError
        Where the query ids are missing or an argument is of the wrong type.
    ValueError
        Where labels or ids are not valid, lengths differ, or a side of a fold is empty or has rows that do not exist.

    Examples
    --------
    KFold cuts query "b" in the middle:

    >>> from sklearn.model_selection import KFold
    >>> from skrank_metrics import audit_splits
    >>> X, y, qid = [[0]] * 6, [1, 0, 0, 1, 0, 0], ["a", "a", "b", "b", "c", "c"]
    >>> report = audit_splits(KFold(2), X, y, qid=qid)
    >>> print(report)
    KFold(n_splits=2, random_state=None, shuffle=False)
    fold  queries  documents  share relevant  share without relevant  single document  leaking  cut
       0        2          3          0.3333                  0.5000                1        1    0
       1        2          3          0.3333                  0.5000                1        1    0
    LEAK: fold 0 has 1 query with rows both in train and in test: b
    LEAK: fold 1 has 1 query with rows both in train and in test: b
    Use a splitter that keeps queries whole, such as QueryKFold.
    >>> report.leaks
    2
    """
    relevant = check_label_column(y) > 0
    check_consistent_length(X, relevant)
    grouping = query_ids(len(relevant), "audit_splits", y=y, qid=qid, groups=groups, X=X)
    splitter = check_cv(cv)
    folds, leaking, cut = [], [], []
    units = grouping.ids[grouping.codes] if groups is None else groups
    for fold, (train, test) in enumerate(split_rows(splitter, X, y, units, qid)):
        in_train = _rows(train, len(relevant), f"the training part of fold {fold}")
        in_test = _rows(test, len(relevant), f"the test part of fold {fold}")
        both, partial = _cut_queries(grouping, in_train, in_test)
        leaking.append(grouping.ids[both])
        cut.append(grouping.ids[partial])
        folds.append({**_describe(grouping, in_test, relevant), "leaking": both.sum(), "cut": partial.sum()})
    if not folds:
        raise ValueError("cv must give at least one pair of train and test; got none.")
    # check_cv makes a splitter of an iterable, whose text says nothing.
    spelled = str(splitter) if hasattr(cv, "split") or not np.iterable(cv) else "an iterable of (train, test)"
    table = {column: np.array([fold[column] for fold in folds]) for column in folds[0]}
    return SplitReport(spelled, table, leaking, cut)


def split_rows(cv: Any, X: Any, y: Any, groups: Any, qid: Any) -> Iterator[tuple[Any, Any]]:
    """Rows of each fold of a splitter of any kind, with the ids that it takes."""
    splitter = check_cv(cv)
    given = {"groups": groups, "qid": qid}
    taken = inspect.signature(splitter.split).parameters
    with warnings.catch_warnings():
        # KFold says so where it gets groups; that it ignores them is what the report shows.
        warnings.filterwarnings("ignore", message="The groups parameter is ignored", category=UserWarning)
        pairs = list(splitter.split(X, y, **{name: value for name, value in given.items() if name in taken}))
    yield from pairs


def _rows(rows: Any, n_rows: int, what: str) -> Mask:
    mask = np.zeros(n_rows, dtype=bool)
    numbers = np.asarray(rows)
    valid = numbers.shape == (n_rows,) if numbers.dtype.kind == "b" else numbers.dtype.kind in "iu"
    if numbers.ndim != 1 or not numbers.size or not valid:
        raise ValueError(f"cv must give row numbers, one at least; got {rows!r} as {what}.")
    if numbers.dtype.kind != "b" and not -n_rows <= numbers.min() <= numbers.max() < n_rows:
        raise ValueError(f"cv must give rows below {n_rows}; got {numbers.max()} in {what}.")
    mask[numbers] = True
    return mask


def _cut_queries(grouping: Grouping, in_train: Mask, in_test: Mask) -> tuple[Mask, Mask]:
    """Queries on both sides, and those of which only some rows are in the fold."""
    trained, tested = _count(grouping, in_train), _count(grouping, in_test)
    used = _count(grouping, in_train | in_test)
    both = (trained > 0) & (tested > 0)
    return both, ~both & (used > 0) & (used < grouping.sizes)


def _describe(grouping: Grouping, in_test: Mask, relevant: Mask) -> dict[str, Any]:
    documents, hits = _count(grouping, in_test), _count(grouping, in_test & relevant)
    present = documents > 0
    return {
        "queries": present.sum(),
        "documents": documents.sum(),
        "share_relevant": hits.sum() / documents.sum(),
        "share_without_relevant": (hits[present] == 0).mean(),
        "single_document": (documents == 1).sum(),
    }


def _count(grouping: Grouping, rows: Mask) -> IntArray:
    return np.bincount(grouping.codes[rows], minlength=len(grouping.ids))
