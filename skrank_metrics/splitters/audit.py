"""Audit how any splitter treats queries."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv
from sklearn.utils import check_consistent_length

from skrank_metrics._input.arrays import IntArray, Mask, check_label_column
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.query_ids import group_by_query, ids_in_index
from skrank_metrics._input.types import Features, Ids, Numbers, Splits
from skrank_metrics._output.result import Part, Result, counted
from skrank_metrics._output.table import Column, Table
from skrank_metrics.splitters._base import check_times

_WHAT = {
    "leaking": "with rows both in train and in test",
    "cut": "with only some of the rows used",
    "from_future": "in train that are later than the first row in test",
}


@dataclass(frozen=True, repr=False, eq=False)
class SplitReport(Result):
    """The folds of a splitter, and the queries and groups that leak from its test parts; to_frame() gives ``table``.

    Attributes
    ----------
    splitter : str
        The splitter as text.
    table : dict of str to ndarray of shape (n_folds,)
        What the test part of each fold holds, and the number of leaks of each kind.
    ids : dict of str to list of ndarray
        Ids that leak, by kind and fold: "leaking" (with rows both in train and in test), "cut" (others with only some
        rows in the fold), the same of "_groups", and "from_future" (with rows in train later than the first in test).
    """

    _index: ClassVar[str | None] = "fold"
    _display: ClassVar[str] = "SplitDisplay"

    splitter: str
    table: dict[str, NDArray[Any]]
    ids: dict[str, list[NDArray[Any]]]

    @property
    def leaks(self) -> int:
        """Number of leaks of all kinds, summed over the folds."""
        return sum(len(found) for by_fold in self.ids.values() for found in by_fold)

    def check(self) -> None:
        """Raise a ValueError that names the first fold that has a leak, if there is any."""
        units = "query and group" if "leaking_groups" in self.ids else "query"
        past = " and train on the past only" * ("from_future" in self.ids)
        for line in self._lines_of_leaks():
            raise ValueError(
                f"cv must keep every {units} whole{past}; got {self.splitter}: {line}. {self._way_out()}"
            )

    def _brief(self) -> str:
        return f"{counted(len(self.ids['leaking']), 'fold')}, {counted(self.leaks, 'leak')}"

    def _lines_of_leaks(self) -> Iterator[str]:
        for fold in range(len(self.ids["leaking"])):
            for kind, by_fold in self.ids.items():
                if n_found := len(found := by_fold[fold]):
                    named = ", ".join(map(str, found[:3])) + ", ..." * (n_found > 3)
                    units = counted(n_found, "group" if kind.endswith("groups") else "query")
                    yield f"fold {fold} has {units} {_WHAT[kind.removesuffix('_groups')]}: {named}"

    def _way_out(self) -> str:
        if "from_future" in self.ids:
            return (
                "Use QueryTimeSeriesSplit(time=...), which tests each query on a model of its past."
            )
        units = "queries and groups" if "leaking_groups" in self.ids else "queries"
        return f"Use a splitter that keeps {units} whole, such as QueryKFold."

    def _parts(self) -> list[Part]:
        columns: list[str | Column] = [
            "fold",
            *(Column(name.replace("_", " "), name=name) for name in self.table),
        ]
        rows = [
            (fold, *values) for fold, values in enumerate(zip(*self.table.values(), strict=True))
        ]
        leaks = [f"LEAK: {line}" for line in self._lines_of_leaks()]
        whole = "query or group" if "leaking_groups" in self.ids else "query"
        past = ", and none in train is from the future" * ("from_future" in self.ids)
        verdict = (
            self._way_out() if leaks else f"No {whole} leaks: all are whole in every fold{past}."
        )
        return [self.splitter, Table(columns, rows), *leaks, verdict]


def audit_splits(
    cv: Splits,
    X: Features | None,
    y: Numbers | None,
    *,
    qid: Ids | None = None,
    groups: Ids | None = None,
    time: Ids | None = None,
) -> SplitReport:
    """Find the queries and groups that a splitter cuts, and queries of the future that it trains on.

    Parameters
    ----------
    cv : cross-validation splitter, int, iterable of (train, test) or None
        As in GridSearchCV, where an int or None means KFold.
    X, y : array-like of shape (n_documents, n_features) and (n_documents,)
        Features, and relevance labels, which may carry the query ids, see with_qid.
    qid, groups : array-like of shape (n_documents,), default=None
        Query ids, and units to keep together, such as users, as in ``split`` of QueryKFold. Groups are audited, too.
    time : array-like of shape (n_documents,), default=None
        Time of each row, dates or numbers, to find queries from the future.

    Returns
    -------
    report : SplitReport
        Counts ``leaks``; ``check()`` raises an error if there are any.

    Raises
    ------
    TypeError, ValueError, IndexError
        If there are no ids, something is invalid, lengths differ, or a side of a fold is empty.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> from skrank_metrics import audit_splits
    >>> X, y, qid = [[0]] * 6, [1, 0, 0, 1, 0, 0], ["a", "a", "b", "b", "c", "c"]
    >>> audit_splits(KFold(2), X, y, qid=qid).table["leaking"]  # query "b" in both folds
    array([1, 1])
    """
    relevant = check_label_column(y) > 0
    check_consistent_length(X, relevant)
    grouping = group_by_query(
        len(relevant), "audit_splits", y=y, qid=qid, groups=groups, X=X, time=time
    )
    times = None if time is None else check_times(time, len(relevant))
    audited = {"": grouping}
    if groups is not None and groups is not qid:
        units = group_by_query(len(relevant), "audit_splits", groups=groups)
        audited |= {} if np.array_equal(units.codes, grouping.codes) else {"_groups": units}
    found, folds, splitter = [], [], check_cv(cv)
    kept = next(ids for ids in (groups, qid, ids_in_index(y)) if ids is not None)
    for fold, (train, test) in enumerate(split_rows(splitter, X, y, kept, qid)):
        in_train, in_test = np.zeros((2, len(relevant)), dtype=bool)
        in_train[train], in_test[test] = True, True
        if not (in_train.any() and in_test.any()):
            raise ValueError(
                f"cv must yield rows for both sides; got none for one side of fold {fold}."
            )
        folds.append(_describe(_count(grouping, in_test), _count(grouping, in_test & relevant)))
        leaks = {}
        for of, units in audited.items():
            leaks["leaking" + of], leaks["cut" + of] = _leaking_and_cut(units, in_train, in_test)
        if times is not None:
            later = in_train & (times > times[in_test].min())
            leaks["from_future"] = grouping.ids[_count(grouping, later) > 0]
        found.append(leaks)
    if not folds:
        raise ValueError("cv must yield at least one pair of train and test; got none.")
    table = {column: np.array([fold[column] for fold in folds]) for column in folds[0]}
    table |= {kind: np.array([len(leaks[kind]) for leaks in found]) for kind in found[0]}
    return SplitReport(
        _text_of_splitter(splitter),
        table,
        {kind: [leaks[kind] for leaks in found] for kind in found[0]},
    )


def check_splits(splits: Any, cv: Any, X: Any, y: Any, *, qid: Any, groups: Any) -> None:
    """Raise an error that names the splitter if its splits cut a query or group."""
    replace(
        audit_splits(splits, X, y, qid=qid, groups=groups), splitter=_text_of_splitter(cv)
    ).check()


def _text_of_splitter(cv: Any) -> str:
    # check_cv wraps an iterable in a splitter whose repr is not informative.
    return "an iterable of (train, test)" if type(cv).__name__ == "_CVIterableWrapper" else str(cv)


def split_rows(cv: Any, X: Any, y: Any, groups: Any, qid: Any) -> list[tuple[Any, Any]]:
    """Split rows with a splitter of any kind, passing the ids that it accepts."""
    splitter = check_cv(cv)
    taken = inspect.signature(splitter.split).parameters
    ids = {name: value for name, value in {"groups": groups, "qid": qid}.items() if name in taken}
    with warnings.catch_warnings():
        # KFold warns if it gets groups; the report shows what follows from ignoring them.
        warnings.filterwarnings(
            "ignore", message="The groups parameter is ignored", category=UserWarning
        )
        return list(splitter.split(X, y, **ids))


def _count(grouping: Grouping, rows: Mask) -> IntArray:
    """Number of rows of each query among the chosen rows."""
    return np.bincount(grouping.codes[rows], minlength=len(grouping.ids))


def _leaking_and_cut(
    units: Grouping, in_train: Mask, in_test: Mask
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Ids of the units with rows on both sides, and of those with only some rows on one side."""
    trained, tested = _count(units, in_train), _count(units, in_test)
    both, used = (trained > 0) & (tested > 0), trained + tested
    return units.ids[both], units.ids[~both & (used > 0) & (used < units.sizes)]


def _describe(documents: IntArray, relevant: IntArray) -> dict[str, Any]:
    """Describe a test part, given the numbers of documents and of relevant ones of each query in it."""
    present = documents > 0
    return {
        "queries": present.sum(),
        "documents": documents.sum(),
        "share_relevant": relevant.sum() / documents.sum(),
        "share_without_relevant": (relevant[present] == 0).mean(),
        "single_document": (documents == 1).sum(),
    }
