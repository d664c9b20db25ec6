"""``python -m support.fuzz_parser [NUMBER]`` in tests/: strings that are nearly names of metrics, one after the other.

Each either names a metric or gets a ValueError. The seed is fixed, so that a run can be repeated.
"""

import collections
import random
import sys
import time

from skrank_metrics import get_metric
from skrank_metrics.metrics import get_metric_names
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._record import SHARED_DEFAULTS
from skrank_metrics.metrics._registry import REGISTRY

NAMES = [*get_metric_names(), "ndgc", "precison", "nDCG", "map_at", "_", "__import__", ""]
PARAMETERS = sorted(
    {
        *SHARED_DEFAULTS,
        *(option for f in REGISTRY.values() for option in f.record.options),
        "qid",
        "x",
    }
)
VALUES = [
    "exp2", "linear", "binary", "log2", "reciprocal", "worst", "stable", "micro", "macro", "hits", "retrieved", "True",
    "false", "None", "nan", "NaN", "inf", "-inf", "0", "1", "2", "-1", "0.5", "1e3", "1e999", "-0.0", "1_0", "0x1",
    "1e", "00", "9" * 40, "__class__", "os.system",
]  # fmt: skip
CUTOFFS = [
    "@1",
    "@10",
    "@0",
    "@-1",
    "@1.5",
    "@ 1",
    "@",
    "@01",
    "@1_0",
    "@" + "9" * 30,
    "_at_5",
    "_at_0",
    "@\u0661",
]
CHARACTERS = "()@=,. _-+eE0159azAZ\n\t\0'\"\\/{}[]%$#\u00e9\u0661\u200b\ud800\U0001f600"


def from_grammar(draw: random.Random) -> str:
    """Put a name together from parts most of which are right."""
    spec = draw.choice(NAMES)
    if draw.random() < 0.6:
        pairs = (
            f"{draw.choice(PARAMETERS)}={draw.choice(VALUES)}"
            for _ in range(draw.choice([0, 1, 1, 1, 2, 2, 3]))
        )
        spec += "(" + draw.choice([",", ", ", ",,"]).join(pairs) + ")"
    return spec + draw.choice(CUTOFFS) if draw.random() < 0.6 else spec


def mutated(spec: str, draw: random.Random) -> str:
    """Delete, insert, replace, repeat or move a piece."""
    start = draw.randrange(len(spec) + 1)
    end = min(len(spec), start + draw.randrange(4))
    piece = draw.choice([
        "", "", draw.choice(CHARACTERS), draw.choice(CHARACTERS) * 3, spec[start:end] * 2, draw.choice(VALUES),
        chr(draw.randrange(sys.maxunicode + 1)),
    ])  # fmt: skip
    return spec[:start] + piece + spec[end:]


def specs(number: int, seed: int = 0):
    """Yield strings: a third as the grammar gives them, the others with one to four mutations."""
    draw = random.Random(seed)
    for _ in range(number):
        spec = from_grammar(draw)
        for _ in range(draw.choice([0, 0, 1, 1, 2, 4])):
            spec = mutated(spec, draw)
        yield spec


def outcome(spec: str) -> str:
    """What becomes of a string; any error but a ValueError goes on its way."""
    try:
        metric = get_metric(spec)
    except ValueError as error:
        return "refused with a hint" if "Did you mean" in str(error) else "refused"
    assert type(metric) is BoundMetric
    assert metric.record.name in REGISTRY
    return "a metric"


if __name__ == "__main__":
    number, started = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, time.perf_counter()
    counts = collections.Counter(map(outcome, specs(number)))
    seconds = time.perf_counter() - started
    print(
        f"{number:,} strings in {seconds:.0f} s: "
        + ", ".join(f"{n:,} {what}" for what, n in counts.most_common())
    )
