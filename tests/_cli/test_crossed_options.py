"""Random options crossed: a command prints what the functions say, in every format, and its exit code follows."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.command_line import as_command, as_printed, code_of, write_table

from skrank_metrics import compare, evaluate, evaluate_run
from skrank_metrics._cli.options import in_options
from skrank_metrics.reports import RankingReport

METRICS = ["ndcg@3", "mrr", "map(ties=worst)", "recall@2", "neg_kendall_tau_distance"]


def random_table(random):
    """Rows of queries of unequal lengths, in one piece or mixed, with three scores that tie."""
    n = int(random.integers(5, 12))
    query = np.repeat(random.permutation(n), random.integers(1, 8, n))
    rows = len(query)
    labels = random.integers(0, 3, rows)
    has_relevant = random.random(n) < 0.85
    y = labels * has_relevant[query]
    frame = pd.DataFrame({"id": [f"q{number}" for number in query], "y": y})
    frame["a"] = np.round(y + random.normal(size=rows), 1)
    frame["b"] = np.round(y / 2 + random.normal(size=rows), 1)
    frame["c"] = random.integers(0, 3, rows)
    of_queries = {
        "kind": random.choice(["x", "y"], n),
        "lang": random.choice(["de", "en"], n),
        "user": random.integers(0, 4, n),
        "w": random.choice([0.0, 0.5, 2.0], n),
    }
    of_queries["w"][0] += 1
    for name, column in of_queries.items():
        frame[name] = column[query]
    frame["seen"] = random.random(rows) < 0.8
    frame["known"] = random.random(rows) < 0.8
    if random.random() < 0.5:
        return frame
    mixed = random.permutation(rows)
    return frame.iloc[mixed].reset_index(drop=True)


def random_options(random, frame):
    """Words of the command, and the same arguments of evaluate."""
    words = []
    options = {}
    columns = {
        "weight": ("sample_weight", "w"),
        "groups": ("groups", "user"),
        "retrieved": ("retrieved", "seen"),
        "judged": ("judged", "known"),
    }
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
    words = []
    options = {}
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
        options["margin"] = [0.3, 0.0][random.integers(2)]
        words += ["--margin", f"{options['margin']:g}"]
    elif kind == 2:
        sizes = random.choice([0.0, 0.05, 0.5], len(metrics)).tolist()
        options["margin"] = dict(zip(metrics, sizes, strict=True))
        for name, size in options["margin"].items():
            words += ["--margin", f"{name}={size}"]
    if baseline is None:
        baseline = [names["first"]]
    options["baseline"] = baseline
    return words, options


def run(capsys, words, random, verdict=""):
    """The exit code, and what a command prints, which may go to a file. A verdict is printed once in any case."""
    to_file = random.random() < 0.3
    if to_file:
        words = [*words, "--output-file", "printed"]
    code = code_of(*words)
    done = capsys.readouterr()
    is_apart = verdict and (to_file or "--output" in words)
    assert done.err == (f"{verdict}\n" if is_apart else "")
    if not to_file:
        return code, done.out
    assert done.out == ""
    return code, Path("printed").read_text(encoding="utf-8")


def json_of(capsys, words, random):
    _, printed = run(capsys, [*words, "--output", "json"], random)
    return json.loads(printed)


def plain(value):
    """A value as JSON has it."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, pd.Timestamp):
        return str(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def rows_of(frame):
    return [{name: plain(value) for name, value in row.items()} for row in frame.to_dict("records")]


def same_rows(found, expected):
    """Compare rows of JSON, whose numbers may differ in the last digits."""
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.keys() == other.keys()
        for name, value in other.items():
            if isinstance(value, float) and isinstance(one[name], int | float):
                assert one[name] == pytest.approx(value, rel=1e-9, abs=1e-12), name
            else:
                assert one[name] == value, name


def with_ranking(name, rows):
    return [{"ranking": name} | row for row in rows]


def pairs_of(comparison):
    """Rows of pairs, of all queries and of each slice."""
    parts = {"all": comparison}
    for value, part in comparison.slices.items():
        several = value if isinstance(value, tuple) else (value,)
        parts[", ".join(map(str, several))] = part
    pairs = []
    for name, part in parts.items():
        rows = rows_of(part.to_frame(pairs=True))
        pairs += [{"slice": name} | row for row in rows]
    return pairs


CODES = {"ship": 0, "do not ship": 1, "undecided": 3}


def check_comparison(capsys, words, comparison, random):
    """What is printed of a comparison, as a table, in JSON and as a page."""
    found, text = comparison
    has_margin = found.plan.margin is not None
    decision = found.decision if has_margin else None
    verdict = found.verdict if has_margin else ""
    expected_code = CODES[decision] if has_margin else 0
    code, printed = run(capsys, words, random, verdict)
    assert code == expected_code
    assert printed == text
    code, printed = run(capsys, [*words, "--output", "json"], random, verdict)
    record = json.loads(printed)
    assert code == expected_code
    assert record["verdict"] == found.verdict
    assert record["decision"] == decision
    assert record["notes"] == list(map(in_options, found.notes()))
    same_rows(record["rankings"], rows_of(found.to_frame().reset_index()))
    same_rows(record["rows"], pairs_of(found))
    if random.random() < 0.5:
        found.to_html("expected.html")
        code, printed = run(capsys, [*words, "--output", "html"], random, verdict)
        assert code == expected_code
        assert printed == in_options(Path("expected.html").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty folder to work in; pages have no pictures, which take longer than everything else."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("skrank_metrics.displays.page_picture", lambda _: "<figure></figure>")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(14))
def test_commands_of_tables(seed, capsys):
    random = np.random.default_rng([seed, 1])
    frame = random_table(random)
    name = ["rows.csv", "rows.tsv", "rows.parquet"][seed % 3]
    if name == "rows.parquet" and seed % 2:
        days = frame["id"].str.removeprefix("q").astype(int)
        frame["id"] = np.datetime64("2026-01-01", "us") + days.to_numpy() * np.timedelta64(1, "D")
    write_table(frame, name)
    n_metrics = int(random.integers(1, 4))
    metrics = random.choice(METRICS, n_metrics, replace=False).tolist()
    words, options = random_options(random, frame)
    scores = random.permutation(list("abc")).tolist()
    if seed % 2:
        scores = scores[:1]
    given = [name, *metrics, "--label", "y", "--qid", "id", "--score", *scores, *words]
    reports = {
        score: evaluate(frame["y"], frame[score], qid=frame["id"], metrics=metrics, **options)
        for score in scores
    }
    if len(scores) == 1:
        check_report(capsys, ["evaluate", *given], reports, random)
        return
    check_comparison(capsys, ["evaluate", *given], as_command(compare, reports), random)
    names = {"first": scores[0], "b": "b", "c": "c"}
    more, decision = random_decision(random, metrics, names)
    found = as_command(compare, reports, **decision)
    check_comparison(capsys, ["compare", *given, *more], found, random)


def check_report(capsys, words, reports, random):
    """What is printed of one report, as a table, in JSON and by query, and what is saved."""
    ((name, report),) = reports.items()
    code, printed = run(capsys, [*words, "--save", "report.json"], random)
    assert code == 0
    assert printed == as_printed(report)
    loaded = RankingReport.load("report.json")
    check_loaded(loaded, report)
    record = json_of(capsys, words, random)
    means = rows_of(report.to_frame("means"))
    same_rows(record["rows"], with_ranking(name, means))
    assert record["findings"] == {name: list(report.health.findings)}
    record = json_of(capsys, [*words, "--by-query"], random)
    frame = report.to_frame().reset_index()
    if "group" in frame and "rows.parquet" not in words:  # in a text, ids are strings
        frame["group"] = frame["group"].astype(str)
    same_rows(record["rows"], with_ranking(name, rows_of(frame)))

    code, printed = run(capsys, [*words, "--by-query"], random)
    assert printed.startswith(as_printed(report))
    if len(report.metrics) < 3:  # more would continue below
        cells = ["qid", *report.metrics]
        for one, row in zip(report.qid, frame.to_dict("records"), strict=True):
            cells += [str(one), *(f"{row[metric]:.4f}" for metric in report.metrics)]
        assert printed.removeprefix(as_printed(report)).split() == cells
    report.to_html("expected.html")
    code, printed = run(capsys, [*words, "--output", "html"], random)
    assert printed == in_options(Path("expected.html").read_text(encoding="utf-8"))


def check_loaded(loaded, report):
    """A report that was saved by the command is the one of the function."""
    assert [str(one) for one in loaded.qid] == [str(one) for one in report.qid]
    assert list(loaded.metrics) == list(report.metrics)
    same_rows(rows_of(loaded.to_frame("means")), rows_of(report.to_frame("means")))
    for metric, values in report.per_query.items():
        np.testing.assert_allclose(loaded.per_query[metric], values, rtol=1e-12)
    assert (loaded.weights is None) == (report.weights is None)
    if report.weights is not None:
        np.testing.assert_array_equal(loaded.weights, report.weights)
    assert loaded.n_documents == report.n_documents
    assert loaded.health.findings == report.health.findings


def random_lists(random, topics, largest):
    """Some of the documents of each topic, with numbers below the largest."""
    documents = [f"d{number}" for number in range(12)]
    rows = []
    for topic in topics:
        mixed = random.permutation(documents).tolist()
        n = random.integers(1, 9)
        rows += [(topic, document, int(random.integers(0, largest))) for document in mixed[:n]]
    return rows


def write_lists(random, form):
    """Judgments, three runs and pairs to exclude, in files of TREC or tables; some topics lack a list."""
    topics = [f"t{number}" for number in range(int(random.integers(4, 9)))]
    qrels = random_lists(random, topics, 3)
    runs = {}
    for name in "abc":
        listed = [topic for topic in topics if random.random() < 0.9] or topics
        rows = random_lists(random, listed, 9)
        runs[name] = [(topic, document, float(score)) for topic, document, score in rows]
    names = {name: name for name in ("qrels", *runs)}
    if form == "lists":
        names = {name: f"{name}.csv" for name in names}
        write_csv(qrels, ["query", "sku", "label"], names["qrels"])
        for name, rows in runs.items():
            write_csv(rows, ["query", "sku", "score"], names[name])
    else:
        lines = [f"{q} 0 {d} {label}\n" for q, d, label in qrels]
        Path("qrels").write_text("".join(lines))
        for name, rows in runs.items():
            lines = [f"{q} Q0 {d} 1 {score} tag\n" for q, d, score in rows]
            Path(name).write_text("".join(lines))
    every_fifth = [row for rows in runs.values() for row in rows[::5]]
    excluded = dict.fromkeys((query, document) for query, document, _ in every_fifth)
    column = "sku" if form == "lists" else "document"
    write_csv(excluded, ["query", column], "out.csv")
    return names


def write_csv(rows, columns, name):
    pd.DataFrame(list(rows), columns=columns).to_csv(name, index=False)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(9))
def test_commands_of_lists(seed, capsys):
    random = np.random.default_rng([seed, 2])
    form = ["trec", "lists"][seed % 2]
    names = write_lists(random, form)
    words = []
    options = {}
    if form == "lists":
        words += ["--columns", "document=sku"]
        options["columns"] = {"document": "sku"}
    if random.random() < 0.5:
        words += ["--missing", "skip" if seed % 4 < 2 else "zero"]
        options["missing"] = words[-1]
    if random.random() < 0.6:
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
        rows = json_of(capsys, given, random)["rows"]
        (ranking,) = {row["ranking"] for row in rows}
        expected = rows_of(found.to_frame("means"))
        same_rows(rows, with_ranking(ranking, expected))
        return
    if options.get("missing") == "skip":  # runs without a topic have other queries
        words[words.index("skip")] = options["missing"] = "zero"
    files = [names[name] for name in "cab"]
    # Rankings are named by the stems of their files.
    runs = {name: names[name] for name in "cab"}
    found = evaluate_run(names["qrels"], runs, metrics, **options)
    reports = {name: found.reports[name] for name in runs}
    more, decision = random_decision(random, metrics, {"first": "c", "b": "b", "c": "c"})
    given = ["compare", names["qrels"], *files, *metrics, *words, *more]
    check_comparison(capsys, given, as_command(compare, reports, **decision), random)
