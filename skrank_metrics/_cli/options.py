"""Commands and their options, each declared once."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import skrank_metrics
from skrank_metrics._output.table import visible
from skrank_metrics.metrics.conventions import CONVENTIONS
from skrank_metrics.sources.evaluate_run import MISSING, SCORE_TYPES
from skrank_metrics.sources.files import SUFFIXES

FILES = """
Pass TREC files, QRELS RUN [RUN ...]; or a table (parquet, csv, tsv, arrow)
with --label, --score and --qid; or an svmlight file with --score FILE. Saved
reports (.json) count as rankings. Files may be gzipped, and "-" is standard
input. Name metrics as ndcg@10 map "rbp(p=0.9)". A name that is both a file and
a metric is taken as a metric; write ./map for the file.
"""
# What the commands do, and for those that read files, the metrics if none are named, and an example.
COMMANDS = {
    "evaluate": (
        "Mean of each metric: for one ranking with intervals and findings, for several\nside by side.",
        "ndcg@10 map mrr",
        "qrels.txt run.txt ndcg@10 map",
    ),
    "compare": (
        "Which of several rankings of the same queries may be the best, with intervals\n"
        "and p-values. With --margin, the exit code is 0 if every ranking is better than\n"
        "the baseline or not worse by more than the margin, 1 if one is worse, and 3 if\n"
        "these queries cannot decide.",
        "ndcg@10 map mrr",
        "qrels.txt prod.txt new.txt ndcg@10 --margin 0.005",
    ),
    "explain": (
        "Why two libraries give different values for the same ranking: how much each\n"
        "difference in gain, ties and so on contributes.",
        "ndcg@10",
        "qrels.txt run.txt map --conventions trec_eval lightgbm",
    ),
    "match": (
        "Which gain, ties, cutoff and so on give a value that you have, nearest first,\nand which libraries use them.",
        "ndcg",
        "rows.csv ndcg@10 --value 0.4231 --label y --score a",
    ),
    "metrics": ("List the names of the metrics, with their functions and ranges.", "", ""),
    "demo": ("Tune and compare ranking models on data that ships with scikit-learn.", "", ""),
}
OF_REPORTS, ALL = (
    ["evaluate", "compare"],
    [name for name, (_, _, example) in COMMANDS.items() if example],
)
TABLES = [*SUFFIXES]
ROWS, TREC, FORMATS = [*TABLES, "svmlight"], ["trec"], ["trec", *TABLES, "svmlight"]
ANY = [*FORMATS, "saved"]
LIBRARIES, LISTED = [*CONVENTIONS], ", ".join(CONVENTIONS)
RULES = f"library whose defaults apply (default: trec_eval for TREC files, else sklearn): {LISTED}"


class CommandOption(NamedTuple):
    """An option of some commands, for files of some formats; reports that were saved are what they are."""

    name: str
    commands: Sequence[str]
    formats: Sequence[str]
    kind: Any  # a type, bool for a flag, a list of choices, or what the value is called in the help
    help: str
    more: Mapping[str, Any] = {}  # further arguments of add_argument

    @property
    def attribute(self) -> str:
        """Where the parsed value is."""
        return self.name.replace("-", "_")

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Let a parser take this option."""
        key = (
            "choices"
            if isinstance(self.kind, list)
            else "metavar"
            if isinstance(self.kind, str)
            else "type"
        )
        kind: dict[str, Any] = {"action": "store_true"} if self.kind is bool else {key: self.kind}
        default = " (default: %(default)s)" if "default" in self.more else ""
        parser.add_argument(f"--{self.name}", help=self.help + default, **{**kind, **self.more})


