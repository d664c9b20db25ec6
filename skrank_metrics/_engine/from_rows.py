"""Documents and rankings from rows: 1-D with query ids in any order, or 2-D with one query per row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._engine.documents import Documents, Queries, compact
from skrank_metrics._engine.ranking import Ranking
from skrank_metrics._input.arrays import (
    check_labels,
    check_mask,
    check_scores,
    to_array,
    to_judged_labels,
)
from skrank_metrics._input.columns import check_document_column, document_columns
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
    mask = rows["judged"]
    if mask is not None:
        mask = check_mask(mask, "judged", given.shape)
    elif condense:
        raise ValueError("condense=True requires judged=.")
    labels = to_judged_labels(given, mask)
    # Beside a mask, the ranking marks unjudged documents by -1, so no label may be negative.
    negative = check_labels(labels, may_be_negative=mask is None)
    columns = carried_documents(y_true, document_columns(documents))
    further = named_columns(**(beside or {}))
    aligned = {**rows, **further, **named_columns(documents=columns)}
    if labels.ndim == 2:
        grouping = _rows_as_queries(y_true, labels.shape, qid, aligned)
        # Weights, slices and groups have one value per query.
        units, labelled = Grouping(grouping.ids, np.ones_like(grouping.sizes), None), y_true
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
        units = grouping
        sources = [y_true, *aligned.values(), qid]
        labelled = next((column for column in sources if row_labels(column) is not None), y_true)
    weights = rows["sample_weight"]
    queries = Queries(
        grouping.ids,
        None if weights is None else query_weights(weights, units),
        _value_per_query(by, units, labelled, "by"),
        _value_per_query(groups, units, labelled, "groups"),
    )
    return Documents(
        grouping,
        grouping.sort(compact(labels.ravel())),
        queries,
        judged=None if mask is None else grouping.sort(mask.ravel()),
        condense=condense,
        columns={
            name: grouping.sort(check_document_column(column, name, labels.shape).ravel())
            for name, column in columns.items()
        },
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


def _rows_as_queries(
    y_true: Any, shape: tuple[int, ...], qid: Any, aligned: Mapping[str, Any]
) -> Grouping:
    """One query per row of a rectangle."""
    if qid is not None or ids_in_index(y_true) is not None:
        raise ValueError(
            f"Leave out qid if y_true is 2-D, since each row is a query; got y_true of shape {shape}."
        )
    check_aligned(y_true=y_true, **aligned)
    check_documents_aligned(y_true=y_true, **aligned)
    n_queries, n_documents = shape
    return Grouping(np.arange(n_queries), np.full(n_queries, n_documents, dtype=np.intp), None)


def _value_per_query(given: Any, units: Grouping, labelled: Any, name: str) -> NDArray[Any] | None:
    return None if given is None else slice_of_query(given, units, y_true=labelled, name=name)
