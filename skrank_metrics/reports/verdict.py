"""What a comparison says: rankings from best to worst, letters for those that cannot be separated, and a verdict."""

from __future__ import annotations

import math
import string
from collections.abc import Mapping, Sequence

import numpy as np

from skrank_metrics._input.arrays import Mask
from skrank_metrics._output.result import counted

# More names than this are counted, not listed.
MOST_NAMED = 4


def best_first(means: Mapping[str, float], *, greater_is_better: bool) -> list[str]:
    """Names sorted by mean, best first; those without a mean last."""
    sign = -1 if greater_is_better else 1
    return sorted(means, key=lambda name: (math.isnan(means[name]), sign * means[name]))


def letters(names: Sequence[str], different: Mask) -> dict[str, str]:
    """Letters by name: two names share a letter if and only if they are not significantly different.

    A compact letter display (Piepho 2004, https://doi.org/10.1198/1061860043515) as a greedy cover of the pairs that are
    not different by cliques (Gramm et al. 2007), whose work is bounded: each pair starts at most one letter.

    Parameters
    ----------
    names : sequence of str
        Names, best first.
    different : ndarray of bool of shape (n_names, n_names)
        Whether two names are significantly different.
    """
    found = dict.fromkeys(names, "")
    alike = ~different
    np.fill_diagonal(alike, True)
    open_ = np.triu(alike)  # pairs that do not share a letter yet
    n_letters = 0
    for i, j in zip(*np.nonzero(open_), strict=True):
        if not open_[i, j] or (i == j and found[names[i]]):
            continue
        if i == j and alike[i].sum() > 1:
            continue  # a pair of this name with another one follows, and gives it a letter
        clique = [i] if i == j else [i, j]
        candidates = alike[clique].all(axis=0)
        candidates[clique] = False
        while candidates.any():
            clique.append(int(np.argmax(candidates)))
            candidates &= alike[clique[-1]]
            candidates[clique[-1]] = False
        open_[np.ix_(sorted(clique), sorted(clique))] = False
        for place in clique:
            found[names[place]] += _letter(n_letters)
        n_letters += 1
    return found


def _letter(number: int) -> str:
    """The alphabet in both cases, then numbers."""
    return string.ascii_letters[number] if number < len(string.ascii_letters) else f"({number + 1})"


def verdict(names: Sequence[str], best_set: Sequence[str], n_queries: int, confidence: float) -> str:
    """Which rankings may be the best, and which are worse; names are best first."""
    worse = [name for name in names if name not in best_set]
    if not worse:
        apart = f"{names[0]} from {names[1]}" if len(names) == 2 else f"{_some(names, 'and')} apart"
        return f"{counted(n_queries, 'query')} cannot tell {apart}."
    level = f"With {100 * confidence:g}% confidence,"
    if len(best_set) == 1:
        return f"{level} {best_set[0]} is best."
    rest = f"{_some(worse, 'and')} {'is' if len(worse) == 1 else 'are'} worse"
    return f"{level} the best is {_some(best_set, 'or')}; {names[0]} leads. {rest}."


def release(names: Sequence[str], regret: Mapping[str, float], margin: float, confidence: float) -> str:
    """Which rankings lose at most the margin against the best."""
    good = [name for name in names if regret[name] <= margin]
    level = f"With {100 * confidence:g}% confidence,"
    if not good:
        return f"Do not ship yet: no ranking is known to be within {margin:g} of the best."
    if regret[good[0]] == 0:
        return f"Ship {good[0]}. {level} it is best."
    each = "it loses" if len(good) == 1 else "each loses"
    return f"Ship {_some(good, 'or')}. {level} {each} at most {margin:g} against the best."


def against(baseline: str, verdicts: Mapping[str, str], margin: float | None, confidence: float) -> str:
    """How rankings compare with the baseline, from the verdict of each."""
    within = f" by more than {margin:g}" if margin else ""
    phrases = {
        "better": "better than {}",
        "not worse": "not worse than {}" + within,
        "worse": "worse than {}",
    }
    found = []
    for status, phrase in phrases.items():
        if some := [name for name, own in verdicts.items() if own == status]:
            found.append(f"{_some(some, 'and')} {'is' if len(some) == 1 else 'are'} {phrase.format(baseline)}")
    sentences = [f"With {100 * confidence:g}% confidence, {listed(found)}."] if found else []
    if some := [name for name, own in verdicts.items() if own == "undecided"]:
        sentences.append(f"Undecided: {_some(some, 'and')} against {baseline}.")
    if margin is not None:
        good = [name for name, own in verdicts.items() if own in ("better", "not worse")]
        sentences.insert(0, f"Ship {_some(good, 'or')}." if good else "Do not ship.")
    return " ".join(sentences)


def _some(names: Sequence[str], word: str) -> str:
    """Names in a sentence; only the first ones and the number of the others if there are many."""
    if len(names) <= MOST_NAMED:
        return listed(names, word)
    return listed([*names[: MOST_NAMED - 1], f"{len(names) - MOST_NAMED + 1} others"], word)


def listed(names: Sequence[str], word: str = "and") -> str:
    """Names in a sentence: "a", "a and b", "a, b and c"."""
    *front, last = names
    return f"{', '.join(front)} {word} {last}" if front else last
