"""Runs commands, and writes the files that they read."""

import pytest

from skrank_metrics import (
    evaluate,
)
from skrank_metrics.__main__ import main
from skrank_metrics._cli.commands import last_line
from skrank_metrics._cli.options import in_options
from skrank_metrics._output.result import sections_on_command_line, text_of
from support.policies import with_policies

QRELS = "301 0 a 1\n301 0 b 0\n302 0 a 2\n302 0 c 1\n"
RUN = "301 Q0 b 1 2.5 tag\n301 Q0 a 2 1.5 tag\n302 Q0 a 1 3 tag\n302 Q0 b 2 1 tag\n"
OTHER = RUN.replace("301 Q0 b 1 2.5", "301 Q0 b 1 0.5")
ROWS = ["--label", "y", "--score", "a", "--qid", "q"]
BOTH = ["--label", "y", "--score", "a", "b", "--qid", "q"]


def write_table(frame, name):
    form = name.lower().split(".")[1]
    if form in ("csv", "tsv"):
        frame.to_csv(name, index=False, sep="\t" if form == "tsv" else ",")
    elif form == "parquet":
        frame.to_parquet(name)
    else:
        frame.to_feather(name, compression="uncompressed")


def report_of(files, score="a", metrics="mrr", **options):
    given = with_policies(metrics, **options)
    return evaluate(files["y"], files[score], qid=files["q"], **given)


def as_command(compute, *arguments, **options):
    """What a function returns, and its text with the names of the options of the command line."""
    found = compute(*arguments, **options)
    return found, as_printed(found)


def as_printed(result):
    """The text of a result for whoever typed a command, which for a gate ends with its exit code."""
    text = text_of(sections_on_command_line(result, in_options, whole=False)) + "\n"
    plan = getattr(result, "plan", None)
    return text if plan is None or plan.margin is None else text + last_line(result.decision)


def output_of(capsys, *words):
    main(list(words))
    done = capsys.readouterr()
    assert done.err == ""
    return done.out


def error_of(capsys, *words):
    with pytest.raises(SystemExit) as raised:
        main(list(words))
    done = capsys.readouterr()
    assert raised.value.code == 2
    assert done.out == ""
    assert "Traceback" not in done.err
    return done.err.splitlines()[-1]


def code_of(*words):
    try:
        main(list(words))
    except SystemExit as done:
        return done.code
    return 0
