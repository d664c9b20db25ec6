"""The public names. Written by docs/generate.py; do not edit."""

from skrank_metrics.sources.accumulator import RankingAccumulator as RankingAccumulator
from skrank_metrics.sources.batches import evaluate_batches as evaluate_batches

__all__ = [
    "RankingAccumulator",
    "evaluate_batches",
]
