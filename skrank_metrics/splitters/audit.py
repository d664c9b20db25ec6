"""Audit how any splitter treats queries."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv
from sklearn.utils import check_consistent_length

from skrank_metrics._input.arrays import Mask, check_label_column, count_rows
from skrank_metrics._input.columns import frame_columns
from skrank_metrics._input.grouping import Grouping
from skrank_metrics._input.query_ids import group_by_query
from skrank_metrics._input.types import Features, Ids, Numbers, Splits
from skrank_metrics._output.result import Column, Result, Section, Table, counted
from skrank_metrics.splitters._base import count_by_query, mask_at

_WHAT = {
    "leaking": "with rows both in train and in test",
    "cut": "with only some of the rows used",
}
_WAY_OUT = "Use a splitter that keeps them whole, such as QueryKFold."


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
        rows in the fold), and the same of groups, "leaking_groups" and "cut_groups".
    id_columns : list of str
        Columns of ``X``, by name or number, that hold the query ids, so that a model can learn single queries.
    """

    _index: ClassVar[str | None] = "fold"
    _display: ClassVar[str] = "SplitDisplay"

    splitter: str
    table: dict[str, NDArray[Any]]
    ids: dict[str, list[NDArray[Any]]]
    id_columns: list[str] = field(default_factory=list)

    @property
    def leaks(self) -> int:
        """Number of leaks of all kinds, summed over the folds."""
        return sum(len(found) for by_fold in self.ids.values() for found in by_fold)

    def check(self) -> None:
        """Raise a ValueError that names the first fold that has a leak, if there is any."""
        # The first line is the error.
        for line in self._lines_of_leaks():
            raise ValueError(
                f"cv must keep every query whole; got {self.splitter}: {line}. {_WAY_OUT}"
            )

    def _brief(self) -> str:
        return f"{counted(len(self.ids['leaking']), 'fold')}, {counted(self.leaks, 'leak')}"

    def _lines_of_leaks(self) -> Iterator[str]:
        """Ids that leak, by fold and kind, with the first three by name."""
        for fold in range(len(self.ids["leaking"])):
            for kind, by_fold in self.ids.items():
                ids = by_fold[fold]
                if not len(ids):
                    continue
                name, _, of_groups = kind.partition("_")
                found = counted(len(ids), "group" if of_groups else "query")
                names = ", ".join(map(str, ids[:3])) + ", ..." * (len(ids) > 3)
                yield f"fold {fold} has {found} {_WHAT[name]}: {names}"

    def _sections(self) -> list[Section]:
        # Shorter heads keep the table in one piece.
        heads = [name.removeprefix("share_").replace("_", " ") for name in self.table]
        columns = [Column(head, name=name) for head, name in zip(heads, self.table, strict=True)]
        rows = list(zip(range(len(self.ids["leaking"])), *self.table.values(), strict=True))
        table = Table(["fold", *columns], rows, wraps=True)
        findings = [
            f"Column {name} of X holds the query ids, which say nothing of other queries: leave it out."
            for name in self.id_columns
        ]
        leaks = [f"LEAK: {line}" for line in self._lines_of_leaks()]
        verdict = _WAY_OUT if leaks else "Nothing leaks: all queries are whole in every fold."
        return [self.splitter, table, *findings, *leaks, verdict]


