"""Random options crossed: a command prints what the functions say, in every format, and its exit code follows."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.command_line import as_command, write_table

from skrank_metrics import RankingReport, compare, evaluate, evaluate_run
from skrank_metrics.__main__ import main

METRICS = ["ndcg@3", "mrr", "map(ties=worst)", "recall@2", "neg_kendall_tau_distance"]


def random_table(random):
    """Rows of queries of unequal lengths, each query in one piece, with three scores that tie."""
    n = int(random.integers(5, 12))
    query = np.repeat(random.permutation(n), random.integers(1, 8, n))
    rows = len(query)
    y = random.integers(0, 3, rows) * (random.random(n) < 0.85)[query]
    return pd.DataFrame(
        {
            "id": [f"q{number}" for number in query],
            "y": y,
            "a": np.round(y + random.normal(size=rows), 1),
            "b": np.round(y / 2 + random.normal(size=rows), 1),
            "c": random.integers(0, 3, rows),
            "kind": random.choice(["x", "y"], n)[query],
            "lang": random.choice(["de", "en"], n)[query],
            "user": random.integers(0, 4, n)[query],
            "w": (random.choice([0.0, 0.5, 2.0], n) + (np.arange(n) == 0))[query],
            "seen": random.random(rows) < 0.8,
            "known": random.random(rows) < 0.8,
        }
    )


def random_options(random, frame):
    """Words of the command, and the same arguments of evaluate."""
    words, options = [], {}
    columns = {"weight": ("sample_weight", "w"), "groups": ("groups", "user")}
    columns |= {"retrieved": ("retrieved", "seen"), "judged": ("judged", "known")}
    for name, (argument, column) in columns.items():
        if random.random() < 0.4:
            words += [f"--{name}", column]
            options[argument] = frame[column].to_numpy()
    if "judged" in options and random.random() < 0.5:
        words.append("--condense")
        options["condense"] = True
    by = [[], [], ["kind"], ["lang", "kind"]][random.integers(4)]
    if by:
        words += ["--by", *by]
        options["by"] = frame[by[0] if len(by) == 1 else by]
    if random.random() < 0.5:
        words += ["--convention", "lightgbm"]
        options["convention"] = "lightgbm"
    return words, options


def random_decision(random, metrics, names):
    """Words of compare, and the same arguments of the function."""
    words, options = [], {}
    if random.random() < 0.5:
        options |= {"test": "t", "correction": "bh"}
        words += ["--test", "t", "--correction", "bh"]
    elif random.random() < 0.5:
        correction = [None, "holm"][random.integers(2)]
        options["correction"] = correction
        words += ["--correction", correction or "none"]
    if random.random() < 0.5:
        options["confidence"] = 0.8
        words += ["--confidence", "0.8"]
    if random.random() < 0.5:
        options["random_state"] = 7
        words += ["--random-state", "7"]
    baseline = [None, [names["b"]], [names["b"], names["c"]]][random.integers(3)]
    for name in baseline or []:
        words += ["--baseline", name]
    kind = random.integers(3)
    if kind == 1:
        options["margin"] = 0.3
        words += ["--margin", "0.3"]
    elif kind == 2:
        margins = dict(zip(metrics, random.choice([0.05, 0.5], len(metrics)).tolist(), strict=True))
        options["margin"] = margins
        for name, size in margins.items():
            words += ["--margin", f"{name}={size}"]
    options["baseline"] = ["a"] if baseline is None and kind else baseline
    return words, options


def run(capsys, words, random):
    """The exit code, and what a command prints, which may go to a file."""
    path = Path("printed") if random.random() < 0.3 else None
    code = 0
    try:
        main([*words, *(["--output-file", str(path)] if path else [])])
    except SystemExit as done:
        code = done.code
    done = capsys.readouterr()
    if path is None:
        return code, done.out, done.err
    assert done.out == ""
    return code, path.read_text(encoding="utf-8"), done.err


def plain(value):
    """A value as JSON has it."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def rows_of(frame):
    return [{name: plain(value) for name, value in row.items()} for row in frame.to_dict("records")]


