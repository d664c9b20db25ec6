"""Commands and their options."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import skrank_metrics
from skrank_metrics._cli.output import OUTPUTS, show_comparison, show_reports, show_results, write
from skrank_metrics._cli.sources import FORMATS, name_options, read_reports, rows_of_report
from skrank_metrics._output.result import Result
from skrank_metrics._output.table import Table
from skrank_metrics.metrics.conventions import CONVENTIONS
from skrank_metrics.metrics.names import bind

FILES = """\
Pass TREC files, QRELS RUN [RUN ...]; or a table (parquet, csv, tsv, arrow)
with --label, --score and --qid; or an svmlight file with --scores. Files may
be gzipped, and "-" is standard input. Metrics follow the files: ndcg@10 map
"rbp(p=0.9)". A name that is both a file and a metric is taken as a metric;
write ./map for the file.
"""
INTERRUPTED = 130  # as in shells: 128 plus the number of the signal


def run(arguments: Sequence[str] | None = None) -> None:
    """Run a command. Invalid input ends it with exit code 2 and one line that says what is wrong."""
    try:
        parser = _parser()
        _run(parser, _parse(parser, arguments))
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of the output, such as head, is gone
        _discard_output()
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except OSError as error:
        if error.filename is None:  # such as a full disk that the output goes to
            _discard_output()
        _fail(f"{error.filename or 'standard output'}: {error.strerror or error}")
    except (ValueError, TypeError, ImportError) as error:
        _fail(name_options(str(error)))
    except MemoryError:
        _fail("Not enough memory; skrank_metrics.evaluate_batches reads parquet and csv in batches.")


def _discard_output() -> None:
    """Discard pending output, which Python would otherwise try to write again at exit, with a second error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str) -> NoReturn:
    print(f"skrank-metrics: error: {message}", file=sys.stderr)
    sys.exit(2)


