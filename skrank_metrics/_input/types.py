"""Types of what users pass in, for signatures. The checks at run time accept more forms than these can say."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from os import PathLike
from typing import IO, Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray


class SupportsArray(Protocol):
    """An array, or a column or frame of pandas, polars or pyarrow."""

    def __array__(self) -> NDArray[Any]: ...


class SupportsArrow(Protocol):
    """A table of pyarrow, polars or DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class SupportsFit(Protocol):
    """An estimator."""

    def fit(self, *args: Any, **kwargs: Any) -> Any: ...


class SupportsSplit(Protocol):
    """A splitter of scikit-learn or of this package."""

    def split(self, *args: Any, **kwargs: Any) -> Any: ...


class ListsOfTopics(Protocol):
    """What ``trec.read_qrels`` and ``trec.read_run`` return."""

    @property
    def n_topics(self) -> int: ...


class SparseMatrix(Protocol):
    """A sparse matrix of SciPy."""

    def tocsr(self, copy: bool = ...) -> Any: ...


# numpy.typing.ArrayLike also takes text and single numbers, which are mistakes here.
_Number: TypeAlias = float | np.number[Any] | np.bool_
Numbers: TypeAlias = (
    SupportsArray | Sequence[_Number] | Sequence[Sequence[_Number]] | Sequence[SupportsArray]
)
Booleans: TypeAlias = SupportsArray | Sequence[bool] | Sequence[Sequence[bool]]
# Ids, slices and groups: one entry per row, of any type.
Ids: TypeAlias = SupportsArray | Sequence[Hashable]
Slices: TypeAlias = Ids | SupportsArrow | Mapping[str, Ids]
# Columns of documents by name.
Columns: TypeAlias = SupportsArray | SupportsArrow | Mapping[str, SupportsArray | Sequence[Any]]
# What evaluate_run joins: dicts, frames, matrices, arrays of ids, files, and what reads TREC files.
Lists: TypeAlias = (
    Mapping[Any, Any]
    | SupportsArray
    | SupportsArrow
    | SparseMatrix
    | ListsOfTopics
    | str
    | PathLike[str]
    | IO[Any]
)
# Values by the ids of queries.
ByQueryId: TypeAlias = Mapping[Any, Any] | SupportsArray
Features: TypeAlias = SupportsArray | SupportsArrow | SparseMatrix | Sequence[Sequence[Any]]
Seed: TypeAlias = int | np.integer[Any] | np.random.Generator | np.random.RandomState | None
Order: TypeAlias = Literal["check", "shuffle"]  # of the rows of a query
Booster: TypeAlias = Literal["xgboost", "catboost"]
Splits: TypeAlias = int | SupportsSplit | Iterable[Any] | None
