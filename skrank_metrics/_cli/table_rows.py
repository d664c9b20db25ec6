"""Labels, scores and further columns of tables of rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from skrank_metrics._cli.options import OPTIONS
from skrank_metrics._cli.parsing import Chosen
from skrank_metrics._cli.words import hint_of_commas, is_metric
from skrank_metrics._input.arrays import nearest
from skrank_metrics.sources.batches import read_columns
from skrank_metrics.sources.columns import Columns
from skrank_metrics.sources.table_files import TableFile, import_arrow

MOST_NAMED = 20  # columns in a message


@dataclass(frozen=True)
class Rows:
    """Rows of a file: their labels and query ids, the scores of each ranking, and further arguments of evaluate."""

    labels: Any
    qid: Any
    scores: dict[str, Any]
    others: dict[str, Any] = field(default_factory=dict)


def read_table(file: str, form: str, chosen: Chosen, *, signed: bool) -> Rows:
    """Read the columns that the options name; ``signed`` is whether labels may be negative."""
    # First, so that the error without pyarrow names the file that needs it.
    import_arrow(f"Reading {file}")
    table = TableFile.opened(file, form)
    # Not a default of the option, which would count as passed for files without columns; and before
    # the check, which then also covers a table without this column.
    chosen.qid = chosen.qid or "qid"
    _check_named_columns(table, chosen)
    label = chosen.label or ""
    slices = chosen.by or []
    scores = chosen.score or []
    others = {
        "retrieved": chosen.retrieved,
        "judged": chosen.judged,
        "groups": chosen.groups,
        "sample_weight": chosen.weight,
    }
    # Like columns of documents, slices may have any type.
    columns = Columns(label, scores, chosen.qid, documents=slices, **others)
    # Documents that nobody judged have labels that do not count, so all must be valid.
    arrays = read_columns(table, columns, signed=signed and not chosen.judged)
    found = {argument: arrays[name] for argument, name in others.items() if name is not None}
    if len(slices) == 1:
        found["by"] = arrays[slices[0]]
    elif slices:
        found["by"] = {name: arrays[name] for name in slices}
    return Rows(arrays[label], arrays[chosen.qid], {name: arrays[name] for name in scores}, found)


def _check_named_columns(table: TableFile, chosen: Chosen) -> None:
    """Name all options that are missing or name no column, with the columns."""
    known = table.column_names()
    options, absent = list[str](), list[str]()
    for option in OPTIONS:
        if not option.is_column:
            continue
        given = getattr(chosen, option.attribute)
        names = [given] if isinstance(given, str) else given or []
        unknown = [name for name in names if name not in known]
        # The other columns are optional, and that of the ids has a default.
        is_missing = not names and option.name in ("label", "score")
        if unknown or is_missing:
            options.append(f"--{option.name}")
            absent += unknown
    if not options:
        return
    # One message for all options, so that a user does not have to run the command once for each.
    absent = list(dict.fromkeys(absent))
    lacks = f" has no column {', '.join(map(repr, absent))}. Pass" if absent else " needs"
    hint = nearest(absent[0], known) if len(absent) == 1 else ""
    hint = hint_of_commas(absent) or hint
    if any(is_metric(name, chosen) for name in absent):
        # --score takes every word that follows it, including metrics.
        hint = " Metrics come before --score, or after another option."
    shown = ", ".join(known[:MOST_NAMED])
    if len(known) > MOST_NAMED:
        shown += ", ..."
    raise ValueError(f"{table.name}{lacks} {', '.join(options)}; columns: {shown}.{hint}")
