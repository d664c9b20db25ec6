"""Ids as numbers, with the means of their library: categories have codes, and strings are hashed once."""

from __future__ import annotations

import functools
import itertools
import sys
from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.integer[Any]]


def codes_of_library(ids: Any) -> Codes | None:
    """Numbers for ids of pandas, polars or pyarrow: different if the ids are, below 0 if missing. None for others."""
    for name, codes in (("pandas", _of_pandas), ("polars", _of_polars), ("pyarrow", _of_arrow)):
        library = sys.modules.get(name)  # no ids can come from a library that is not imported
        found = None if library is None else codes(ids, library)
        if found is not None:
            return found
    return None


def _of_pandas(ids: Any, pandas: Any) -> Codes | None:
    kinds = pandas.CategoricalDtype, pandas.StringDtype, pandas.DatetimeTZDtype
    known = pandas.Series, pandas.Index, pandas.api.extensions.ExtensionArray
    if not isinstance(ids, known) or not isinstance(ids.dtype, kinds):
        return None
    array = getattr(ids, "array", ids)
    if isinstance(ids.dtype, pandas.CategoricalDtype):
        codes: Codes = array.codes
        return codes
    return array.factorize()[0] if _tells_nul_apart() else None


@functools.cache
def _tells_nul_apart() -> bool:
    """Whether this version of pandas hashes strings beyond a NUL; older versions do not."""
    return len(sys.modules["pandas"].factorize(np.array(["a", "a\0"], dtype=object))[1]) == 2


def _of_polars(ids: Any, polars: Any) -> Codes | None:
    if not isinstance(ids, polars.Series) or ids.dtype not in (polars.String, polars.Categorical, polars.Enum):
        return None
    coded = ids.cast(polars.Categorical) if ids.dtype == polars.String else ids
    codes: Codes = coded.to_physical().cast(polars.Int64).fill_null(-1).to_numpy()
    return codes


def _of_arrow(ids: Any, pyarrow: Any) -> Codes | None:
    if not isinstance(ids, pyarrow.Array | pyarrow.ChunkedArray):
        return None
    strings = pyarrow.types.is_string(ids.type) or pyarrow.types.is_large_string(ids.type)
    if not strings and not pyarrow.types.is_dictionary(ids.type):
        return None
    array = ids.combine_chunks() if isinstance(ids, pyarrow.ChunkedArray) else ids
    codes: Codes = array.dictionary_encode().indices.fill_null(-1).to_numpy()
    return codes


def without_nulls(column: Any) -> tuple[Any, NDArray[np.bool_]]:
    """Values of a column that are not null, and a mask of those that are. Nulls would turn integers into floats."""
    pandas, polars, pyarrow = (sys.modules.get(name) for name in ("pandas", "polars", "pyarrow"))
    if pandas is not None and isinstance(column, pandas.Series | pandas.Index | pandas.api.extensions.ExtensionArray):
        # pandas has no isna of a MultiIndex, whose tuples may hold missing values but are none.
        nulls = np.zeros(len(column), bool) if isinstance(column, pandas.MultiIndex) else np.array(column.isna())
        return column[~nulls], nulls
    if polars is not None and isinstance(column, polars.Series):
        return column.drop_nulls(), np.array(column.is_null())
    if pyarrow is not None and isinstance(column, pyarrow.Array | pyarrow.ChunkedArray):
        if pyarrow.types.is_dictionary(column.type):  # may hold a null itself
            column = column.cast(column.type.value_type)
        return column.drop_null(), np.array(column.is_null())
    return column, np.zeros(np.shape(column)[:1], dtype=bool)


def codes_of_objects(ids: NDArray[Any]) -> Codes:
    """Equal numbers for objects or strings that are equal in Python; a TypeError if some cannot be hashed."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and _tells_nul_apart() and pandas.api.types.infer_dtype(ids, skipna=False) == "string":
        codes: Codes = pandas.factorize(ids)[0]  # the same for strings, in half the time
        return codes
    numbers: defaultdict[Any, int] = defaultdict(itertools.count().__next__)
    return np.fromiter(map(numbers.__getitem__, ids.tolist()), dtype=np.intp, count=len(ids))
