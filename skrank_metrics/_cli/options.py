"""The commands and their options, each declared once."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import skrank_metrics
from skrank_metrics._input.parameters import read_number
from skrank_metrics._output.result import visible
from skrank_metrics.metrics.conventions import CONVENTIONS, ConventionName
from skrank_metrics.sources._evaluate_run import DUPLICATES, IDS, MISSING, IdType, Missing
from skrank_metrics.sources.join import Duplicates


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

# Kinds of files: tables of rows with labels and scores; judgments and runs, which are lists by id; and saved reports,
# which are what they are.
FILE_KINDS = ("rows", "lists", "saved")

# Options that set arguments of other names.
OTHER_NAMES = {"weight": "sample_weight"}


def margin(text: str) -> tuple[str, float]:
    """Read a number, or a metric and its number; metrics may have "=" in their parameters."""
    metric, sign, size = text.rpartition("=")
    # The empty name stands for all metrics, but in "=0.005" a name was probably forgotten.
    if metric or not sign:
        with suppress(ValueError):
            return metric, read_number(size)
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
    """An option of some commands, for some kinds of files."""

    name: str
    help: str
    commands: Sequence[str] = tuple(OF_FILES)
    kinds: Sequence[str] = FILE_KINDS
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
    return CommandOption(name=name, help=about, kinds=["rows"], value="COLUMN", is_list=is_list)


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
        help="compare the others with it (default: the first)",
    ),
    CommandOption(
        name="confidence",
        commands=["compare"],
        read=read_number,
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
        kinds=["rows", "lists"],
        is_flag=True,
        help="leave out documents that nobody judged",
    ),
    CommandOption(
        name="missing",
        kinds=["lists"],
        choices=MISSING,
        help="topics without a ranking: count as 0 (default), leave out, or refuse",
    ),
    CommandOption(
        name="exclude",
        kinds=["lists"],
        value="FILE",
        help="table of pairs to leave out of the rankings, in columns query and document",
    ),
    CommandOption(
        name="duplicates",
        kinds=["lists"],
        choices=DUPLICATES,
        help="documents that are twice in a list: refuse (default), or keep the first or best",
    ),
    CommandOption(
        name="columns",
        kinds=["lists"],
        read=role_of_column,
        value="ROLE=NAME",
        is_repeatable=True,
        help="column of tables of judgments or runs, such as document=sku or qrels.query=term",
    ),
    CommandOption(
        name="ids",
        kinds=["lists"],
        choices=IDS,
        help="text: compare numbers in one file with text in another (default: given, as they are)",
    ),
    _column("by", "columns of a table with the slice of each query", is_list=True),
    _column("groups", "column with groups of dependent queries, such as those of a user"),
    _column("weight", "column with the weight of each query"),
    CommandOption(
        name="convention",
        kinds=["rows", "lists"],
        choices=[*CONVENTIONS],
        value="LIBRARY",
        help="library whose defaults apply (default: trec_eval for TREC runs, else sklearn): "
        + ", ".join(CONVENTIONS),
    ),
    CommandOption(
        name="output",
        choices=["table", "markdown", "json", "html"],
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
_NAMES = {
    OTHER_NAMES.get(option.attribute, option.attribute): f"--{option.name}" for option in OPTIONS
}
_NAME = "|".join(sorted(_NAMES, key=len, reverse=True))
# Where messages name an argument: as what must be otherwise, as what a column is for, and with a value to pass.
_SUBJECTS = re.compile(rf"^({_NAME})( and )?((?<= and )(?:{_NAME}))?(?= must )")
_PURPOSE = re.compile(rf"(?<= for )({_NAME})(?=[.;])")
_SETTING = re.compile(rf"\b({_NAME})=(?:'([^']*)'|\{{'([^']*)': '([^']*)'\}})")
# What all values of a result are called in Python, where the command line has its JSON.
_EVERYWHERE = re.compile(r"(?<=see )\.details\(\)|\.slices(?= has all)|\.to_frame\(\)(?= has all)")


def in_options(message: str) -> str:
    """A message for whoever typed a command: it names options, where Python names the arguments of functions."""
    message = _SUBJECTS.sub(_named, message)
    message = _PURPOSE.sub(lambda found: _NAMES[found[1]], message)
    message = _SETTING.sub(_set, message).replace("condense=True", "--condense")
    return _EVERYWHERE.sub("--output json", message)


def _named(found: re.Match[str]) -> str:
    one, other = _NAMES[found[1]], _NAMES.get(found[3], "")
    return f"{one}{found[2] or ''}{other}"


def _set(found: re.Match[str]) -> str:
    value = found[2] if found[3] is None else f"{found[3]}={found[4]}"
    return f"{_NAMES[found[1]]} {value}"


# The words of a command line, checked and read.

FILES = """
Pass judgments and runs, QRELS RUN [RUN ...], as TREC files, tables (parquet,
csv, tsv, arrow) or dicts in JSON; or tables of rows with --label, --score and
--qid. Saved reports count as rankings. The content of a file says what it is. A
table may be a folder or a pattern. Files may be packed (gzip, bz2, xz, zstd),
and "-" is standard input. Name metrics as ndcg@10 map "rbp(p=0.9)". A name that
is both a file and a metric is taken as a metric; write ./map for the file.
"""


class Chosen(argparse.Namespace):
    """What a command line asks for: the command, its words and its options, None if they are not given."""

    command: str
    words: list[str]  # files and metrics
    picture: str
    by_query: bool
    save: str | None
    margin: list[tuple[str, float]] | None  # by metric; "" is all metrics
    baseline: list[str] | None
    confidence: float
    random_state: int
    label: str | None
    score: list[str] | None
    qid: str | None
    retrieved: str | None
    judged: str | None
    condense: bool
    missing: Missing | None
    exclude: str | None
    duplicates: Duplicates | None
    columns: list[tuple[str, str]] | None  # role and name
    ids: IdType | None
    by: list[str] | None
    groups: str | None
    weight: str | None
    convention: ConventionName | None
    output: str
    output_file: str | None

    def given(self, *options: str) -> dict[str, Any]:
        """The values of some options that were passed, by their attributes."""
        values = {option: getattr(self, option) for option in options}
        return {option: value for option, value in values.items() if value is not None}

    def is_given(self, option: CommandOption) -> bool:
        """Whether an option without a default was passed; 0 is a value, too."""
        value = getattr(self, option.attribute)
        return value is not None and value is not False


class _Once(argparse.Action):
    """Store what follows an option. A list collects what is passed again; anything else is passed once."""

    is_list = False

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        words = values if isinstance(values, list) else [values]
        if "" in words:  # as from an unset variable of a shell, which must not read as no option
            parser.error(f"{option_string} is empty. Name something, or leave the option out.")
        # argparse alone would keep the last value and drop those before without a word.
        before = getattr(namespace, self.dest)
        if before is not None and not self.is_list:
            parser.error(f"{option_string} is passed twice. It was {visible(str(before))} before.")
        if self.is_list:
            values = [*(before or []), *values]
            # A repeated column would stand for two rankings or two slices of the same name.
            repeated = [value for value in values if values.count(value) > 1]
            if repeated:
                parser.error(f"{option_string} names {visible(str(repeated[0]))} twice.")
        setattr(namespace, self.dest, values)


class _Collect(_Once):
    is_list = True


def parse_command(arguments: Sequence[str] | None) -> Chosen:
    """The command and its options; metrics may also follow them."""
    parser = argparse.ArgumentParser(
        prog="skrank-metrics", description="Ranking metrics for scikit-learn."
    )
    version = f"%(prog)s {skrank_metrics.__version__}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, command in COMMANDS.items():
        _add_command(commands, name, command)
    # argparse takes words after an option as unknown; they are metrics, unless they look like options.
    chosen, rest = parser.parse_known_args(arguments, Chosen())
    takes_words = COMMANDS[chosen.command].reads_files
    unknown = [word for word in rest if word.startswith("-") and word != "-"]
    if unknown or (rest and not takes_words):
        parser.error(f"unrecognized arguments: {visible(' '.join(rest))}")
    if takes_words:
        chosen.words += rest
        if "" in chosen.words:  # as from an unset variable of a shell
            parser.error("a file or metric is empty.")
    _apply_defaults(chosen)
    return chosen


def _add_command(commands: Any, name: str, command: Command) -> None:
    """Give a command its own parser."""
    parser = commands.add_parser(
        name, help=command.about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.description = command.about
    # Options that a command does not have are there as None, so that inputs can ask for any of them.
    parser.set_defaults(**dict.fromkeys(option.attribute for option in OPTIONS))
    if command.reads_files:
        parser.description += f"\n{FILES}"
        parser.usage = "%(prog)s FILE ... [METRIC ...] [options]"
        parser.epilog = f"Example:\n  %(prog)s {command.example}"
        words = f"files, then metrics (default: {command.metrics})"
        parser.add_argument("words", nargs="+", metavar="FILE ... METRIC", help=words)
    for option in OPTIONS:
        if name in option.commands:
            _add_option(parser, option)


def _add_option(parser: argparse.ArgumentParser, option: CommandOption) -> None:
    """Let a parser take an option. What it is if it is not passed is filled in later, to see what was passed."""
    name = f"--{option.name}"
    if option.is_flag:
        parser.add_argument(name, action="store_true", help=option.help)
        return
    details: dict[str, Any] = {"type": option.read}
    if option.choices:
        details["choices"] = option.choices
    if option.value:
        details["metavar"] = option.value
    if option.is_list or option.is_repeatable:
        # nargs=1 gives a list of one value, so that both kinds are collected in the same way.
        details["nargs"] = "+" if option.is_list else 1
    default = "" if option.default is None else f" (default: {option.default})"
    action = _Collect if option.is_list or option.is_repeatable else _Once
    parser.add_argument(name, action=action, help=option.help + default, **details)


def _apply_defaults(chosen: Chosen) -> None:
    for option in OPTIONS:
        if chosen.command in option.commands and getattr(chosen, option.attribute) is None:
            setattr(chosen, option.attribute, option.default)
