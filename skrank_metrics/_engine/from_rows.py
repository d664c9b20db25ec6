"""Documents and rankings from rows: 1-D with query ids in any order, or 2-D with one query per row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skrank_metrics._engine.documents import Documents, Queries
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._input.arrays import (
    FloatArray,
    check_document_column,
    check_labels,
    check_mask,
    check_scores,
    check_weights,
    document_columns,
    to_array,
    to_judged_labels,
)
from skrank_metrics._input.grouping import Grouping, query_weights
from skrank_metrics._input.query_ids import (
    carried,
    carried_documents,
    check_aligned,
    check_documents_aligned,
    group_by_query,
    ids_in_index,
    named_columns,
    row_labels,
)
from skrank_metrics._input.slices import slice_of_query


def documents_from_rows(
    y_true: Any,
    *,
    qid: Any = None,
    ids_as_groups: Any = None,
    sample_weight: Any = None,
    judged: Any = None,
    condense: bool = False,
    documents: Any = None,
    by: Any = None,
    groups: Any = None,
    X: Any = None,
    beside: Mapping[str, Any] | None = None,
    caller: str = "A 1-D y_true",
    hint: str = "",
) -> Documents:
    """Validate labels and what belongs to them, and group them by query.

    ``documents`` are columns for custom metrics, by name: a dict or a frame of arrays of any type, of the shape of
    y_true. ``ids_as_groups`` are query ids that scikit-learn passed as groups, used if there are no others. ``beside``
    holds further columns of the rows, such as scores, whose indexes must agree with the others. It is ``per_query``
    that raises an error for a metric whose columns are missing, or that needs labels >= 0.
    """
    given = to_array(y_true, "y_true")
    rows = carried(y_true, sample_weight=sample_weight, judged=judged)
    if condense and rows["judged"] is None:
        raise ValueError("condense=True requires judged=.")
    mask = None if rows["judged"] is None else check_mask(rows["judged"], "judged", given.shape)
    labels = to_judged_labels(given, mask)
    negative = check_labels(labels, may_be_negative=mask is None)
    if labels.ndim == 2 and (qid is not None or ids_in_index(y_true) is not None):
        raise ValueError(
            f"Leave out qid if y_true is 2-D, since each row is a query; got y_true of shape {labels.shape}."
        )
    columns = carried_documents(y_true, document_columns(documents))
    aligned = named_columns(**(beside or {}), **rows, documents=columns)
    columns = {
        name: check_document_column(column, name, labels.shape).ravel()
        for name, column in columns.items()
    }
    if labels.ndim == 2:
        check_aligned(y_true=y_true, **aligned)
        check_documents_aligned(y_true=y_true, **aligned)
        grouping = _rows_as_queries(labels.shape)
    else:
        grouping = group_by_query(
            len(labels),
            caller,
            y=y_true,
            qid=qid,
            groups=ids_as_groups,
            rows_of="y_true",
            hint=hint,
            X=X,
            **aligned,
        )
    weights = _weights(labels.shape, grouping, rows["sample_weight"])
    labelled = y_true
    units = grouping
    if labels.ndim == 2:  # slices and groups have one value per query
        units = Grouping(grouping.ids, np.ones_like(grouping.sizes), None)
    else:
        labelled = _labelled([y_true, *named_columns(**(beside or {})).values(), qid])
    slices = None if by is None else slice_of_query(by, units, y_true=labelled)
    dependent = (
        None if groups is None else slice_of_query(groups, units, y_true=labelled, name="groups")
    )
    return Documents(
        grouping,
        grouping.sort(labels.ravel()),
        Queries(grouping.ids, weights, slices, dependent),
        judged=None if mask is None else grouping.sort(mask.ravel()),
        condense=condense,
        columns={name: grouping.sort(column) for name, column in columns.items()},
        label_type=given.dtype.type if given.dtype.kind == "f" else np.float64,
        negative=negative,
        shape=labels.shape,
        row_labels=None if labels.ndim == 2 else row_labels(labelled),
    )


def rank_rows(
    documents: Documents, y_score: Any, *, retrieved: Any = None, name: str = "y_score"
) -> Ranking:
    """Rank documents by scores of their rows, in the order in which the rows were given."""
    shape = documents.shape or (documents.n_documents,)
    mask = None if retrieved is None else check_mask(retrieved, "retrieved", shape)
    scores = check_scores(y_score, shape, mask, name)
    sort = documents.grouping.sort
    return Ranking(documents, sort(scores.ravel()), None if mask is None else sort(mask.ravel()))


def ranking_from_rows(
    y_true: Any,
    y_score: Any,
    *,
    qid: Any = None,
    sample_weight: Any = None,
    retrieved: Any = None,
    judged: Any = None,
    documents: Any = None,
) -> Ranking:
    """One ranking of rows, without slices."""
    retrieved = carried(y_true, retrieved=retrieved)["retrieved"]
    truth = documents_from_rows(
        y_true,
        qid=qid,
        sample_weight=sample_weight,
        judged=judged,
        documents=documents,
        beside={"y_score": y_score, "retrieved": retrieved},
    )
    return rank_rows(truth, y_score, retrieved=retrieved)


def _rows_as_queries(shape: tuple[int, ...]) -> Grouping:
    """One query per row of a rectangle."""
    n_queries, n_documents = shape
    sizes = np.full(n_queries, n_documents, dtype=np.intp)
    return Grouping(np.arange(n_queries), sizes, None)


def _weights(shape: tuple[int, ...], grouping: Grouping, sample_weight: Any) -> FloatArray | None:
    if sample_weight is None:
        return None
    if len(shape) == 2:
        return check_weights(sample_weight, shape[0], "query").copy()  # a report keeps them
    return query_weights(sample_weight, grouping)


def _labelled(columns: Sequence[Any]) -> Any:
    """The first column that has an index; the first of all if none has one."""
    return next((column for column in columns if row_labels(column) is not None), columns[0])
