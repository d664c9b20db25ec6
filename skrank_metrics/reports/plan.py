"""What is asked of several rankings, by which test, and how surely it is to be answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from skrank_metrics._input.arrays import (
    check_choice,
    check_number,
    check_random_state,
    check_seed,
)

Test: TypeAlias = Literal["permutation", "t"]
Correction: TypeAlias = Literal["max", "holm", "bh"]

TESTS: tuple[Test, ...] = get_args(Test)
CORRECTIONS: tuple[Correction | None, ...] = (*get_args(Correction), None)


@dataclass(frozen=True)
class Plan:
    """The options of a decision between rankings, as described in compare. Invalid ones raise an error."""

    baseline: str | None = None
    margin: float | None = None
    test: Test = "permutation"
    correction: Correction | None = "max"
    confidence: float = 0.95
    random_state: int = 0

    def __post_init__(self) -> None:
        check_choice(self.test, "test", TESTS)
        check_choice(self.correction, "correction", CORRECTIONS)
        baseline = None if self.baseline is None else str(self.baseline)
        object.__setattr__(self, "baseline", baseline)
        margin = check_number(self.margin, "margin", "[0, inf)", other="None")
        object.__setattr__(self, "margin", margin)
        confidence = check_number(self.confidence, "confidence", "(0, 1)")
        object.__setattr__(self, "confidence", confidence)
        object.__setattr__(self, "random_state", _as_seed(self.random_state))

    @property
    def level(self) -> float:
        """The largest p-value that is significant."""
        return round(1 - self.confidence, 12)  # 1 - 0.9 is less than 0.1


def _as_seed(random_state: Any) -> int:
    """A seed, drawn from a generator or at random unless it is given, so that a plan can be saved and repeated."""
    seed = check_seed(random_state)
    if isinstance(seed, int):
        return seed
    generator = check_random_state(seed)
    return int.from_bytes(generator.bytes(4), "little")
