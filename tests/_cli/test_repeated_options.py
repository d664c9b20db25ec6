"""What happens if an option is passed again: lists add up, and anything else is refused."""

import json

import pytest
from support.command_line import code_of, error_of, output_of

from skrank_metrics._cli.options import COMMANDS, OPTIONS, parse_command

CASES = [(command, option) for option in OPTIONS for command in option.commands]


def texts_of(option):
    """Two valid values of an option."""
    values = list(option.choices) or ["1", "2"]
    return [[value] for value in values[:2]]


def words_of(command, option):
    """A command that is complete apart from the option."""
    words = [command]
    if COMMANDS[command].reads_files:
        words += ["rows", "map"]
    return words


@pytest.mark.parametrize(
    ("command", "option"), CASES, ids=[f"{command} {option.name}" for command, option in CASES]
)
def test_a_repeated_option_is_never_ignored(command, option, capsys):
    words = words_of(command, option)
    name = f"--{option.name}"
    first, second = texts_of(option)
    if option.is_flag:
        assert getattr(parse_command([*words, name, name]), option.attribute) is True
    elif option.is_list:
        chosen = parse_command([*words, name, *first, name, *second])
        assert getattr(chosen, option.attribute) == [*first, *second]
        message = error_of(capsys, *words, name, *first, name, *first)
        assert f"{name} names {first[0]} twice." in message
    elif not option.is_repeatable:  # margins have their own tests
        before = " ".join(str(option.read(text)) for text in first)
        for again in (first, second):
            message = error_of(capsys, *words, name, *first, name, *again)
            assert f"{name} is passed twice. It was {before} before." in message


def test_a_value_that_is_the_default_is_passed_twice_too(capsys):
    message = error_of(capsys, "compare", "rows", "--confidence", "0.95", "--confidence", "0.9")
    assert "--confidence is passed twice" in message


def test_a_gate_sees_all_rankings(many, capsys):
    words = ["compare", "many.csv", "mrr", "--label", "y", "--qid", "q", "--margin", "0.01"]
    once = [*words, "--score", "a", "b", "c"]
    repeated = list(words)
    for name in "abc":
        repeated += ["--score", name]
    code = code_of(*once)
    printed = capsys.readouterr()
    assert code_of(*repeated) == code
    assert capsys.readouterr() == printed


def test_slices_of_several_columns(files, capsys):
    words = [
        "evaluate",
        "rows.csv",
        "mrr",
        "--label",
        "y",
        "--qid",
        "q",
        "--score",
        "a",
        "--output",
        "json",
    ]
    printed = output_of(capsys, *words, "--by", "kind", "--by", "lang")
    assert printed == output_of(capsys, *words, "--by", "kind", "lang")
    assert json.loads(printed)["rows"][1]["slice"] == "0, de"


@pytest.mark.parametrize("text", ["0_01", "1_0", "\u0661", "0x1", "1e", "infinity", "1,5", "nan "])
@pytest.mark.parametrize("option", ["margin", "confidence", "random-state"])
def test_numbers_are_written_as_in_data(option, text, files, capsys):
    message = error_of(capsys, "compare", "qrels", "run", "other", f"--{option}", text)
    expected = "must be NUMBER or METRIC=NUMBER; got" if option == "margin" else "invalid"
    assert f"argument --{option}: {expected}" in message


def test_numbers_in_exponents_are_numbers(files, capsys):
    words = ["compare", "qrels", "run", "other", "mrr", "--output", "json"]
    few, more = (
        json.loads(output_of(capsys, *words, "--confidence", text)) for text in (".5", "5e-1")
    )
    assert few == more
