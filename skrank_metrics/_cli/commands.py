"""What each command does, and its exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from skrank_metrics._cli.inputs import read_reports
from skrank_metrics._cli.options import NAMES
from skrank_metrics._cli.output import Rankings, Record, records, show
from skrank_metrics._cli.parsing import Chosen, parse_command
from skrank_metrics._input.interface import naming_options
from skrank_metrics._output.result import columns_of
from skrank_metrics._output.table import Table, readable
from skrank_metrics.metrics._bound import BoundMetric
from skrank_metrics.metrics._registry import REGISTRY
from skrank_metrics.metrics.names import bind
from skrank_metrics.reports.gate import Decision
from skrank_metrics.reports.ranking_report import RankingReport
from skrank_metrics.reports.slices import ALL

if TYPE_CHECKING:
    from skrank_metrics.reports.comparison import Comparison

# Exit codes. As in shells, a signal gives 128 plus its number; Python's own code of errors would read as "worse".
WORSE, INVALID, UNDECIDED, INTERRUPTED, BROKEN_PIPE = 1, 2, 3, 130, 141
PICTURES = (".png", ".svg", ".pdf")
_CODES: dict[Decision, int] = {"ship": 0, "do not ship": WORSE, "undecided": UNDECIDED}


def run_command(arguments: Sequence[str] | None = None) -> None:
    """Run a command. Invalid input ends it with exit code 2 and one line that says what is wrong."""
    try:
        chosen = parse_command(arguments)
        # Errors name the arguments of functions, but whoever types a command knows only options.
        with naming_options(NAMES):
            code = _FUNCTIONS[chosen.command](chosen)
        # Otherwise, an error of writing would come at exit, where nothing handles it.
        sys.stdout.flush()
    # More special errors first: a broken pipe is an OSError, too.
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
        _fail(
            "Not enough memory; skrank_metrics.evaluate_batches reads parquet and csv in batches."
        )
    except Exception:
        # A bug is shown in full, but must not end with Python's own code, which reads as "worse".
        traceback.print_exc()
        sys.exit(INVALID)
    if code:
        sys.exit(code)


def _discard_output() -> None:
    """Discard pending output, which Python would otherwise try to write again at exit, with a second error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str) -> NoReturn:
    print(f"skrank-metrics: error: {readable(message)}", file=sys.stderr)
    sys.exit(INVALID)


def _show_means(chosen: Chosen) -> None:
    reports = read_reports(chosen)
    first, *others = reports.values()
    if chosen.save:
        if others:
            raise ValueError(f"--save takes one ranking; got {', '.join(reports)}.")
        first.save(chosen.save)
    is_plain = not others and not chosen.by_query
    result = first if is_plain else Rankings(reports, by_query=chosen.by_query)

    # Only TSV and JSON need all rows.
    def content() -> Record:
        rows = []
        for name, report in reports.items():
            columns = columns_of(report) if chosen.by_query else report.mean_columns()
            rows += records(columns, ranking=name)
        findings = {name: report.health.findings for name, report in reports.items()}
        return {"findings": findings, "rows": rows}

    show(chosen, result, content)


def _compare_chosen(chosen: Chosen) -> Comparison:
    from skrank_metrics.reports.compare import compare

    reports = read_reports(chosen)
    margin, baseline = _margin_of(chosen), chosen.baseline
    # A gate needs a ranking that is in use; other comparisons look for the best.
    if baseline is None and margin is not None:
        baseline = [next(iter(reports))]
    return compare(
        reports,
        baseline=baseline,
        margin=margin,
        test=chosen.test,
        # A word, since an option that is left out means the default.
        correction=None if chosen.correction == "none" else chosen.correction,
        confidence=chosen.confidence,
        random_state=chosen.random_state,
    )


