"""What each command does, and its exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from skrank_metrics._cli.inputs import read_reports
from skrank_metrics._cli.options import Chosen, in_options, parse_command
from skrank_metrics._cli.output import Record, show
from skrank_metrics._output.result import Sections, Table, columns_of, extended, readable, rows_of
from skrank_metrics.decisions._compare import compare
from skrank_metrics.decisions.comparison import Comparison
from skrank_metrics.decisions.outcome import Gate
from skrank_metrics.metrics._registry import REGISTRY
from skrank_metrics.reports.facts import ALL
from skrank_metrics.reports.ranking_report import RankingReport, mean_columns

# Exit codes. As in shells, a signal gives 128 plus its number; Python's own code of errors would read as "worse".
WORSE, INVALID, UNDECIDED, INTERRUPTED, BROKEN_PIPE = 1, 2, 3, 130, 141
_CODES: dict[Gate, int] = {"ship": 0, "do not ship": WORSE, "undecided": UNDECIDED}


def run_command(arguments: Sequence[str] | None = None) -> None:
    """Run a command. Invalid input ends it with exit code 2 and one line that says what is wrong."""
    try:
        chosen = parse_command(arguments)
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
        _fail(in_options(str(error)))
    except MemoryError:
        _fail(
            "Not enough memory; skrank_metrics.sources.evaluate_batches reads parquet and csv in batches."
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


def _show_report(chosen: Chosen) -> int:
    reports = read_reports(chosen)
    (name, report), *others = reports.items()
    if others:
        for option, given in (("--save", chosen.save), ("--by-query", chosen.by_query)):
            if given:
                raise ValueError(f"{option} takes one ranking; got {', '.join(reports)}.")
        return _show_comparison(chosen, compare(reports))
    if chosen.save:
        report.save(chosen.save)

    def content() -> Record:
        columns = columns_of(report) if chosen.by_query else mean_columns(report)
        rows = rows_of(columns, {"ranking": name})
        return {"findings": {name: report.health.findings}, "rows": rows}

    show(chosen, _by_query(report) if chosen.by_query else report, content)
    return 0


def _by_query(report: RankingReport) -> Sections:
    """A report with the values per query."""
    # Ids are texts here, since floats print with four decimals, in which different ids may agree.
    ids = map(str, report.qid)
    rows = list(zip(ids, *report.per_query.values(), strict=True))
    return extended(report, Table(("qid", *report.per_query), rows))


def _compare_chosen(chosen: Chosen) -> int:
    reports = read_reports(chosen)
    if len(reports) < 2:
        raise ValueError(
            f"compare takes two or more rankings; got {', '.join(reports)}. A second run, saved report or column of "
            "--score is missing."
        )
    margin = _margin_of(chosen)
    baseline = chosen.baseline
    # The first ranking is usually the one in use; evaluate compares all with all.
    if baseline is None:
        baseline = [next(iter(reports))]
    found = compare(
        reports,
        baseline=baseline,
        margin=margin,
        confidence=chosen.confidence,
        random_state=chosen.random_state,
    )
    return _show_comparison(chosen, found)


def _show_comparison(chosen: Chosen, found: Comparison) -> int:
    """Show a comparison, and return the exit code of its decision."""
    # Nothing is printed before the decision is known.
    decision = None if found.plan.margin is None else found.decision

    def content() -> Record:
        rows = rows_of(found.columns_of_pairs(), {"slice": ALL})
        for name, part in found.named_slices.items():
            rows += rows_of(part.columns_of_pairs(), {"slice": name})
        rankings = rows_of(columns_of(found), {})
        return {
            "verdict": found.verdict,
            "decision": decision,
            "notes": [in_options(note) for note in found.notes()],
            "rankings": rankings,
            "rows": rows,
        }

    show(chosen, found, content, "" if decision is None else last_line(decision))
    if decision is None:
        return 0
    if chosen.output_file or chosen.output != "table":  # the table has the verdict
        print(readable(found.verdict), file=sys.stderr)
    return _CODES[decision]


def last_line(decision: Gate) -> str:
    """The exit code of a decision, and what the others mean."""
    code = _CODES[decision]
    meanings = {own: name for name, own in _CODES.items()} | {INVALID: "invalid input"}
    others = [f"{own} {name}" for own, name in sorted(meanings.items()) if own != code]
    return f"Exit code {code}: {decision} ({', '.join(others)})\n"


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
    # It needs scikit-learn and takes a second to load.
    from skrank_metrics import _demo

    _demo.run(picture)


_FUNCTIONS: dict[str, Callable[[Chosen], int | None]] = {
    "evaluate": _show_report,
    "compare": _compare_chosen,
    "metrics": _list_metrics,
    "demo": _run_demo,
}
