"""What each command does, and its exit code."""

from __future__ import annotations

import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import partial
from typing import NoReturn

from skrank_metrics._cli.inputs import read_reports, rows_of_report
from skrank_metrics._cli.options import parse
from skrank_metrics._cli.output import show_comparison, show_reports, show_results, write
from skrank_metrics._output.result import Result
from skrank_metrics._output.table import Table, visible
from skrank_metrics.metrics._registry import REGISTRY
from skrank_metrics.metrics.names import bind

# Exit codes. As in shells, a signal gives 128 plus its number; Python's own code of errors would read as "worse".
WORSE, INVALID, UNDECIDED, INTERRUPTED, BROKEN_PIPE = 1, 2, 3, 130, 141


def run_command(arguments: Sequence[str] | None = None) -> None:
    """Run a command. Invalid input ends it with exit code 2 and one line that says what is wrong."""
    try:
        chosen = parse(arguments)
        code = _FUNCTIONS[chosen.command](chosen)
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


def _evaluate(chosen: Namespace) -> None:
    reports = read_reports(chosen)
    if chosen.save and len(reports) > 1:
        raise ValueError(f"--save takes one ranking; got {', '.join(reports)}.")
    write(show_reports(reports, chosen.output, by_query=chosen.by_query), chosen.output_file)
    if chosen.save:
        next(iter(reports.values())).save(chosen.save)


def _compare(chosen: Namespace) -> int:
    from skrank_metrics.reports.compare import compare

    reports = read_reports(chosen)
    options = {name: getattr(chosen, name) for name in ("margin", "test", "confidence", "random_state")}
    options["baseline"] = (
        next(iter(reports)) if chosen.baseline is None and chosen.margin is not None else chosen.baseline
    )
    comparison = compare(reports, correction=None if chosen.correction == "none" else chosen.correction, **options)
    write(show_comparison(comparison, chosen.output), chosen.output_file)
    if chosen.margin is None:
        return 0
    if chosen.output_file or chosen.output != "table":  # where nobody would see the verdict
        for metric in comparison.metrics:
            print(visible(f"{metric}: {comparison.by_metric(metric).verdict}"), file=sys.stderr)
    verdicts = {pair.verdict for metric in comparison.metrics for pair in comparison.pairs(metric)}
    return WORSE if "worse" in verdicts else UNDECIDED if "undecided" in verdicts else 0


def _explain(chosen: Namespace) -> None:
    from skrank_metrics.reports.explain_difference import explain_difference

    _of_each(chosen, partial(explain_difference, conventions=chosen.conventions))


def _match(chosen: Namespace) -> None:
    from skrank_metrics.reports.match_convention import match_convention

    _of_each(chosen, partial(match_convention, value=chosen.value, tolerance=chosen.tolerance))


def _of_each(chosen: Namespace, function: Callable[..., Result]) -> None:
    """Call a function of rows and a metric, for each ranking and metric."""
    found = {}
    for ranking, report in read_reports(chosen).items():
        rows = rows_of_report(report)
        for name in report.metrics:
            found[ranking, name] = function(**rows, metric=bind(name, chosen.convention))
    write(show_results(found, chosen.output), chosen.output_file)


def _list_metrics(_: Namespace) -> None:
    names = [(own.record.name + "@k" * own.record.has_cutoff, own) for _, own in sorted(REGISTRY.items())]
    rows = [(name, own.__name__, own.record.bounds) for name, own in names]
    print(Table(("name", "function", "range"), rows).as_text())


def _run_demo(chosen: Namespace) -> None:
    if not chosen.picture.parent.is_dir():
        raise ValueError(f"--picture must be in an existing folder; got {chosen.picture}.")
    from skrank_metrics import _demo

    _demo.run(chosen.picture)


_FUNCTIONS: dict[str, Callable[[Namespace], int | None]] = {
    "evaluate": _evaluate,
    "compare": _compare,
    "explain": _explain,
    "match": _match,
    "metrics": _list_metrics,
    "demo": _run_demo,
}
