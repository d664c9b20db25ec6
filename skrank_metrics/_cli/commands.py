"""What each command does, and its exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from skrank_metrics._cli.inputs import read_reports
from skrank_metrics._cli.output import Rankings, records, show
from skrank_metrics._cli.parsing import Chosen, parse_command
from skrank_metrics._output.table import Table, visible
from skrank_metrics.metrics._registry import REGISTRY
from skrank_metrics.metrics.names import bind
from skrank_metrics.reports.slices import ALL

# Exit codes. As in shells, a signal gives 128 plus its number; Python's own code of errors would read as "worse".
WORSE, INVALID, UNDECIDED, INTERRUPTED, BROKEN_PIPE = 1, 2, 3, 130, 141


def run_command(arguments: Sequence[str] | None = None) -> None:
    """Run a command. Invalid input ends it with exit code 2 and one line that says what is wrong."""
    try:
        chosen = parse_command(arguments)
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
        _fail(
            "Not enough memory; skrank_metrics.evaluate_batches reads parquet and csv in batches."
        )
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


def _show_means(chosen: Chosen) -> None:
    reports = read_reports(chosen)
    if chosen.save and len(reports) > 1:
        raise ValueError(f"--save takes one ranking; got {', '.join(reports)}.")

    def content() -> dict[str, Any]:
        columns = {
            name: own._columns() if chosen.by_query else own.mean_columns()
            for name, own in reports.items()
        }
        rows = [row for name, own in columns.items() for row in records(own, ranking=name)]
        return {
            "findings": {name: report.health.findings for name, report in reports.items()},
            "rows": rows,
        }

    alone = len(reports) == 1 and not chosen.by_query
    result = next(iter(reports.values())) if alone else Rankings(reports, by_query=chosen.by_query)
    show(chosen, result, content)
    if chosen.save:
        next(iter(reports.values())).save(chosen.save)


def _show_comparison(chosen: Chosen) -> int:
    from skrank_metrics.reports.compare import compare

    reports = read_reports(chosen)
    options = {
        name: getattr(chosen, name) for name in ("margin", "test", "confidence", "random_state")
    }
    options["correction"] = None if chosen.correction == "none" else chosen.correction
    if chosen.baseline is None and chosen.margin is not None:
        chosen.baseline = next(iter(reports))
    found = compare(reports, baseline=chosen.baseline, **options)

    def content() -> dict[str, Any]:
        parts = {ALL: found, **found.named_slices}
        rows = [
            row
            for name, part in parts.items()
            for row in records(part.columns_of_pairs(), slice=name)
        ]
        verdicts = {metric: found.by_metric(metric).verdict for metric in found.metrics}
        return {"verdicts": verdicts, "rankings": records(found._columns()), "rows": rows}

    show(chosen, found, content)
    if chosen.margin is None:
        return 0
    if (
        len(found.metrics) > 1 or chosen.output_file or chosen.output != "table"
    ):  # the table has the first verdict
        for metric in found.metrics:
            print(visible(f"{metric}: {found.by_metric(metric).verdict}"), file=sys.stderr)
    verdicts = {
        pair.verdict for metric in found.metrics for pair in found.by_metric(metric).pairs()
    }
    return WORSE if "worse" in verdicts else UNDECIDED if "undecided" in verdicts else 0


def _show_causes(chosen: Chosen) -> None:
    from skrank_metrics.reports.explain_difference import explain_difference

    first, second = chosen.conventions
    found = explain_difference(**_rows_and_metric(chosen), conventions=(first, second))
    facts = {name: getattr(found, name) for name in ("metric", "conventions", "start", "end")}
    show(chosen, found, lambda: {**facts, "rows": records(found._columns())})


def _show_ways(chosen: Chosen) -> None:
    from skrank_metrics.reports.match_convention import match_convention

    found = match_convention(
        **_rows_and_metric(chosen), value=chosen.value, tolerance=chosen.tolerance
    )
    show(chosen, found, lambda: {"rows": records(found._columns())})


def _rows_and_metric(chosen: Chosen) -> dict[str, Any]:
    """The rows of one ranking, with equal scores in the order of "stable", and its metric."""
    reports = read_reports(chosen)
    report = next(iter(reports.values()))
    if len(reports) * len(report.metrics) > 1:
        found = f"{', '.join(reports)} and {', '.join(report.metrics)}"
        raise ValueError(f"{chosen.command} takes one ranking and one metric; got {found}.")
    ranking = report.own_ranking
    documents = ranking.documents
    return {
        "y_true": documents.given_labels,
        "y_score": ranking.scores,
        "qid": np.repeat(documents.queries.ids, documents.grouping.sizes),
        "retrieved": ranking.retrieved,
        "judged": documents.judged,
        "metric": bind(next(iter(report.metrics)), chosen.convention or "sklearn"),
    }


def _list_metrics(_: Chosen) -> None:
    names = [
        (own.record.name + "@k" * own.record.has_cutoff, own) for _, own in sorted(REGISTRY.items())
    ]
    rows = [(name, own.__name__, own.record.bounds) for name, own in names]
    print(Table(("name", "function", "range"), rows).as_text())


def _run_demo(chosen: Chosen) -> None:
    if not chosen.picture.parent.is_dir():
        raise ValueError(f"--picture must be in an existing folder; got {chosen.picture}.")
    from skrank_metrics import _demo

    _demo.run(chosen.picture)


_FUNCTIONS: dict[str, Callable[[Chosen], int | None]] = {
    "evaluate": _show_means,
    "compare": _show_comparison,
    "explain": _show_causes,
    "match": _show_ways,
    "metrics": _list_metrics,
    "demo": _run_demo,
}
