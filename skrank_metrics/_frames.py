"""Tables of pandas or polars, which are imported only where one is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from skrank_metrics._validation import check_choice

LIBRARIES = ("pandas", "polars")


def frame(columns: Mapping[str, Any], library: str, *, index: str | None, instead: str) -> Any:
    """Give the columns as a table, the one called ``index`` as the index of a pandas.DataFrame."""
    check_choice(library, "library", LIBRARIES)
    try:
        module = importlib.import_module(library)
    except ImportError:
        raise ImportError(f"to_frame needs {library} (pip install {library}); {instead} holds the same.") from None
    table = module.DataFrame(dict(columns))
    return table if library == "polars" or index is None else table.set_index(index)


def frame_of_rows(rows: Sequence[Mapping[str, Any]], library: str, *, instead: str) -> Any:
    """Give rows with the same names as a table."""
    return frame({name: [row[name] for row in rows] for name in rows[0]}, library, index=None, instead=instead)