def _show_comparison(chosen: Chosen) -> int:
    found = _compare_chosen(chosen)
    # Nothing is printed before the decision is known.
    decision = None if found.plan.margin is None else found.decision

    def content() -> Record:
        rows = records(found.columns_of_pairs(), slice=ALL)
        for name, part in found.named_slices.items():
            rows += records(part.columns_of_pairs(), slice=name)
        rankings = records(columns_of(found))
        return {
            "verdict": found.verdict,
            "decision": decision,
            "notes": found.notes(),
            "rankings": rankings,
            "rows": rows,
        }

    show(chosen, found, content)
    if decision is None:
        return 0
    if chosen.output_file or chosen.output != "table":  # the table has the verdict
        print(readable(found.verdict), file=sys.stderr)
    return _CODES[decision]


def _margin_of(chosen: Chosen) -> float | dict[str, float] | None:
    """The margin for all metrics, or by metric."""
    if chosen.margin is None:
        return None
    margins = dict(chosen.margin)
    # A number for all metrics beside one for a single metric would be two answers to one question.
    is_for_all = "" in margins
    if len(margins) < len(chosen.margin) or (is_for_all and len(margins) > 1):
        raise ValueError(
            "Pass --margin once, or once for each metric: --margin ndcg@10=0.005 --margin mrr=0.01."
        )
    return margins[""] if is_for_all else margins


def _show_causes(chosen: Chosen) -> None:
    # Each command loads only what it needs, as most of the time of a short one is loading.
    from skrank_metrics.reports.explain_difference import explain_difference

    report, metric = _report_and_metric(chosen)
    first, second = chosen.conventions
    found = explain_difference(report, metric=metric, conventions=(first, second))
    facts = {
        "metric": found.metric,
        "conventions": found.conventions,
        "start": found.start,
        "end": found.end,
    }
    show(chosen, found, lambda: {**facts, "rows": records(columns_of(found))})


def _show_ways(chosen: Chosen) -> None:
    from skrank_metrics.reports.match_convention import match_convention

    report, metric = _report_and_metric(chosen)
    found = match_convention(report, metric=metric, value=chosen.value, tolerance=chosen.tolerance)
    show(chosen, found, lambda: {"rows": records(columns_of(found))})


def _report_and_metric(chosen: Chosen) -> tuple[RankingReport, BoundMetric]:
    """The report of the only ranking, and the only metric."""
    reports = read_reports(chosen)
    report, *others = reports.values()
    metric, *further = report.metrics
    if others or further:
        found = f"{', '.join(reports)} and {', '.join(report.metrics)}"
        raise ValueError(f"{chosen.command} takes one ranking and one metric; got {found}.")
    # Bound anew, by its name: the metric of the report has the defaults of a convention among its
    # parameters, and what is set is not varied.
    return report, bind(metric, chosen.convention or "sklearn")


def _list_metrics(_: Chosen) -> None:
    rows = []
    for name in sorted(REGISTRY):
        function = REGISTRY[name]
        record = function.record
        spelled = f"{record.name}@k" if record.has_cutoff else record.name
        rows.append((spelled, function.__name__, record.bounds))
    print(Table(("name", "function", "range"), rows).as_text())


def _run_demo(chosen: Chosen) -> None:
    picture = Path(chosen.picture)
    # What cannot be written is refused before minutes of work.
    if not picture.parent.is_dir() or picture.is_dir():
        raise ValueError(f"--picture must be a file in an existing folder; got {picture}.")
    if picture.suffix not in PICTURES:
        raise ValueError(f"--picture must end in {', '.join(PICTURES)}; got {picture}.")
    # It needs scikit-learn and takes a second to load.
    from skrank_metrics import _demo

    # It shows what the same lines of Python print, and has none of the options that results name.
    with naming_options(None):
        _demo.run(picture)


_FUNCTIONS: dict[str, Callable[[Chosen], int | None]] = {
    "evaluate": _show_means,
    "compare": _show_comparison,
    "explain": _show_causes,
    "match": _show_ways,
    "metrics": _list_metrics,
    "demo": _run_demo,
}
