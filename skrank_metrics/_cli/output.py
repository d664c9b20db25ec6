"""Results as text, JSON or an HTML page."""

from __future__ import annotations

import glob
import io
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from skrank_metrics._cli.options import OPTIONS, Chosen, in_options
from skrank_metrics._output.page import write_whole
from skrank_metrics._output.result import (
    Result,
    markdown_of,
    page_of,
    sections_on_command_line,
    text_of,
)
from skrank_metrics.metrics.names import bind, expand
from skrank_metrics.sources.tables import file_of

# What the words of a command are: metrics, files and their format, and paths that must not be the same.

STANDARD_INPUT = "-"


def split_words(chosen: Chosen) -> tuple[list[str], list[str]]:
    """The metrics among the words of a command, and its files, which exist."""
    # A metric stays a metric if a file of that name appears, so that a command keeps its meaning.
    metrics = [word for word in chosen.words if _error_of_metric(word, chosen) is None]
    files = [word for word in chosen.words if word not in metrics]
    if not files:
        raise ValueError(f"Pass files beside the metrics; got {', '.join(chosen.words)}.")
    for file in files:
        _check_exists(file, chosen)
        # Reports are held by name, where one of two with the same name would be lost.
        if files.count(file) > 1:
            raise ValueError(f"Name each file once; got {file} again.")
    return metrics, files


def _error_of_metric(word: str, chosen: Chosen) -> ValueError | None:
    """Why a word names neither a metric nor several; by default, names of trec_eval are metrics, too."""
    # Names such as P_5 are of trec_eval; in other conventions they may stand for other numbers.
    convention = chosen.convention or "trec_eval"
    try:
        for name in expand([word]):
            bind(name, convention)
    except ValueError as error:
        return error
    return None


def _check_exists(word: str, chosen: Chosen) -> None:
    """Refuse a word that is neither a metric nor a file."""
    if word == STANDARD_INPUT or os.path.exists(word) or glob.glob(word):
        return
    # Parameters of metrics have dots, as rbp(p=0.9), but names have none.
    if any(sign in word.partition("(")[0] for sign in "./"):
        raise ValueError(f"File not found: {word}.")
    raise ValueError(f"{word} is not a file. {_error_of_metric(word, chosen)}")


def is_saved(file: str) -> bool:
    """Whether a file is a saved report, by its content."""
    return os.path.isfile(file) and file_of(file).head.startswith(b'{"format": "skrank_metrics ')


def check_options(others: Sequence[str], chosen: Chosen) -> None:
    """The options must apply to the files: saved reports, and others."""
    kind = "rows" if chosen.label else "lists"
    if not others:
        kind = "saved"
    for option in OPTIONS:
        if not chosen.is_given(option) or kind in option.kinds:
            continue
        raise ValueError(f"--{option.name} does not apply to {_KINDS[kind]}.")
    if kind == "lists" and len(others) == 1:
        raise ValueError(
            "Pass a ranking: runs after the judgments; a table of rows with --label, --score and --qid; or a saved "
            "report."
        )
    if kind == "rows" and not chosen.score:
        raise ValueError("--label needs --score, the columns with the scores.")


_KINDS = {
    "rows": "tables of rows",
    "lists": "judgments and runs. Tables of rows need --label, too",
    "saved": "saved reports",
}
# What is left out of the names of files, such as ".txt.gz".
_ENDING = re.compile(r"(?<=.)(\.[a-z]{2,7})?(\.(gz|bz2|xz|zst))?$")


def short_names(paths: Sequence[str], taken: Sequence[str] = ()) -> dict[str, str]:
    """Paths by their stems, or else by what differs: without the folders, and files or folders, that all share.

    ``runs/a/model.txt`` and ``runs/b/model.txt`` are a and b.
    """
    stems = [_ENDING.sub("", os.path.basename(path)) for path in paths]
    if len({*stems, *taken}) == len(stems) + len(taken):
        return dict(zip(paths, stems, strict=True))
    parts = [path.split("/") for path in paths]
    for end in (0, -1):
        # Something must remain of the shortest.
        while min(map(len, parts)) > 1 and len({path[end] for path in parts}) == 1:
            for path in parts:
                path.pop(end)
    return dict(zip(paths, map("/".join, parts), strict=True))


def check_outputs(files: Sequence[str], chosen: Chosen) -> None:
    """Refuse outputs that would overwrite an input or each other, and names that say no file or no report."""
    if chosen.output_file == STANDARD_INPUT:
        raise ValueError("--output-file must name a file; without it, standard output is written.")
    # Each file that is read, and each output, by what tells links to it.
    used = {_identity(file): file for file in (*files, chosen.exclude) if file}
    for option, path in (("--output-file", chosen.output_file), ("--save", chosen.save)):
        if path is None:
            continue
        other = used.setdefault(_identity(path), option)
        if other != option:
            raise ValueError(f"{option} {path} would overwrite {other}. Choose another file.")


def _identity(path: str) -> object:
    """What is the same for all paths that lead to one file, through links, too."""
    if os.path.exists(path):
        info = os.stat(path)
        return info.st_dev, info.st_ino
    # Some file systems ignore case, which nobody can tell before the file is there.
    return os.path.realpath(path).casefold()


# Results as text, JSON or an HTML page.

Record: TypeAlias = dict[str, Any]


def show(chosen: Chosen, result: Result, content: Callable[[], Record], ending: str = "") -> None:
    """Write a result as chosen; only JSON has its content, and only text the ending."""
    text = _text_of(chosen.output, result, content, ending)
    if chosen.output_file is not None:
        write_whole(text, chosen.output_file)
        return
    if isinstance(sys.stdout, io.TextIOWrapper):  # ids may have characters that a terminal has not
        sys.stdout.reconfigure(errors="backslashreplace")
    print(text, end="")


def _text_of(output: str, result: Result, content: Callable[[], Record], ending: str) -> str:
    # The text ends with one line break, as that of other commands.
    if output == "table":
        return text_of(sections_on_command_line(result, in_options, whole=False)) + f"\n{ending}"
    if output == "markdown":
        return markdown_of(sections_on_command_line(result, in_options, whole=True))
    if output == "html":
        return in_options(page_of(result))
    # JSON has no NaN and infinity, and other programs fail to read them.
    finite = json.loads(json.dumps(content(), default=_plain), parse_constant=lambda _: None)
    # ASCII, without control characters
    return json.dumps(finite, indent=2) + "\n"


def _plain(value: Any) -> Any:
    """What json does not know: NumPy's numbers as numbers, and anything else as text."""
    return value.item() if hasattr(value, "item") else str(value)