def same_rows(found, expected):
    """Compare rows of JSON, whose numbers may differ in the last digits."""
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert {name: plain(value) for name, value in one.items()}.keys() == other.keys()
        for name, value in other.items():
            if isinstance(value, float) and isinstance(one[name], int | float):
                assert one[name] == pytest.approx(value, rel=1e-9, abs=1e-12), name
            else:
                assert one[name] == value, name


def pairs_of(comparison):
    """Rows of pairs, of all queries and of each slice."""
    parts = {"all": comparison} | {
        ", ".join(map(str, name)) if isinstance(name, tuple) else str(name): part
        for name, part in comparison.slices.items()
    }
    return [
        {"slice": name} | row
        for name, part in parts.items()
        for row in rows_of(part.to_frame(pairs=True))
    ]


CODES = {"ship": 0, "do not ship": 1, "undecided": 3}


def check_comparison(capsys, words, comparison, random):
    """What is printed of a comparison, as a table and in JSON."""
    found, text = comparison
    expected_code = 0 if found.plan.margin is None else CODES[found.decision]
    code, printed, _ = run(capsys, words, random)
    assert code == expected_code
    assert printed.splitlines() == text.splitlines()
    code, printed, errors = run(capsys, [*words, "--output", "json"], random)
    record = json.loads(printed)
    assert code == expected_code
    assert record["verdict"] == found.verdict
    assert record["decision"] == (None if found.plan.margin is None else found.decision)
    assert (found.verdict in errors) == (found.plan.margin is not None)
    same_rows(record["rankings"], rows_of(found.to_frame().reset_index()))
    same_rows(record["rows"], pairs_of(found))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(14))
