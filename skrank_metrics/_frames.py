"""Tables of pandas or polars, which are imported only where one is asked for."""

from __future__ import annotations

import importlib
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from skrank_metrics._validation import check_choice

LIBRARIES = ("pandas", "polars")


class Framed:
    """What can be put into a table; subclasses say what is in it."""

    _index: ClassVar[str | None] = None  # the column that is the index of a pandas.DataFrame
    _same_as: ClassVar[str]  # the attribute that holds the same

    @abstractmethod
    def _columns(self) -> Mapping[str, Any]:
        """Columns of the table by name."""

    def to_frame(self, library: str = "pandas") -> Any:
        """Put the values into a table.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
            Of which library.

        Returns
        -------
        frame : DataFrame
            What the class says.

        Raises
        ------
        ImportError
            Where the library is not installed.
        """
        check_choice(library, "library", LIBRARIES)
        try:
            module = importlib.import_module(library)
        except ImportError:
            message = f"to_frame needs {library} (pip install {library}); {self._same_as} holds the same."
            raise ImportError(message) from None
        table = module.DataFrame(dict(self._columns()))
        return table if library == "polars" or self._index is None else table.set_index(self._index)


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Turn rows with the same names into columns."""
    return {name: [row[name] for row in rows] for name in rows[0]}
