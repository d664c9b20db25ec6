"""Lists of different lengths as rows of rectangles, which NumPy handles at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from skrank_metrics._input.arrays import IntArray

T = TypeVar("T", bound=np.generic)

# A block of 512 KiB and its temporaries stay in the caches. For small inputs, a block has an eighth of all cells, so
# that temporaries are smaller than the input.
BLOCK_CELLS, LEAST_BLOCK_CELLS = 65_536, 2_048
# glibc keeps freed memory, up to twice the largest block that it ever returned to the system. Thanks to this block,
# which is never touched, the next call reuses the pages of the temporaries of the previous one.
np.empty(2**23, dtype=np.uint8)


def largest_block(n_documents: int) -> int:
    """Largest number of cells of a block of several lists."""
    return min(BLOCK_CELLS, max(LEAST_BLOCK_CELLS, n_documents // 8))


def blocks_of_queries(sizes: IntArray, block_cells: int) -> Iterator[IntArray]:
    """Yield the numbers of lists of similar length, each list once."""
    by_size = np.argsort(sizes, kind="stable")
    sizes = np.maximum(sizes[by_size], 1)
    first = 0
    while first < len(sizes):
        longer = sizes[first : first + block_cells // int(sizes[first])]
        n_cells = longer * np.arange(1, len(longer) + 1)
        n_lists = max(1, int(np.searchsorted(n_cells, block_cells, side="right")))
        yield by_size[first : first + n_lists]
        first += n_lists


def windows(values: NDArray[T], starts: IntArray, sizes: IntArray, fill: float) -> NDArray[T]:
    """Ranges of an array as rows of a rectangle, with ``fill`` after the last entry; read-only if nothing is copied."""
    width = max(1, int(sizes.max()))
    shortest, first = int(sizes.min()), int(starts[0])
    # Lists of the same length are in the order in which they were given, so these are adjacent.
    if shortest == width and starts[-1] == first + (len(starts) - 1) * width:
        rectangle = values[first : first + len(starts) * width].reshape(-1, width)
        # It shares memory with the array, which code that works on a block must not change.
        rectangle.flags.writeable = False
        return rectangle
    if width > len(values):
        return np.full((len(sizes), width), fill, dtype=values.dtype)
    # Copying rows of a strided view takes a third of the time of indexing each cell.
    last = len(values) - width
    view = as_strided(values, (last + 1, width), values.strides * 2, writeable=False)
    rows: NDArray[T] = view[np.minimum(starts, last)]
    for row in np.flatnonzero(starts > last):
        rows[row, : sizes[row]] = values[starts[row] : starts[row] + sizes[row]]
    is_padding = np.arange(shortest, width) >= sizes[:, None]
    rows[:, shortest:][is_padding] = fill
    return rows