def test_commands_of_tables(seed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng([seed, 1])
    frame = random_table(random)
    name = ["rows.csv", "rows.tsv", "rows.parquet"][seed % 3]
    write_table(frame, name)
    metrics = random.choice(METRICS, int(random.integers(1, 4)), replace=False).tolist()
    words, options = random_options(random, frame)
    scores = random.permutation(list("abc")).tolist()[: 1 if seed % 2 else 3]
    given = [name, *metrics, "--label", "y", "--qid", "id", "--score", *scores, *words]
    reports = {
        score: evaluate(frame["y"], frame[score], qid=frame["id"], metrics=metrics, **options)
        for score in scores
    }
    if len(scores) == 3:
        check_comparison(capsys, ["evaluate", *given], as_command(compare, reports), random)
        more, decision = random_decision(random, metrics, dict(zip("abc", "abc", strict=True)))
        if decision["baseline"] == ["a"]:  # the first one that is named
            decision["baseline"] = [scores[0]]
        found = as_command(compare, reports, **decision)
        check_comparison(capsys, ["compare", *given, *more], found, random)
        return
    (report,) = reports.values()
    code, printed, _ = run(capsys, ["evaluate", *given, "--save", "report.json"], random)
    assert (code, printed) == (0, f"{report}\n")
    loaded = RankingReport.load("report.json")
    assert loaded.mean == pytest.approx(report.mean, nan_ok=True)
    _, printed, _ = run(capsys, ["evaluate", *given, "--output", "json"], random)
    record = json.loads(printed)
    expected = [{"ranking": scores[0]} | row for row in rows_of(report.to_frame("means"))]
    same_rows(record["rows"], expected)
    assert record["findings"] == {scores[0]: list(report.health.findings)}
    by_query = ["evaluate", *given, "--by-query", "--output", "json"]
    rows = json.loads(run(capsys, by_query, random)[1])["rows"]
    expected = report.to_frame().reset_index()
    if "group" in expected and name != "rows.parquet":  # in a text, ids are strings
        expected["group"] = expected["group"].astype(str)
    expected = rows_of(expected)
    same_rows(rows, [{"ranking": scores[0]} | row for row in expected])


def write_lists(random, form):
    """Judgments, three runs and pairs to exclude, in files of TREC or tables; some topics lack a list."""
    topics = [f"t{number}" for number in range(int(random.integers(4, 9)))]
    documents = [f"d{number}" for number in range(12)]
    qrels = [
        (topic, document, int(random.integers(0, 3)))
        for topic in topics
        for document in random.permutation(documents)[: random.integers(1, 9)].tolist()
    ]
    runs = {}
    for name in "abc":
        listed = [topic for topic in topics if random.random() < 0.9] or topics
        runs[name] = [
            (topic, document, float(random.integers(0, 9)))
            for topic in listed
            for document in random.permutation(documents)[: random.integers(1, 9)].tolist()
        ]
    names = {"qrels": "qrels", **{name: name for name in runs}}
    if form == "lists":
        names = {name: f"{name}.csv" for name in names}
        columns = ["query", "sku", "label"]
        pd.DataFrame(qrels, columns=columns).to_csv("qrels.csv", index=False)
        for name, rows in runs.items():
            pd.DataFrame(rows, columns=["query", "sku", "score"]).to_csv(names[name], index=False)
    else:
        Path("qrels").write_text("".join(f"{q} 0 {d} {label}\n" for q, d, label in qrels))
        for name, rows in runs.items():
            text = "".join(f"{q} Q0 {d} 1 {score} tag\n" for q, d, score in rows)
            Path(name).write_text(text)
    excluded = [row[:2] for rows in runs.values() for row in rows[::5]]
    pd.DataFrame(excluded, columns=["query", "document"]).drop_duplicates().to_csv(
        "out.csv", index=False
    )
    return names


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(9))
def test_commands_of_lists(seed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng([seed, 2])
    form = ["trec", "lists"][seed % 2]
    names = write_lists(random, form)
    words, options = [], {}
    if form == "lists":
        words += ["--columns", "document=sku"]
        options["columns"] = {"qrels": {"document": "sku"}, "run": {"document": "sku"}}
    if random.random() < 0.5:
        words += ["--missing", "skip" if seed % 4 < 2 else "zero"]
        options["missing"] = words[-1]
    if random.random() < 0.4 and form == "trec":
        words += ["--exclude", "out.csv"]
        options["exclude"] = "out.csv"
    if random.random() < 0.4:
        words.append("--condense")
        options["condense"] = True
    if random.random() < 0.4:
        words += ["--convention", "sklearn"]
        options["convention"] = "sklearn"
    metrics = random.choice(["ndcg@3", "map", "mrr", "bpref"], 2, replace=False).tolist()
    if seed % 3 == 0:
        given = ["evaluate", names["qrels"], names["a"], *metrics, *words]
        found, text = as_command(evaluate_run, names["qrels"], names["a"], metrics, **options)
        assert run(capsys, given, random)[:2] == (0, text)
        rows = json.loads(run(capsys, [*given, "--output", "json"], random)[1])["rows"]
        expected = rows_of(found.to_frame("means"))
        same_rows(
            [{**row, "ranking": ""} for row in rows], [{**r, "ranking": ""} for r in expected]
        )
        return
    if options.get("missing") == "skip":  # runs without a topic have other queries
        words[words.index("skip")] = options["missing"] = "zero"
    reports = {
        names[name]: evaluate_run(names["qrels"], names[name], metrics, **options) for name in "cab"
    }
    more, decision = random_decision(random, metrics, names)
    if decision["baseline"] == ["a"]:  # the first one that is named
        decision["baseline"] = [names["c"]]
    files = [names[name] for name in "cab"]
    given = ["compare", names["qrels"], *files, *metrics, *words, *more]
    check_comparison(capsys, given, as_command(compare, reports, **decision), random)