TESTS, CORRECTIONS = ["permutation", "t"], ["max", "holm", "bh", "none"]
SEVERAL, PAIR = {"nargs": "+"}, {"nargs": 2, "metavar": ("A", "B"), "required": True}
_OPTIONS: list[tuple[Any, ...]] = [
    ("picture", ["demo"], [], Path, "file for the picture", {"default": Path("ranking.png")}),
    ("by-query", ["evaluate"], ANY, bool, "also print the values per query"),
    (
        "save",
        ["evaluate"],
        ANY,
        "FILE.json",
        "file for the report, which compare takes as a ranking",
    ),
    ("margin", ["compare"], ANY, float, "the loss that does not matter; sets the exit code"),
    (
        "baseline",
        ["compare"],
        ANY,
        "RANKING",
        "compare the others with it (default with --margin: the first)",
    ),
    (
        "test",
        ["compare"],
        ANY,
        TESTS,
        "paired test: random signs or Student's t",
        {"default": TESTS[0]},
    ),
    (
        "correction",
        ["compare"],
        ANY,
        CORRECTIONS,
        "of p-values for several pairs",
        {"default": "max"},
    ),
    ("confidence", ["compare"], ANY, float, "confidence level", {"default": 0.95}),
    ("random-state", ["compare"], ANY, int, "seed of the random signs", {"default": 0}),
    ("conventions", ["explain"], ANY, LIBRARIES, f"two of {LISTED}", PAIR),
    ("value", ["match"], ANY, "VALUE", "the value to find", {"required": True}),
    (
        "tolerance",
        ["match"],
        ANY,
        float,
        "largest distance from it (default: half a unit of its last digit)",
    ),
    (
        "format",
        ALL,
        ANY,
        FORMATS,
        "format of the files (default: from their names and the options)",
    ),
    ("label", ALL, TABLES, "COLUMN", "column of a table with the labels"),
    (
        "score",
        ALL,
        ROWS,
        "COLUMN",
        "columns with the scores, or files with a score per svmlight row",
        SEVERAL,
    ),
    ("qid", ALL, TABLES, "COLUMN", "column of a table with the query ids (default: qid)"),
    ("retrieved", ALL, TABLES, "COLUMN", "column that is false for documents that were not ranked"),
    ("judged", ALL, TABLES, "COLUMN", "column that is false for documents that nobody judged"),
    ("condense", OF_REPORTS, ["trec", *TABLES], bool, "leave out documents that nobody judged"),
    (
        "missing",
        ALL,
        TREC,
        [*MISSING],
        "topics without a ranking: count as 0 (default), leave out, or refuse",
    ),
    (
        "exclude",
        ALL,
        TREC,
        "FILE",
        "table of pairs to leave out of the rankings, in columns query and document",
    ),
    (
        "score-type",
        ALL,
        TREC,
        [*SCORE_TYPES],
        "of scores of runs (default: float32, as in trec_eval 9)",
    ),
    (
        "by",
        OF_REPORTS,
        TABLES,
        "COLUMN",
        "columns of a table with the slice of each query",
        SEVERAL,
    ),
    (
        "groups",
        OF_REPORTS,
        TABLES,
        "COLUMN",
        "column with groups of dependent queries, such as those of a user",
    ),
    ("weight", OF_REPORTS, TABLES, "COLUMN", "column with the weight of each query"),
    ("convention", OF_REPORTS, FORMATS, LIBRARIES, RULES, {"metavar": "LIBRARY"}),
    (
        "ties",
        OF_REPORTS,
        FORMATS,
        ["average", "best", "worst", "stable"],
        "order of documents with equal scores",
    ),
    (
        "replace-undefined-by",
        OF_REPORTS,
        FORMATS,
        float,
        "value of queries for which a metric is undefined",
    ),
    (
        "output",
        ALL,
        ANY,
        ["table", "tsv", "json", "html"],
        "format of the output",
        {"default": "table"},
    ),
    (
        "output-file",
        ALL,
        ANY,
        Path,
        "file for the output, replaced only when the output is complete",
    ),
]
OPTIONS = [CommandOption(*row) for row in _OPTIONS]


def parse_command(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command and its options; metrics may also follow them."""
    parser = argparse.ArgumentParser(
        prog="skrank-metrics", description="Ranking metrics for scikit-learn."
    )
    parser.add_argument(
        "--version", action="version", version=f"%(prog)s {skrank_metrics.__version__}"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (about, metrics, example) in COMMANDS.items():
        own = commands.add_parser(
            name, help=about, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        own.description = f"{about}\n{FILES}" if example else about
        if example:
            own.usage, own.epilog = (
                "%(prog)s FILE ... [METRIC ...] [options]",
                f"Example:\n  %(prog)s {example}",
            )
            words = f"files, then metrics (default: {metrics})"
            own.add_argument("words", nargs="+", metavar="FILE ... METRIC", help=words)
            own.set_defaults(**dict.fromkeys(option.attribute for option in OPTIONS))
        for option in OPTIONS:
            if name in option.commands:
                option.add_to(own)
    chosen, rest = parser.parse_known_args(arguments)
    if rest and (
        chosen.command not in ALL or any(word.startswith("-") and word != "-" for word in rest)
    ):
        parser.error(f"unrecognized arguments: {visible(' '.join(rest))}")
    if rest:
        chosen.words += rest
    return chosen
