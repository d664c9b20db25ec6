"""Columns of frames: those of documents, for custom metrics, and what a column holds by its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skrank_metrics._input.arrays import (
    as_numpy,
    check_shape,
    refuse_lazy,
    refuse_masked,
    refuse_rounded,
    to_objects,
)
from skrank_metrics._input.parameters import nearest


def frame_columns(frame: Any, name: str) -> list[tuple[Any, Any]]:
    """Names and columns of a data frame or a dict, an argument of this name; empty for anything else."""
    # To ask a lazy frame itself for its columns may take long, and warns.
    if hasattr(type(frame), "columns"):
        refuse_lazy(frame, name)
    if hasattr(frame, "column_names"):  # of pyarrow
        return list(zip(frame.column_names, frame.columns, strict=True))
    if hasattr(frame, "get_columns"):  # of polars
        return [(column.name, column) for column in frame.get_columns()]
    if isinstance(frame, Mapping) or hasattr(frame, "columns"):
        return list(frame.items())
    return []


def document_columns(documents: Any) -> dict[str, Any]:
    """The columns of a dict or a frame, by name."""
    if documents is None:
        return {}
    columns = frame_columns(documents, "documents")
    if not columns and not isinstance(documents, Mapping):
        raise TypeError(
            f"documents must be a dict or a frame of columns; got {type(documents).__name__}."
        )
    return dict(columns)


def check_document_column(values: Any, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Check a column of documents, which may have any type."""
    name = f"documents[{name!r}]"
    refuse_masked(values, name)
    column = as_numpy(lists_as_objects(values) if len(shape) == 1 else values)
    # NumPy would cut strings, and merge others.
    if column.dtype.kind in "US" and not isinstance(values, np.ndarray):
        column = np.array(values, dtype=object)
    refuse_rounded(values, column, name)
    check_shape(column, name, shape, "y_true")
    return column


def lists_as_objects(values: Any) -> Any:
    """A list with a list per document as an array of these, since NumPy would make rows of them."""
    if not isinstance(values, list | tuple):
        return values
    if not any(issubclass(kind, list | tuple | np.ndarray) for kind in set(map(type, values))):
        return values
    return to_objects(values)


# Which column of a frame or a file holds queries, documents, labels, scores or ranks.

# Names that are recognized, in any case and without regard to "_", "-" and blanks.
USUAL = {
    "query": (
        *("query", "qid", "query_id", "topic", "topic_id"),
        *("user", "user_id", "customer_id", "era"),
    ),
    "document": (
        *("document", "document_id", "doc", "docno", "docid", "item", "item_id"),
        *("passage_id", "corpus_id", "movie_id", "article_id"),
    ),
    "label": ("label", "relevance", "rel", "rating", "grade"),
    "score": ("score", "prediction"),
    "rank": ("rank",),
}
# What belongs to queries. These names are recognized only to refuse a guess.
OF_QUERIES = {
    "weight": ("weight", "weights", "sample_weight"),
    "group": ("group", "groups", "group_id"),
    "slice": ("by", "slice", "slices"),
}
ColumnNames: TypeAlias = Mapping[str, str]  # by role
PAGE = "All files and shapes that are read are in docs/files.md."


def role_of(name: Any) -> str | None:
    """What a column with a usual name holds."""
    return _ROLES.get(_plain_name(name))


def _plain_name(name: Any) -> str:
    # userID, user_id and user-id are one name. RecBole writes user_id:token.
    name = str(name).lower().partition(":")[0]
    return str(name.replace("_", "").replace("-", "").replace(" ", ""))


_ROLES = {_plain_name(name): role for role, names in (USUAL | OF_QUERIES).items() for name in names}


def find_column(role: str, names: Sequence[Any], given: ColumnNames, holder: str) -> Any:
    """The column with a role; None if there is none."""
    if role in given:
        check_column_name(given[role], names, holder)
        return given[role]
    # A column that is named for another role has no second one.
    candidates = [name for name in names if role_of(name) == role and name not in given.values()]
    if len(candidates) > 1:
        raise ValueError(
            f"{holder} has several columns that could be the {role}: {', '.join(map(repr, candidates))}. "
            f"Choose one with columns={ {role: candidates[0]} }. {PAGE}"
        )
    return candidates[0] if candidates else None


def check_column_name(name: str, names: Sequence[Any], holder: str, way_out: str = "") -> None:
    """Refuse the name of no column, or of several ones."""
    times = list(names).count(name)
    if times == 1:
        return
    found = f"has {times} columns {name!r}"
    hint = ""
    if not times:
        found = f"has no column {name!r}{way_out}"
        hint = nearest(name, names)
    raise ValueError(f"{holder} {found}. Columns: {', '.join(map(repr, names[:20]))}.{hint} {PAGE}")