def audit_splits(
    cv: Splits,
    X: Features | None,
    y: Numbers | None,
    *,
    qid: Ids | None = None,
    groups: Ids | None = None,
) -> SplitReport:
    """Find the queries and groups that a splitter cuts.

    Parameters
    ----------
    cv : cross-validation splitter, int, iterable of (train, test) or None
        As in GridSearchCV, where an int or None means KFold.
    X, y : array-like of shape (n_documents, n_features) and (n_documents,)
        Features, and relevance labels, which may carry the query ids, see with_qid.
    qid, groups : array-like of shape (n_documents,), default=None
        Query ids, and units to keep together, such as users, as in ``split`` of QueryKFold. Groups are audited, too.

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
    >>> from skrank_metrics.splitters import audit_splits
    >>> X, y, qid = [[0]] * 6, [1, 0, 0, 1, 0, 0], ["a", "a", "b", "b", "c", "c"]
    >>> audit_splits(KFold(2), X, y, qid=qid).table["leaking"]  # query "b" in both folds
    array([1, 1])
    """
    relevant = check_label_column(y) > 0
    n_rows = len(relevant)
    check_consistent_length(X, relevant)
    grouping = group_by_query(n_rows, "audit_splits", y=y, qid=qid, groups=groups, X=X)
    audited = {"": grouping}
    # Groups that are the queries would be audited twice.
    if groups is not None:
        units = group_by_query(n_rows, "audit_splits", groups=groups)
        if not np.array_equal(units.codes, grouping.codes):
            audited["_groups"] = units
    splitter = check_cv(cv)
    ids_of_rows = grouping.spread(grouping.ids)
    kept = ids_of_rows if groups is None else groups
    facts: dict[str, list[Any]] = {"queries": [], "documents": [], "share_relevant": []}
    leaks = []
    for fold, (train, test) in enumerate(split_rows(splitter, X, y, kept, ids_of_rows)):
        in_train = mask_at(train, n_rows)
        in_test = mask_at(test, n_rows)
        # Nothing leaks into an empty side, so the fold would look right.
        if not (in_train.any() and in_test.any()):
            raise ValueError(
                f"cv must yield rows for both sides; got none for one side of fold {fold}."
            )
        facts["queries"].append(np.count_nonzero(count_by_query(grouping, in_test)))
        facts["documents"].append(np.count_nonzero(in_test))
        facts["share_relevant"].append(relevant[in_test].mean())
        leaks.append(_leaks(audited, in_train, in_test))
    if not leaks:
        raise ValueError("cv must yield at least one pair of train and test; got none.")
    ids = {kind: [found[kind] for found in leaks] for kind in leaks[0]}
    table = {name: np.array(values) for name, values in facts.items()}
    for kind, by_fold in ids.items():
        table[kind] = np.array([len(found) for found in by_fold])
    id_columns = _columns_equal_to(ids_of_rows, X)
    return SplitReport(_text_of_splitter(splitter), table, ids, id_columns)


def _columns_equal_to(ids: NDArray[Any], X: Any) -> list[str]:
    """Names or numbers of the columns of a frame or array that hold the ids."""
    columns = frame_columns(X, "X")
    if isinstance(X, np.ndarray) and X.ndim == 2:
        columns = list(enumerate(X.T))
    found = []
    for name, column in columns:
        values = np.asarray(column)
        # Nearly all columns differ in the first rows, so that few are compared whole.
        if np.array_equal(values[:64], ids[:64]) and np.array_equal(values, ids):
            found.append(str(name))
    return found


def check_splits(splits: Any, cv: Any, X: Any, y: Any, *, qid: Any, groups: Any) -> None:
    """Raise an error that names the splitter if its splits cut a query or group."""
    report = audit_splits(splits, X, y, qid=qid, groups=groups)
    replace(report, splitter=_text_of_splitter(cv)).check()


def _text_of_splitter(cv: Any) -> str:
    # check_cv wraps an iterable in a splitter whose repr is not informative.
    if type(cv).__name__ == "_CVIterableWrapper":
        return "an iterable of (train, test)"
    return " ".join(str(cv).split())  # arrays of parameters take several lines


def split_rows(cv: Any, X: Any, y: Any, groups: Any, qid: Any) -> list[tuple[Any, Any]]:
    """Numbers of rows from a splitter, which gets the ids that it accepts."""
    taken = inspect.signature(cv.split).parameters
    ids = {name: value for name, value in {"groups": groups, "qid": qid}.items() if name in taken}
    # A side may be a mask, too. All folds are kept at once, so rows are of the smallest type.
    n_rows = count_rows(y if X is None else X)
    rows = np.arange(n_rows, dtype=np.min_scalar_type(-n_rows))
    with warnings.catch_warnings():
        # KFold warns if it gets groups; the report shows what follows from ignoring them.
        warnings.filterwarnings(
            "ignore", message="The groups parameter is ignored", category=UserWarning
        )
        return [(rows[train], rows[test]) for train, test in cv.split(X, y, **ids)]


def _leaks(audited: dict[str, Grouping], in_train: Mask, in_test: Mask) -> dict[str, NDArray[Any]]:
    """Ids that leak in a fold, by kind, for queries and for groups."""
    leaks = {}
    for suffix, units in audited.items():
        trained = count_by_query(units, in_train)
        tested = count_by_query(units, in_test)
        used = trained + tested
        is_leaking = (trained > 0) & (tested > 0)
        # A query of which no row is used, such as one in a gap, is not cut.
        is_cut = ~is_leaking & (used > 0) & (used < units.sizes)
        leaks[f"leaking{suffix}"] = units.ids[is_leaking]
        leaks[f"cut{suffix}"] = units.ids[is_cut]
    return leaks
