"""Results as text, JSON or an HTML page."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from skrank_metrics._cli.options import OPTIONS, TABLES, Chosen, in_options
from skrank_metrics._output.page import write_whole
from skrank_metrics._output.result import Result, page_of
from skrank_metrics.metrics.names import bind, expand
from skrank_metrics.sources.tables import format_of

# What the words of a command are: metrics, files and their format, and paths that must not be the same.

SAVED = ".json"
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
    if word == STANDARD_INPUT or os.path.exists(word):
        return
    # Parameters of metrics have dots, as rbp(p=0.9), but names have none.
    if any(sign in word.partition("(")[0] for sign in "./"):
        raise ValueError(f"File not found: {word}.")
    raise ValueError(f"{word} is not a file. {_error_of_metric(word, chosen)}")


def is_saved(file: str) -> bool:
    """Whether a file is a saved report, by its name."""
    return file.lower().endswith(SAVED)


def format_of_files(files: Sequence[str], chosen: Chosen) -> str:
    """The format of the first file that is not a saved report; the options must apply to it."""
    form = _format_of_files(files, chosen)
    for option in OPTIONS:
        if not chosen.is_given(option) or form in option.formats:
            continue
        if form == "lists":
            raise ValueError(
                f"--{option.name} does not apply to tables of judgments and runs. Tables of rows need --label, too."
            )
        raise ValueError(f"--{option.name} does not apply to {form} files.")
    return form


def _format_of_files(files: Sequence[str], chosen: Chosen) -> str:
    others = [file for file in files if not is_saved(file)]
    if not others:
        return "saved"
    form = format_of(others[0])
    # Labels are in rows; tables without them are judgments, which have their own, and runs.
    if form and len(others) > 1 and not chosen.label:
        return "lists"
    if form:
        return form
    if chosen.label:
        raise ValueError(f"{others[0]} must end in .{', .'.join(TABLES)} if --label is passed.")
    return "trec"


def short_paths(paths: Sequence[str]) -> dict[str, str]:
    """Paths by what differs: without folders that all begin with, and files or folders that all end with.

    ``runs/a/model.txt`` and ``runs/b/model.txt`` are a and b. A single path stays.
    """
    parts = [path.split("/") for path in paths]
    for end in (0, -1):
        # Something must remain of the shortest.
        while (
            len(parts) > 1 and min(map(len, parts)) > 1 and len({path[end] for path in parts}) == 1
        ):
            for path in parts:
                path.pop(end)
    return dict(zip(paths, map("/".join, parts), strict=True))


def check_outputs(files: Sequence[str], chosen: Chosen) -> None:
    """Refuse outputs that would overwrite an input or each other, and names that say no file or no report."""
    # By another name, compare would not take the file for a saved report.
    if chosen.save and not is_saved(chosen.save):
        raise ValueError(f"--save must name a file that ends in {SAVED}; got {chosen.save!r}.")
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


def show(chosen: Chosen, result: Result, content: Callable[[], Record]) -> None:
    """Write a result as chosen; only JSON has its content."""
    text = _text_of(chosen.output, result, content)
    if chosen.output_file is not None:
        write_whole(text, chosen.output_file)
        return
    if isinstance(sys.stdout, io.TextIOWrapper):  # ids may have characters that a terminal has not
        sys.stdout.reconfigure(errors="backslashreplace")
    print(text, end="")


def _text_of(output: str, result: Result, content: Callable[[], Record]) -> str:
    # The text ends with one line break, as that of other commands.
    if output == "table":
        return in_options(f"{result}\n")
    if output == "html":
        return in_options(page_of(result))
    # JSON has no NaN and infinity, and other programs fail to read them.
    finite = json.loads(json.dumps(content(), default=_plain), parse_constant=lambda _: None)
    # ASCII, without control characters
    return json.dumps(finite, indent=2) + "\n"


def _plain(value: Any) -> Any:
    """What json does not know: NumPy's numbers as numbers, and anything else as text."""
    return value.item() if hasattr(value, "item") else str(value)
