"""The words of a command line, checked and read."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, Literal

import skrank_metrics
from skrank_metrics._cli.options import COMMANDS, OPTIONS, Command, CommandOption
from skrank_metrics._output.result import visible
from skrank_metrics.metrics.conventions import ConventionName
from skrank_metrics.reports.plan import Correction, Test
from skrank_metrics.sources.join import Duplicates
from skrank_metrics.sources.run_evaluation import Missing

FILES = """
Pass judgments and runs, QRELS RUN [RUN ...], as TREC files or tables (parquet,
csv, tsv, arrow); or tables of rows with --label, --score and --qid. Saved
reports (.json) count as rankings. Files may be gzipped, and "-" is standard
input. Name metrics as ndcg@10 map "rbp(p=0.9)". A name that is both a file and
a metric is taken as a metric; write ./map for the file.
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
    test: Test
    correction: Correction | Literal["none"]
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
