"""Rankings from random mixtures of columns, tables, runs, standard input and saved reports, in any order."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.command_line import as_command, code_of

from skrank_metrics import compare, evaluate, evaluate_run
from skrank_metrics.reports import RankingReport

# As the command spells a metric, and another spelling that a saved report may have.
METRICS = {
    "ndcg(gain=exp2, ties=worst)@3": "ndcg(ties=worst, gain=exp2)@3",
    "dcg(gain=exp2, ties=best)@2": "dcg(ties=best, gain=exp2)@2",
    "mrr": "mrr",
    "map": "map",
}
CODES = {"ship": 0, "do not ship": 1, "undecided": 3}
FORMS = ["columns", "tables", "trec", "lists"]


def random_rows(random):
    """Judged documents of queries with the scores of three systems."""
    n = int(random.integers(6, 14))
    sizes = random.integers(2, 7, n)
    query = np.repeat(np.arange(n), sizes)
    y = random.integers(0, 3, len(query))
    y[np.concatenate([[0], np.cumsum(sizes)[:-1]])] = 1
    document = np.concatenate([np.arange(size) for size in sizes])
    frame = pd.DataFrame({"query": query, "document": document, "label": y})
    frame["query"] = "q" + frame["query"].astype(str)
    frame["document"] = "d" + frame["document"].astype(str)
    for name, noise in {"a": 0.3, "b": 1.0, "c": 9.0}.items():
        frame[name] = np.round(y + random.normal(size=len(y)) * noise, 2)
    of_queries = {
        "user": random.choice(["u", "v", "w"], n),
        "w": random.choice([0.5, 2.0], n),
        "kind": random.choice(["x", "y"], n),
    }
    for name, column in of_queries.items():
        frame[name] = column[query]
    return frame


def write_files(frame, form, repeated):
    """Files of the systems in a folder, by their names; one document of a run may be there again, at the end."""
    Path("runs").mkdir()
    files = {name: f"runs/{name}.csv" for name in "abc"}
    if form == "columns":
        frame.to_csv("runs/rows.csv", index=False)
        return dict.fromkeys("abc", "runs/rows.csv")
    if form == "tables":
        for name, file in files.items():
            frame.rename(columns={name: "s"}).to_csv(file, index=False)
        return files
    judged = frame[["query", "document", "label"]]
    if form == "lists":
        judged.to_csv("runs/qrels.csv", index=False)
    else:
        files = {name: f"runs/{name}.txt" for name in "abc"}
        lines = [f"{q} 0 {d} {y}\n" for q, d, y in judged.itertuples(index=False)]
        Path("runs/qrels.txt").write_text("".join(lines))
    for name, file in files.items():
        run = frame[["query", "document", name]].rename(columns={name: "score"})
        if repeated:
            run = pd.concat([run, run[:1].assign(score=-9.0)])
        if form == "lists":
            run.to_csv(file, index=False)
        else:
            lines = [f"{q} Q0 {d} 1 {s} tag\n" for q, d, s in run.itertuples(index=False)]
            Path(file).write_text("".join(lines))
    return files


class Case:
    """Which system comes from which file, and what applies to all of them."""

    def __init__(self, seed):
        random = self.random = np.random.default_rng([seed, 1])
        self.form = FORMS[seed % 4]
        self.of_rows = self.form in ("columns", "tables")
        self.frame = random_rows(random)
        self.words = []
        self.options = {}
        duplicates = [None, "first", "best"][random.integers(3)]
        if self.of_rows:
            self.choose_columns()
        else:
            self.options["convention"] = "trec_eval" if self.form == "trec" else "sklearn"
            if duplicates:
                self.words += ["--duplicates", duplicates]
                self.options["duplicates"] = duplicates
        self.files = write_files(self.frame, self.form, duplicates and not self.of_rows)
        n_metrics = int(random.integers(1, 4))
        self.metrics = random.permutation([*METRICS])[:n_metrics].tolist()
        self.order = random.permutation(list("abc")).tolist()
        n_saved = [0, 1, 2, 3][random.integers(4)]
        self.saved = {
            name: f"runs/{name}.json" for name in random.permutation(self.order)[:n_saved]
        }
        self.saved = {str(name): path for name, path in self.saved.items()}

    def choose_columns(self):
        """Columns of the tables that some of the options name."""
        columns = {"weight": "w", "groups": "user", "by": "kind"}
        arguments = {"weight": "sample_weight"}
        for option, column in columns.items():
            if self.random.random() < 0.5:
                self.words += [f"--{option}", column]
                self.options[arguments.get(option, option)] = self.frame[column]

    def report(self, name, metrics):
        """What the functions say of a system."""
        if self.of_rows:
            frame = self.frame
            ids = frame["query"]
            return evaluate(frame["label"], frame[name], qid=ids, metrics=metrics, **self.options)
        judgments = "runs/qrels.csv" if self.form == "lists" else "runs/qrels.txt"
        return evaluate_run(judgments, self.files[name], metrics, **self.options)

    def of_files(self):
        """The systems that are not saved, in order."""
        return [name for name in self.order if name not in self.saved]

    def words_of_files(self):
        """The files in the order of the systems: the judgments come first of those that are not saved."""
        words = []
        for name in self.order:
            file = self.saved.get(name, self.files[name])
            if file not in words:
                words.append(file)
        if not self.of_rows and self.of_files():
            first = words.index(self.files[self.of_files()[0]])
            suffix = "csv" if self.form == "lists" else "txt"
            words.insert(first, f"runs/qrels.{suffix}")
        return words

    def words_of_rows(self):
        """Options of the columns of tables."""
        if not (self.of_rows and self.of_files()):
            return []
        scores = self.of_files() if self.form == "columns" else ["s"]
        return ["--label", "label", "--qid", "query", "--score", *scores]

    def names(self):
        """Names of the rankings by system, in the order of the files."""
        # Files are named by their stems.
        found = {name: name for name in self.order}
        others = self.of_files()
        if self.form == "tables" and len(others) == 1:
            # The only table is named by its column.
            found[others[0]] = "s"
        if self.form != "columns":
            return {name: found[name] for name in self.order}
        # All columns of the table stand where its first one does.
        order = []
        for name in self.order:
            order += [name] if name in self.saved else others
        return {name: found[name] for name in dict.fromkeys(order)}


def json_of(capsys):
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_rankings_of_any_files_are_compared_as_reports(seed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    case = Case(seed)
    for name, path in case.saved.items():
        spelled = [METRICS[metric] for metric in case.metrics]
        # Each report in an order of its own.
        metrics = case.random.permutation([*spelled, "recall@2"]).tolist()
        case.report(name, metrics).save(path)
    names = case.names()
    are_named = seed % 3 > 0 or not case.saved
    metrics = case.metrics
    if not are_named:
        # Those of the first saved report.
        first = next(name for name in case.order if name in case.saved)
        metrics = list(RankingReport.load(case.saved[first]).metrics)
    reports = {}
    for name, shown in names.items():
        reports[shown] = case.report(name, metrics)
        if name in case.saved:
            # Saved reports do not know which files they were read from.
            reports[shown].save("again.json")
            reports[shown] = RankingReport.load("again.json")
    words = [*case.words_of_files(), *(metrics if are_named else []), *case.words_of_rows()]
    # Options of rows do not apply to saved reports alone.
    words += case.words if case.of_files() else []
    decision, more, is_refused = random_gate(case, names)
    command = ["compare", *words, *more]
    stand_in = read_from_standard_input(case, command, monkeypatch, seed)
    if stand_in:
        reports = {stand_in.get(name, name): report for name, report in reports.items()}
        baseline = [stand_in.get(name, name) for name in decision["baseline"] or []]
        decision["baseline"] = baseline or None
    if is_refused:
        assert code_of(*command) == 2
        assert "Name the baseline with --baseline" in capsys.readouterr().err
        return
    found, text = as_command(compare, reports, **decision)
    has_margin = "margin" in decision
    code = CODES[found.decision] if has_margin else 0
    assert code_of(*command, "--output", "json") == code
    record = json_of(capsys)
    assert record["verdict"] == found.verdict
    shown = found.to_frame()
    assert [row["ranking"] for row in record["rankings"]] == shown.index.tolist()
    for metric in metrics:
        means = [row[metric] for row in record["rankings"]]
        assert means == pytest.approx(shown[metric].tolist())
    pairs = found.to_frame(pairs=True)
    rows = [row for row in record["rows"] if row["slice"] == "all"]
    for column in ("first", "second", "metric"):
        assert [row[column] for row in rows] == pairs[column].tolist()
    assert {row["slice"] for row in record["rows"]} == {"all", *map(str, found.slices)}
    if not stand_in:  # which can be read once
        assert code_of(*command) == code
        assert capsys.readouterr().out == text


def random_gate(case, names):
    """Arguments of compare, the words that give them, and whether it cannot be told which ranking is the first."""
    random = case.random
    decision = {"baseline": [next(iter(names.values()))]}
    words = []
    if random.random() < 0.6:
        decision["margin"] = 0.2
        words += ["--margin", "0.2"]
    others = case.of_files()
    is_mixed = case.form == "columns" and case.saved and len(others) > 1
    if random.random() < 0.4:
        n = int(random.integers(1, 3))
        baselines = random.permutation(case.order)[:n].tolist()
        decision["baseline"] = [names[name] for name in baselines]
        for name in baselines:
            path = case.saved.get(name, case.files[name])
            # A baseline is named by its name or its whole path.
            is_path = case.form in ("trec", "lists") and random.random() < 0.5
            words += ["--baseline", path if is_path else names[name]]
        return decision, words, False
    return decision, words, bool(is_mixed)


def read_from_standard_input(case, command, monkeypatch, seed):
    """Let the last run come from the standard input, and return its name by the one that it had."""
    others = case.of_files()
    if case.form != "trec" or not others or seed % 8 or "--baseline" in command:
        return {}
    path = case.files[others[-1]]
    data = Path(path).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    command[command.index(path)] = "-"
    return {others[-1]: "-"}
