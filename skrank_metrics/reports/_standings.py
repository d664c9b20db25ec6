"""Models from best to worst, letters for those that cannot be separated, and a verdict on what to ship."""

from __future__ import annotations

import math
import string
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

Pairs = Iterable[tuple[str, str]]

LETTERS = "Letters: models that share one are not significantly different."
# More names than this are counted, not listed.
MOST_NAMED = 4


def best_first(means: Mapping[str, float], *, greater_is_better: bool) -> list[str]:
    """Names sorted by mean, best first; those without a mean last."""
    sign = -1 if greater_is_better else 1
    return sorted(means, key=lambda name: (math.isnan(means[name]), sign * means[name]))


def letters(names: Sequence[str], different: Pairs) -> dict[str, str]:
    """Letters by name: two names share a letter if and only if they are not significantly different.

    The compact letter display by insert-and-absorb (Piepho 2004, https://doi.org/10.1198/1061860043515). Names with an
    "a" are not significantly different from the first.
    """
    groups = [frozenset(names)]
    for one, other in different:
        groups = _insert(groups, one, other)
    place = {name: number for number, name in enumerate(names)}
    groups = sorted(_needed(groups), key=lambda group: sorted(place[name] for name in group))
    found = dict.fromkeys(names, "")
    for group, letter in zip(groups, _spelled(len(groups)), strict=True):
        for name in group:
            found[name] += letter
    return found


def _insert(groups: list[frozenset[str]], one: str, other: str) -> list[frozenset[str]]:
    """Split the groups that hold two different names, and absorb groups contained in another."""
    split = [group for group in groups if {one, other} <= group]
    kept = [group for group in groups if not {one, other} <= group]
    halves = {group - {name} for group in split for name in (one, other)}
    # A half can be contained in a half of another group, or in a group that was not split.
    absorbed = {half for half in halves if any(half < another for another in halves)}
    return [*kept, *(half for half in halves - absorbed if not any(half <= group for group in kept))]


def _needed(groups: list[frozenset[str]]) -> list[frozenset[str]]:
    """Drop groups, smallest first, if each pair of their names shares another group."""
    shared: dict[frozenset[str], int] = {}
    pairs = {group: [frozenset(pair) for pair in combinations(sorted(group), 2)] for group in groups}
    pairs = {group: found or [group] for group, found in pairs.items()}
    for pair in (pair for found in pairs.values() for pair in found):
        shared[pair] = shared.get(pair, 0) + 1
    needed = []
    for group in sorted(groups, key=lambda group: (len(group), sorted(group))):
        if all(shared[pair] > 1 for pair in pairs[group]):
            for pair in pairs[group]:
                shared[pair] -= 1
        else:
            needed.append(group)
    return needed


def _spelled(n: int) -> list[str]:
    """The alphabet in both cases, then numbers."""
    return [*string.ascii_letters, *(f"({number})" for number in range(len(string.ascii_letters) + 1, n + 1))][:n]


def verdict(
    best: str, open_to: Sequence[str], worse: Sequence[str], by: str, level: Mapping[str, bool] | None = None
) -> str:
    """One sentence on what to ship: the best, or one of those that are not significantly worse.

    ``level`` holds the models whose mean equals that of the best; True if they are equal on every query.
    """
    if not open_to:
        return f"Ship {best}: by {by}, it is significantly better than {_summed(worse)}."
    rest = f"; {_summed(worse)} {'is' if len(worse) == 1 else 'are'} significantly worse" if worse else ""
    level = {name: same for name, same in (level or {}).items() if name in open_to}
    if len(level) == len(open_to):
        equal = "they are equal on every query" if all(level.values()) else "their means are equal"
        return f"Ship {_any_of([best, *level])}: by {by}, {equal}{rest}."
    if len(open_to) >= MOST_NAMED:
        return f"Ship {best} or any of {len(open_to)} models that are not significantly worse by {by}{rest}."
    named = listed([best, *open_to], "or")
    ahead = f"{listed([best, *level])} have equal means and are" if level else f"{best} is"
    return f"Ship {named}: by {by}, {ahead} ahead, but not significantly{rest}."


def _any_of(names: Sequence[str]) -> str:
    """Names to choose from; their number if there are many."""
    return listed(names, "or") if len(names) <= MOST_NAMED else f"{names[0]} or any of {len(names) - 1} others"


def _summed(names: Sequence[str]) -> str:
    return listed(names) if len(names) < MOST_NAMED else f"all {len(names)} others"


def listed(names: Sequence[str], word: str = "and") -> str:
    """Names in a sentence: "a", "a and b", "a, b and c"."""
    *front, last = names
    return f"{', '.join(front)} {word} {last}" if front else last
