"""Columns of documents, for custom metrics, and of other frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
