"""Commands and their options."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from skrank_metrics._cli.output import OUTPUTS, show_comparison, show_reports, write
from skrank_metrics._cli.sources import FORMATS, read_reports
from skrank_metrics._output.table import Table
from skrank_metrics.metrics.conventions import CONVENTIONS
from skrank_metrics.reports.compare import compare
from skrank_metrics.reports.comparison import Comparison

FILES = """\
Files are those of TREC, QRELS RUN [RUN ...]; or a table of rows (parquet, csv, tsv) with --label, --score and --qid; or
rows of svmlight with --scores. They may be packed by gzip, and "-" is the standard input. Metrics follow the files:
ndcg@10 map "rbp(p=0.9)".
"""


def run(arguments: Sequence[str] | None = None) -> None:
    """Run a command. Bad input ends it with the exit code 2 and one line that says what is wrong."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    try:
        _run(parser, chosen)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads the output has seen enough; Python would complain again when it exits
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except (ValueError, TypeError, ImportError) as error:
        _fail(str(error))


def _fail(message: str) -> NoReturn:
    print(f"skrank-metrics: error: {message}", file=sys.stderr)
    sys.exit(2)


def _run(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> None:
    if chosen.command == "metrics":
        print(_metrics().as_text())
    elif chosen.command == "demo":
        if not chosen.picture.parent.is_dir():
            parser.error(f"--picture must lie in a folder that exists; got {chosen.picture}")
        from skrank_metrics import _demo

        _demo.run(chosen.picture)
    elif chosen.command == "evaluate":
        write(show_reports(read_reports(chosen), chosen.output, by_query=chosen.by_query), chosen.output_file)
    else:
        write(show_comparison(_compare(chosen), chosen.output), chosen.output_file)


def _compare(chosen: argparse.Namespace) -> dict[str, Comparison]:
    reports = read_reports(chosen)
    metrics = next(iter(reports.values())).mean
    how = {"test": chosen.test, "correction": None if chosen.correction == "none" else chosen.correction}
    return {metric: compare(reports, metric, **how, random_state=chosen.random_state) for metric in metrics}


def _metrics() -> Table:
    """Names of the metrics in strings, with their functions and ranges."""
    from skrank_metrics.metrics._registry import REGISTRY

    rows = [
        (function.record.name + "@k" * function.record.has_cutoff, function.__name__, function.record.bounds)
        for _, function in sorted(REGISTRY.items())
    ]
    return Table(("name", "function", "range"), rows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="skrank-metrics", description="Ranking metrics for scikit-learn.")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="tune and compare ranking models on data that ships with scikit-learn")
    demo.add_argument("--picture", type=Path, default=Path("ranking.png"), help="where to draw (default: %(default)s)")
    commands.add_parser("metrics", help="list the metrics")
    evaluate = commands.add_parser("evaluate", help="evaluate rankings in files", description=FILES)
    _add_input(evaluate)
    evaluate.add_argument("--by", metavar="COLUMN", help="column of a table with the slice of each query")
    evaluate.add_argument("--by-query", action="store_true", help="also the value of each query")
    compare = commands.add_parser("compare", help="test rankings in files against each other", description=FILES)
    _add_input(compare)
    compare.add_argument("--test", choices=["permutation", "t", "wilcoxon"], default="permutation")
    compare.add_argument("--correction", choices=["holm", "bh", "none"], default="holm", help="for several pairs")
    compare.add_argument("--random-state", type=int, default=0, help="seed of the permutations (default: %(default)s)")
    return parser


def _add_input(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("words", nargs="+", metavar="FILE ... METRIC", help="files, then metrics (default: ndcg@10 map mrr)")
    add("--format", choices=FORMATS, help="of the files (default: by their names and the options)")
    add("--label", metavar="COLUMN", help="column of a table with the labels")
    add("--score", metavar="COLUMN", nargs="+", help="columns of a table with scores, one per ranking")
    add("--qid", metavar="COLUMN", default="qid", help="column of a table with the query ids (default: %(default)s)")
    add("--scores", metavar="FILE", nargs="+", help="files with one score per row of svmlight, one per ranking")
    add("--convention", choices=list(CONVENTIONS),
        help="library whose defaults apply (default: trec_eval for its files, else sklearn)")  # fmt: skip
    add("--ties", choices=["average", "best", "worst", "stable"], help="order of documents with equal scores")
    add("--complete", action="store_true", help="count topics without a ranking as 0, as with trec_eval -c")
    add("--score-type", choices=["float32", "float64"], default="float32",
        help="precision in which scores of runs are compared (default: %(default)s, as in trec_eval 9)")  # fmt: skip
    add("--output", choices=OUTPUTS, default="table", help="form of the output (default: %(default)s)")
    add("--output-file", type=Path, help="where to write it, replacing a file only when complete")