def _parse(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options; metrics may also follow them."""
    chosen, rest = parser.parse_known_args(arguments)
    if not hasattr(chosen, "words") or any(word.startswith("-") and word != "-" for word in rest):
        if rest:
            parser.error(f"unrecognized arguments: {' '.join(rest)}")
        return chosen
    chosen.words += rest
    chosen.call = shlex.join(["skrank-metrics", *(sys.argv[1:] if arguments is None else arguments)])
    return chosen


def _run(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> None:
    if chosen.command == "metrics":
        print(_metrics().as_text())
    elif chosen.command == "demo":
        if not chosen.picture.parent.is_dir():
            parser.error(f"--picture must be in an existing folder; got {chosen.picture}")
        from skrank_metrics import _demo

        _demo.run(chosen.picture)
    else:
        write(COMMANDS[chosen.command](chosen), chosen.output_file)


def _evaluate(chosen: argparse.Namespace) -> str:
    return show_reports(read_reports(chosen), chosen.output, by_query=chosen.by_query, call=chosen.call)


def _compare(chosen: argparse.Namespace) -> str:
    from skrank_metrics.reports.compare import compare

    if chosen.random_state is not None and chosen.test != "permutation":
        raise ValueError(f"--random-state applies only to --test permutation; got --test {chosen.test}.")
    reports = read_reports(chosen)
    first = next(iter(reports.values()))
    seed = chosen.random_state or 0 if chosen.test == "permutation" else None
    correction = None if chosen.correction == "none" else chosen.correction
    how = {"test": chosen.test, "correction": correction, "align": chosen.align, "by": first.by}
    compared = {metric: compare(reports, metric, **how, random_state=seed) for metric in first.mean}
    return show_comparison(compared, chosen.output, call=chosen.call)


def _explain(chosen: argparse.Namespace) -> str:
    from skrank_metrics.reports.explain_difference import explain_difference

    return _of_each(chosen, partial(explain_difference, conventions=chosen.conventions))


def _match(chosen: argparse.Namespace) -> str:
    from skrank_metrics.reports.match_convention import match_convention

    return _of_each(chosen, partial(match_convention, value=chosen.value, tolerance=chosen.tolerance))


def _of_each(chosen: argparse.Namespace, function: Callable[..., Result]) -> str:
    """Call a function of rows and a metric, for each ranking and metric."""
    reports, found = read_reports(chosen), {}
    for ranking, report in reports.items():
        rows = rows_of_report(report)
        for name in report.mean:
            found[ranking, name] = function(**rows, metric=bind(name, chosen.convention))
    return show_results(found, chosen.output, call=chosen.call)


COMMANDS = {"evaluate": _evaluate, "compare": _compare, "explain": _explain, "match": _match}


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
    parser.add_argument("--version", action="version", version=f"%(prog)s {skrank_metrics.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    about = "tune and compare ranking models on data that ships with scikit-learn"
    demo = commands.add_parser("demo", help=about, description=_sentence(about))
    demo.add_argument(
        "--picture", type=Path, default=Path("ranking.png"), help="file for the picture (default: %(default)s)"
    )
    about = "list the names of the metrics, with their functions and ranges"
    commands.add_parser("metrics", help=about, description=_sentence(about))
    _add_evaluate(commands)
    _add_compare(commands)
    _add_explain(commands)
    _add_match(commands)
    return parser


def _add_evaluate(commands: Any) -> None:
    evaluate = _add_command(
        commands, "evaluate", "evaluate rankings in files",
        "Mean of each metric: for one ranking with intervals and findings, for several\n"
        "side by side.",
        "evaluate qrels.txt run.txt ndcg@10 map",
    )  # fmt: skip
    _add_convention(evaluate)
    _add_slices(evaluate)
    evaluate.add_argument("--by-query", action="store_true", help="also print the values per query")


def _add_compare(commands: Any) -> None:
    compare = _add_command(
        commands, "compare", "test rankings in files against each other",
        "Differences between two or more rankings of the same queries, with intervals\n"
        "and p-values: each pair, by each metric.",
        "compare qrels.txt a.txt b.txt ndcg@10",
    )  # fmt: skip
    compare.set_defaults(least=2)
    _add_convention(compare)
    _add_slices(compare)
    compare.add_argument("--test", choices=["permutation", "t", "wilcoxon"], default="permutation",
        help="paired test: random signs, Student's t or signed ranks (default: %(default)s)")  # fmt: skip
    compare.add_argument("--correction", choices=["holm", "bh", "none"], default="holm",
        help="correction of p-values for several pairs (default: %(default)s)")  # fmt: skip
    compare.add_argument("--align", choices=["intersection"],
        help="compare on the topics that all runs have, with --missing skip")  # fmt: skip
    compare.add_argument("--random-state", type=int, help="seed of the permutation test (default: 0)")


def _add_explain(commands: Any) -> None:
    explain = _add_command(
        commands, "explain", "attribute the gap between two libraries to its causes",
        "Why two libraries give different values for the same ranking: how much each\n"
        "difference in gain, ties and so on contributes.",
        "explain qrels.txt run.txt map --conventions trec_eval lightgbm",
        default=("ndcg@10",), required="--conventions A B ",
    )  # fmt: skip
    explain.add_argument("--conventions", nargs=2, metavar=("A", "B"), choices=list(CONVENTIONS), required=True,
        help=f"two of {', '.join(CONVENTIONS)}")  # fmt: skip


def _add_match(commands: Any) -> None:
    match = _add_command(
        commands, "match", "find the ways of computing a metric that give a known value",
        "Which gain, ties, cutoff and so on give a value that you have, nearest first,\n"
        "and which libraries use them.",
        "match rows.csv ndcg@10 --value 0.4231 --label y --score a",
        default=("ndcg",), required="--value VALUE ",
    )  # fmt: skip
    match.add_argument("--value", required=True, help="the value to find")
    match.add_argument("--tolerance", type=float,
        help="largest distance from the value (default: half a unit of its last digit)")  # fmt: skip


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _add_command(
    commands: Any, name: str, about: str, description: str, example: str,
    default: Sequence[str] = ("ndcg@10", "map", "mrr"), required: str = "",
) -> argparse.ArgumentParser:  # fmt: skip
    """Add a command that reads files."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=about, description=f"{description}\n\n{FILES}", epilog=f"Example:\n  skrank-metrics {example}",
        usage=f"%(prog)s FILE ... [METRIC ...] {required}[options]",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.set_defaults(default_metrics=default, convention=None, ties=None, least=1)
    add = parser.add_argument
    add("words", nargs="+", metavar="FILE ... METRIC", help=f"files, then metrics (default: {' '.join(default)})")
    add("--format", choices=FORMATS, help="format of the files (default: from their names and the options)")
    add("--label", metavar="COLUMN", help="column of a table with the labels")
    add("--score", metavar="COLUMN", nargs="+", help="columns of a table with the scores, one per ranking")
    add("--qid", metavar="COLUMN", default="qid", help="column of a table with the query ids (default: %(default)s)")
    add("--scores", metavar="FILE", nargs="+", help="files with one score per svmlight row, one file per ranking")
    add("--missing", choices=["zero", "skip", "error"],
        help="topics without a ranking: count as 0, leave out, or fail (default: zero, as trec_eval -c)")  # fmt: skip
    add("--score-type", choices=["float32", "float64"], default="float32",
        help="precision in which scores of runs are compared (default: %(default)s, as in trec_eval 9)")  # fmt: skip
    add("--output", choices=OUTPUTS, default="table", help="format of the output (default: %(default)s)")
    add("--output-file", type=Path, help="file for the output, replaced only when the output is complete")
    return parser


def _add_slices(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--by", metavar="COLUMN", help="column of a table with the slice of each query")


def _add_convention(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--convention", choices=list(CONVENTIONS),
        help="library whose defaults apply (default: trec_eval for TREC files, else sklearn)")  # fmt: skip
    add("--ties", choices=["average", "best", "worst", "stable"], help="order of documents with equal scores")
