"""Compact letter displays: rankings that share a letter are not significantly different."""

from __future__ import annotations

import string

import numpy as np

from skrank_metrics._input.arrays import Mask


def letters(different: Mask) -> list[str]:
    """Letters of items, of which two share one if and only if they are not different.

    A compact letter display (Piepho 2004, https://doi.org/10.1198/1061860043515). Each letter is a clique of items that
    are not different, found greedily (Gramm et al. 2007), so that the work is bounded by the number of pairs.
    """
    texts = [""] * len(different)
    for number, clique in enumerate(_cliques(different)):
        for item in clique:
            texts[item] += _letter(number)
    return texts


def _letter(number: int) -> str:
    """The letter with a number, or beyond the alphabet the number in parentheses."""
    if number < len(string.ascii_letters):
        return string.ascii_letters[number]
    return f"({number + 1})"


def _cliques(different: Mask) -> list[list[int]]:
    """Sets of items that are not different, in order, which together cover all pairs that are not."""
    alike = ~different
    np.fill_diagonal(alike, val=False)
    cliques = [[int(item)] for item in np.flatnonzero(~alike.any(axis=0))]
    # Each pair that is not different needs a letter of its own, unless an earlier one has covered it.
    uncovered = alike.copy()
    while uncovered.any():
        clique = np.argwhere(uncovered)[0].tolist()
        candidates = alike[clique].all(axis=0)
        # Those are added first that cover most pairs.
        while candidates.any():
            gain = uncovered[clique].sum(axis=0)
            clique.append(int(np.argmax(np.where(candidates, gain, -1))))
            candidates &= alike[clique[-1]]
        uncovered[np.ix_(clique, clique)] = False
        cliques.append(sorted(clique))
    return sorted(cliques)
