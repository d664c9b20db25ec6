"""The public names. Written by docs/generate.py; do not edit."""

from skrank_metrics.decisions.comparison import Comparison as Comparison

__all__ = [
    "Comparison",
]
