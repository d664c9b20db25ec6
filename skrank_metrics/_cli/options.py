"""The commands and their options, each declared once."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from skrank_metrics._input.parameters import number
from skrank_metrics.metrics.conventions import CONVENTIONS
from skrank_metrics.sources.evaluate_run import DUPLICATES, MISSING
from skrank_metrics.sources.files import SUFFIXES


@dataclass(frozen=True)
class Command:
    """What a command does, and for one that reads files, the metrics if none are named, and an example."""

    about: str
    example: str = ""
    metrics: str = "ndcg@10 map mrr"

    @property
    def reads_files(self) -> bool:
        """Whether the command takes files and metrics."""
        return bool(self.example)


COMMANDS = {
    "evaluate": Command(
        "Mean of each metric with its interval; several rankings are compared.",
        "qrels.txt run.txt ndcg@10 map",
    ),
    "compare": Command(
        "Which of several rankings of the same queries may be the best, with intervals\n"
        "and p-values. With --margin, the exit code is 0 if every ranking is better than\n"
        "the baseline or not worse by more than the margin, 1 if one is worse, and 3 if\n"
        "these queries cannot decide.",
        "qrels.txt prod.txt new.txt ndcg@10 --margin 0.005",
    ),
    "metrics": Command("List the names of the metrics, with their functions and ranges."),
    "demo": Command("Tune and compare ranking models on data that ships with scikit-learn."),
}
OF_FILES = [name for name, command in COMMANDS.items() if command.reads_files]

# Formats of files. Saved reports are what they are: options of rows do not apply to them.
TABLES = [*SUFFIXES]
FORMATS = ["trec", *TABLES]
# Judgments and runs, lists by id: in files of trec_eval, and in tables.
LISTS = ["trec", "lists"]
ANY = [*FORMATS, "lists", "saved"]

# Options that set arguments of other names.
ARGUMENTS = {"weight": "sample_weight"}


def margin(text: str) -> tuple[str, float]:
    """Read a number, or a metric and its number; metrics may have "=" in their parameters."""
    metric, sign, size = text.rpartition("=")
    # The empty name stands for all metrics, but in "=0.005" a name was probably forgotten.
    if metric or not sign:
        with suppress(ValueError):
            return metric, number(size)
    raise _other_form("NUMBER or METRIC=NUMBER", text)


def role_of_column(text: str) -> tuple[str, str]:
    """Read what a column is, and its name."""
    role, sign, name = text.partition("=")
    if not (role and sign and name):
        raise _other_form("ROLE=NAME", text)
    return role, name


def _other_form(expected: str, text: str) -> argparse.ArgumentTypeError:
    return argparse.ArgumentTypeError(f"must be {expected}; got {text!r}")


def integer(text: str) -> int:
    """Read an integer of ASCII digits."""
    # int() also reads 1_000 and the digits of other scripts.
    if not re.fullmatch("[+-]?[0-9]+", text):
        raise ValueError(text)
    return int(text)


@dataclass(frozen=True, kw_only=True)
class CommandOption:
    """An option of some commands, for files of some formats."""

    name: str
    help: str
    commands: Sequence[str] = tuple(OF_FILES)
    formats: Sequence[str] = tuple(ANY)
    value: str = ""  # what the value is called in the help
    read: Callable[[str], object] = str
    choices: Sequence[str] = ()
    is_flag: bool = False
    is_list: bool = False  # one or more values, which add up if the option is repeated
    is_repeatable: bool = False  # one value at a time
    default: object = None

    @property
    def attribute(self) -> str:
        """Where the parsed value is."""
        return self.name.replace("-", "_")


def _column(name: str, about: str, *, is_list: bool = False) -> CommandOption:
    """An option that names columns of a table of rows."""
    return CommandOption(name=name, help=about, formats=TABLES, value="COLUMN", is_list=is_list)


OPTIONS = [
    CommandOption(
        name="picture",
        commands=["demo"],
        value="FILE",
        default="ranking.png",
        help="file for the picture",
    ),
    CommandOption(
        name="by-query",
        commands=["evaluate"],
        is_flag=True,
        help="also print the values per query",
    ),
    CommandOption(
        name="save",
        commands=["evaluate"],
        value="FILE.json",
        help="file for the report, which compare takes as a ranking",
    ),
    CommandOption(
        name="margin",
        commands=["compare"],
        read=margin,
        value="NUMBER",
        is_repeatable=True,
        help="the loss that does not matter, or METRIC=NUMBER for each metric; sets the exit code",
    ),
    CommandOption(
        name="baseline",
        commands=["compare"],
        value="RANKING",
        is_repeatable=True,
        help="compare the others with it (default with --margin: the first)",
    ),
    CommandOption(
        name="test",
        commands=["compare"],
        choices=["permutation", "t"],
        default="permutation",
        help="paired test: random signs or Student's t",
    ),
    CommandOption(
        name="correction",
        commands=["compare"],
        choices=["max", "holm", "bh", "none"],
        default="max",
        help="of p-values for several pairs",
    ),
    CommandOption(
        name="confidence",
        commands=["compare"],
        read=number,
        default=0.95,
        help="confidence level",
    ),
    CommandOption(
        name="random-state",
        commands=["compare"],
        read=integer,
        default=0,
        help="seed of the random signs",
    ),
    _column("label", "column of a table with the labels"),
    _column("score", "columns with the scores", is_list=True),
    _column("qid", "column of a table with the query ids (default: qid)"),
    _column("retrieved", "column that is false for documents that were not ranked"),
    _column("judged", "column that is false for documents that nobody judged"),
    CommandOption(
        name="condense",
        formats=[*LISTS, *TABLES],
        is_flag=True,
        help="leave out documents that nobody judged",
    ),
    CommandOption(
        name="missing",
        formats=LISTS,
        choices=MISSING,
        help="topics without a ranking: count as 0 (default), leave out, or refuse",
    ),
    CommandOption(
        name="exclude",
        formats=LISTS,
        value="FILE",
        help="table of pairs to leave out of the rankings, in columns query and document",
    ),
    CommandOption(
        name="duplicates",
        formats=LISTS,
        choices=DUPLICATES,
        help="documents that are twice in a list: refuse (default), or keep the first or best",
    ),
    CommandOption(
        name="columns",
        formats=LISTS,
        read=role_of_column,
        value="ROLE=NAME",
        is_repeatable=True,
        help="column of tables of judgments or runs, such as document=sku",
    ),
    _column("by", "columns of a table with the slice of each query", is_list=True),
    _column("groups", "column with groups of dependent queries, such as those of a user"),
    _column("weight", "column with the weight of each query"),
    CommandOption(
        name="convention",
        formats=[*FORMATS, "lists"],
        choices=[*CONVENTIONS],
        value="LIBRARY",
        help="library whose defaults apply (default: trec_eval for TREC files, else sklearn): "
        + ", ".join(CONVENTIONS),
    ),
    CommandOption(
        name="output",
        choices=["table", "json", "html"],
        default="table",
        help="format of the output",
    ),
    CommandOption(
        name="output-file",
        value="FILE",
        help="file for the output, replaced only when the output is complete",
    ),
]

# The options by the arguments that they set, for messages.
NAMES = {
    ARGUMENTS.get(option.attribute, option.attribute): f"--{option.name}" for option in OPTIONS
}
