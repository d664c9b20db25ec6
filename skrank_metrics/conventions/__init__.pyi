"""The public names. Written by docs/generate.py; do not edit."""

from skrank_metrics.conventions._explain_difference import explain_difference as explain_difference
from skrank_metrics.conventions._match_convention import match_convention as match_convention

__all__ = [
    "explain_difference",
    "match_convention",
]
