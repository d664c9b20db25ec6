"""Commands and their options."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import skrank_metrics
from skrank_metrics._cli.inputs import FORMATS, read_reports, rows_of_report
from skrank_metrics._cli.output import OUTPUTS, show_comparison, show_reports, show_results, write
from skrank_metrics._output.result import Result
from skrank_metrics._output.table import Table, visible
from skrank_metrics.metrics._registry import REGISTRY
from skrank_metrics.metrics.conventions import CONVENTIONS
from skrank_metrics.metrics.names import bind
from skrank_metrics.sources.evaluate_run import MISSING, SCORE_TYPES

FILES = """\
Pass TREC files, QRELS RUN [RUN ...]; or a table (parquet, csv, tsv, arrow)
with --label, --score and --qid; or an svmlight file with --score FILE. Saved
reports (.json) count as rankings. Files may be gzipped, and "-" is standard
input. Metrics follow the files: ndcg@10 map "rbp(p=0.9)". A name that is both
a file and a metric is taken as a metric; write ./map for the file.
"""
# Exit codes. As in shells, a signal gives 128 plus its number; Python's own code of errors would read as "worse".
WORSE, INVALID, UNDECIDED, INTERRUPTED, BROKEN_PIPE = 1, 2, 3, 130, 141


def run_command(arguments: Sequence[str] | None = None) -> None:
    """Run a command. Invalid input ends it with exit code 2 and one line that says what is wrong."""
    try:
        code = _run(_parse(arguments))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of the output, such as head, is gone
        _discard_output()
        sys.exit(BROKEN_PIPE)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except OSError as error:
        if error.filename is None:  # such as a full disk that the output goes to
            _discard_output()
        _fail(f"{error.filename or 'standard output'}: {error.strerror or error}")
    except (ValueError, TypeError, ImportError) as error:
        _fail(str(error))
    except MemoryError:
        _fail("Not enough memory; skrank_metrics.evaluate_batches reads parquet and csv in batches.")
    except Exception:
        traceback.print_exc()
        sys.exit(INVALID)
    if code:
        sys.exit(code)


def _discard_output() -> None:
    """Discard pending output, which Python would otherwise try to write again at exit, with a second error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str) -> NoReturn:
    print(f"skrank-metrics: error: {visible(message)}", file=sys.stderr)
    sys.exit(INVALID)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options; metrics may also follow them."""
    parser = _parser()
    chosen, rest = parser.parse_known_args(arguments)
    if rest and (not hasattr(chosen, "words") or any(word.startswith("-") and word != "-" for word in rest)):
        parser.error(f"unrecognized arguments: {visible(' '.join(rest))}")
    if rest:
        chosen.words += rest
    return chosen


def _run(chosen: argparse.Namespace) -> int:
    """Run the command, and return the exit code."""
    if chosen.command == "metrics":
        names = [(own.record.name + "@k" * own.record.has_cutoff, own) for _, own in sorted(REGISTRY.items())]
        rows = [(name, own.__name__, own.record.bounds) for name, own in names]
        print(Table(("name", "function", "range"), rows).as_text())
    elif chosen.command == "demo":
        if not chosen.picture.parent.is_dir():
            raise ValueError(f"--picture must be in an existing folder; got {chosen.picture}.")
        from skrank_metrics import _demo

        _demo.run(chosen.picture)
    else:
        return int(chosen.run(chosen) or 0)
    return 0


def evaluate_files(chosen: argparse.Namespace) -> None:
    reports = read_reports(chosen)
    if chosen.save and len(reports) > 1:
        raise ValueError(f"--save takes one ranking; got {', '.join(reports)}.")
    write(show_reports(reports, chosen.output, by_query=chosen.by_query), chosen.output_file)
    if chosen.save:
        next(iter(reports.values())).save(chosen.save)


def compare_files(chosen: argparse.Namespace) -> int:
    from skrank_metrics.reports.compare import compare

    reports = read_reports(chosen)
    baseline = chosen.baseline
    if chosen.margin is not None and baseline is None:
        baseline = next(iter(reports))
    correction = None if chosen.correction == "none" else chosen.correction
    options = {name: getattr(chosen, name) for name in ("margin", "align", "test", "confidence", "random_state")}
    comparison = compare(reports, baseline=baseline, correction=correction, **options)
    write(show_comparison(comparison, chosen.output), chosen.output_file)
    if chosen.margin is None:
        return 0
    if chosen.output_file or chosen.output != "table":  # where nobody would see the verdict
        for metric in comparison.metrics:
            print(visible(f"{metric}: {comparison.by_metric(metric).verdict}"), file=sys.stderr)
    verdicts = {pair.verdict for metric in comparison.metrics for pair in comparison.pairs(metric)}
    return WORSE if "worse" in verdicts else UNDECIDED if "undecided" in verdicts else 0


def explain_files(chosen: argparse.Namespace) -> None:
    from skrank_metrics.reports.explain_difference import explain_difference

    _of_each(chosen, partial(explain_difference, conventions=chosen.conventions))


def match_files(chosen: argparse.Namespace) -> None:
    from skrank_metrics.reports.match_convention import match_convention

    _of_each(chosen, partial(match_convention, value=chosen.value, tolerance=chosen.tolerance))


def _of_each(chosen: argparse.Namespace, function: Callable[..., Result]) -> None:
    """Call a function of rows and a metric, for each ranking and metric."""
    found = {}
    for ranking, report in read_reports(chosen).items():
        rows = rows_of_report(report)
        for name in report.metrics:
            found[ranking, name] = function(**rows, metric=bind(name, chosen.convention))
    write(show_results(found, chosen.output), chosen.output_file)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="skrank-metrics", description="Ranking metrics for scikit-learn.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {skrank_metrics.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    about = "tune and compare ranking models on data that ships with scikit-learn"
    demo = commands.add_parser("demo", help=about, description=f"{about.capitalize()}.")
    picture = "file for the picture (default: %(default)s)"
    demo.add_argument("--picture", type=Path, default=Path("ranking.png"), help=picture)
    about = "list the names of the metrics, with their functions and ranges"
    commands.add_parser("metrics", help=about, description=f"{about.capitalize()}.")
    _add_evaluate(commands)
    _add_compare(commands)
    _add_explain(commands)
    _add_match(commands)
    return parser


def _add_evaluate(commands: Any) -> None:
    about = "Mean of each metric: for one ranking with intervals and findings, for several\nside by side."
    example = "evaluate qrels.txt run.txt ndcg@10 map"
    add = _add_command(commands, evaluate_files, "evaluate rankings in files", about, example)
    add("--by-query", action="store_true", help="also print the values per query")
    add("--save", type=Path, metavar="FILE.json", help="file for the report, which compare takes as a ranking")
    _add_options_of_reports(add)


def _add_compare(commands: Any) -> None:
    about = (
        "Which of several rankings of the same queries may be the best, with intervals\n"
        "and p-values. With --margin, the exit code is 0 if every ranking is better than\n"
        "the baseline or not worse by more than the margin, 1 if one is worse, and 3 if\n"
        "these queries cannot decide."
    )
    example = "compare qrels.txt prod.txt new.txt ndcg@10 --margin 0.005"
    add = _add_command(commands, compare_files, "find out which ranking is best", about, example, least=2)
    corrections, tests = ["max", "holm", "bh", "none"], ["permutation", "t"]
    add("--margin", type=float, help="the loss that does not matter; sets the exit code")
    add("--baseline", metavar="RANKING", help="compare the others with this one (default with --margin: the first)")
    add("--test", choices=tests, default="permutation", help="paired test: random signs (default) or Student's t")
    add("--correction", choices=corrections, default="max", help="of p-values for several pairs (default: max)")
    add("--confidence", type=float, default=0.95, help="confidence level (default: %(default)s)")
    add("--random-state", type=int, default=0, help="seed of the random signs (default: %(default)s)")
    add("--align", choices=["intersection"], help="compare on the queries that all rankings have")
    _add_options_of_reports(add)


def _add_explain(commands: Any) -> None:
    about = (
        "Why two libraries give different values for the same ranking: how much each\n"
        "difference in gain, ties and so on contributes."
    )
    example = "explain qrels.txt run.txt map --conventions trec_eval lightgbm"
    names: list[str] = list(CONVENTIONS)
    options: dict[str, Any] = {"default": ("ndcg@10",), "required": "--conventions A B "}
    add = _add_command(
        commands, explain_files, "attribute the gap between two libraries to its causes", about, example, **options
    )
    two = f"two of {', '.join(names)}"
    add("--conventions", nargs=2, metavar=("A", "B"), choices=names, required=True, help=two)


def _add_match(commands: Any) -> None:
    about = (
        "Which gain, ties, cutoff and so on give a value that you have, nearest first,\nand which libraries use them."
    )
    example = "match rows.csv ndcg@10 --value 0.4231 --label y --score a"
    options: dict[str, Any] = {"default": ("ndcg",), "required": "--value VALUE "}
    add = _add_command(
        commands, match_files, "find the ways of computing a metric that give a known value", about, example, **options
    )
    add("--value", required=True, help="the value to find")
    add("--tolerance", type=float, help="largest distance from the value (default: half a unit of its last digit)")


def _add_command(
    commands: Any, run: Callable[[argparse.Namespace], int | None], about: str, description: str, example: str,
    default: Sequence[str] = ("ndcg@10", "map", "mrr"), required: str = "", least: int = 1,
) -> Callable[..., Any]:  # fmt: skip
    """Add a command that reads files, and return the function that adds its options."""
    parser: argparse.ArgumentParser = commands.add_parser(
        example.split()[0], help=about, description=f"{description}\n\n{FILES}",
        epilog=f"Example:\n  skrank-metrics {example}", usage=f"%(prog)s FILE ... [METRIC ...] {required}[options]",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    absent = ("save", "convention", "ties", "replace_undefined_by", "weight", "groups", "by")
    parser.set_defaults(run=run, default_metrics=default, least=least, **dict.fromkeys(absent))
    add = parser.add_argument
    add("words", nargs="+", metavar="FILE ... METRIC", help=f"files, then metrics (default: {' '.join(default)})")
    add("--format", choices=FORMATS, help="format of the files (default: from their names and the options)")
    add("--label", metavar="COLUMN", help="column of a table with the labels")
    add(
        "--score", metavar="COLUMN", nargs="+", help="columns with the scores, or files with one score per svmlight row"
    )
    add("--qid", metavar="COLUMN", help="column of a table with the query ids (default: qid)")
    add("--retrieved", metavar="COLUMN", help="column that is false for documents that were not ranked")
    add("--judged", metavar="COLUMN", help="column that is false for documents that nobody judged")
    add("--condense", action="store_true", help="leave out documents that nobody judged")
    add("--missing", choices=MISSING, help="topics without a ranking: count as 0 (default), leave out, or refuse")
    add("--score-type", choices=SCORE_TYPES, help="precision of scores of runs (default: float32, as in trec_eval 9)")
    add("--output", choices=OUTPUTS, default="table", help="format of the output (default: %(default)s)")
    add("--output-file", type=Path, help="file for the output, replaced only when the output is complete")
    return add


def _add_options_of_reports(add: Callable[..., Any]) -> None:
    add("--by", metavar="COLUMN", nargs="+", help="columns of a table with the slice of each query")
    add("--groups", metavar="COLUMN", help="column with groups of queries that depend on each other, such as users")
    add("--weight", metavar="COLUMN", help="column with the weight of each query")
    library = "library whose defaults apply (default: trec_eval for TREC files, else sklearn)"
    add("--convention", choices=list(CONVENTIONS), metavar="LIBRARY", help=f"{library}: {', '.join(CONVENTIONS)}")
    add("--ties", choices=["average", "best", "worst", "stable"], help="order of documents with equal scores")
    add("--replace-undefined-by", type=float, metavar="VALUE", help="value of queries for which a metric is undefined")
