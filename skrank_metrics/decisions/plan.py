"""What is asked of several rankings, and how surely it is to be answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from skrank_metrics._input.parameters import (
    by_text,
    check_number,
    check_random_state,
    check_seed,
)
from skrank_metrics.reports.mean_intervals import CONFIDENCES
from skrank_metrics.reports.saved import current_fields, defaults_of

Margin: TypeAlias = float | Mapping[str, float]  # one for all metrics, or one for each by its name


@dataclass(frozen=True)
class Plan:
    """The options of a decision between rankings, as described in compare. Invalid ones raise an error."""

    baseline: str | Sequence[str] | None = None
    margin: Margin | None = None
    confidence: float = 0.95
    random_state: int = 0

    def __post_init__(self) -> None:
        checked = {
            "baseline": _as_baseline(self.baseline),
            "margin": _as_margin(self.margin),
            "confidence": check_number(self.confidence, "confidence", CONFIDENCES),
            "random_state": _as_seed(self.random_state),
        }
        if self.margin is not None and self.baseline is None:
            raise ValueError(
                "margin needs a baseline, the ranking against which the loss is measured. Pass baseline=, the name of "
                "the ranking in use, or leave out margin to look for the best ranking."
            )
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def level(self) -> float:
        """The largest p-value that is significant."""
        return round(1 - self.confidence, 12)  # 1 - 0.9 is less than 0.1

    @property
    def baselines(self) -> tuple[str, ...]:
        """The rankings that all others are compared with; none if all pairs are compared."""
        if self.baseline is None:
            return ()
        return (self.baseline,) if isinstance(self.baseline, str) else tuple(self.baseline)

    def margin_of(self, metric: str) -> float | None:
        """The loss of a metric that does not matter; None if it has no margin."""
        if isinstance(self.margin, Mapping):
            return self.margin.get(metric)
        return self.margin


def _as_baseline(baseline: Any) -> str | tuple[str, ...] | None:
    """A name, or several different ones."""
    # Names of rankings are text, also if they were numbers in a dict or a sequence.
    if not isinstance(baseline, list | tuple):
        return None if baseline is None else str(baseline)
    if not baseline:
        raise ValueError("baseline must name a ranking; got none. Pass None to compare all pairs.")
    names = tuple(by_text(((name, None) for name in baseline), "baseline"))
    return names if len(names) > 1 else names[0]


def _as_margin(margin: Any) -> Margin | None:
    """A number of at least 0, or a dict of them."""
    if not isinstance(margin, Mapping):
        return check_number(margin, "margin", "[0, inf)", other="None")
    if not margin:
        raise ValueError("margin must hold a number for some metric; got an empty dict.")
    return {
        metric: check_number(number, f"margin[{metric!r}]", "[0, inf)")
        for metric, number in margin.items()
    }


def _as_seed(random_state: Any) -> int:
    """A seed, drawn from a generator or at random unless it is given, so that a plan can be saved and repeated."""
    seed = check_seed(random_state)
    if isinstance(seed, int):
        return seed
    generator = check_random_state(seed)
    return int.from_bytes(generator.bytes(4), "little")


# Options that went, with the only value that changes nothing, and what else does the same.
_GONE = {
    "test": (
        "permutation",
        "Compare its reports again, and use scipy.stats.ttest_rel(*pair.values) for a t-test of a pair.",
    ),
    "correction": (
        "max",
        "Compare its reports again, and correct the column p_value of to_frame(pairs=True), as by "
        'scipy.stats.false_discovery_control for "bh".',
    ),
}


def plan_from_file(saved: Mapping[str, Any], writer: str) -> Plan:
    """The plan of a saved comparison, also of an older one."""
    return Plan(**current_fields(saved, defaults_of(Plan), "plan", writer, _GONE))
