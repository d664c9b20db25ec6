"""The public names. Written by docs/generate.py; do not edit."""

from skrank_metrics.reports.ranking_report import RankingReport as RankingReport

__all__ = [
    "RankingReport",
]
