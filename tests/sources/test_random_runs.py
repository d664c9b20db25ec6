"""Runs and judgments in any form make the report of rows that plain loops join, whatever options meet."""

import functools
import gzip
import itertools
import re
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import scipy.sparse
from support.tables import almost, assert_same

from skrank_metrics import compare, evaluate, evaluate_run, make_metric, trec

SEEDS = 80
# Some are equal in float32 only.
SCORES = [1.0, 1 + 1e-9, 1 - 1e-9, 2.0, -1e-5]
KINDS = ["text", "integer", "text", "tuple", "text", "count"]
OWN_TIES = "ndcg(gain=exp2, ties=worst)"
METRICS = [
    "ndcg@3",
    OWN_TIES,
    "map(replace_undefined_by=nan)",
    "recall@2",
    "precision(average=micro)@2",
    "bpref",
    "judged@3",
    "mrr(ties=stable)",
    "rbp(gain=binary)",
]


def revenue(labels, price, unranked=()):
    """The price at rank 1 if it is relevant, and a little for its length."""
    revenue = float(sum(labels[:1] * price[:1]))
    return revenue + len(labels) / 100 + len(unranked) / 1000


REVENUE = make_metric(revenue, documents=["price"])
IDS = {
    "text": "{}-{}".format,
    # Of documents, some would be equal in 32 bits.
    "integer": lambda kind, number: (
        -5 - number if kind == "q" else -5 - number // 3 - number % 3 * 2**32
    ),
    "tuple": lambda kind, number: (kind, number),
    "count": lambda kind, number: number,
}
USUAL = {"query": "qid", "document": "item_id", "label": "rel", "score": "score", "rank": "rank"}
OWN = {"query": "who", "document": "thing", "label": "stars", "score": "points", "rank": "place"}
OTHER = {"query": "a b", "document": "rel", "label": "qid", "score": "rank", "rank": "s,c"}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
FILES = ["rows.csv", "ROWS.CSV.GZ", "rows.tsv", "rows.tsv.gz", "rows.parquet", "rows.arrow"]


@dataclass
class Case:
    """What is true and what was returned, by plain dicts, and the options."""

    random: np.random.Generator
    folder: object
    kind: str
    negative: bool = False
    duplicates: str = "error"
    names: dict = field(default_factory=dict)  # of columns, by argument
    has_columns: bool = False
    numbers: object = field(default_factory=itertools.count)

    def one_of(self, *values):
        return values[self.random.integers(len(values))]

    def chance(self, share):
        return self.random.random() < share


def draw_lists(case, n_queries, values, *, spare=()):
    """Documents with values by query, of which some may come twice; queries in any order."""
    numbers = [number for number in case.random.permutation(8)[:n_queries] if number not in spare]
    lists = {}
    for number in [0, *(n for n in numbers if n != 0)]:
        documents = case.random.permutation(12)[: case.random.integers(0, 9)]
        if number == 0 and not len(documents):
            documents = [case.random.integers(12)]
        row = [
            (IDS[case.kind]("d", int(one)), float(case.random.choice(values))) for one in documents
        ]
        lists[IDS[case.kind]("q", int(number))] = row
    return lists


def with_repeats(case, lists, values):
    """Some of the documents once more, if this is allowed."""
    if case.duplicates == "error" or case.chance(0.3):
        return lists
    repeated = {}
    for query, row in lists.items():
        again = [(one, float(case.random.choice(values))) for one, _ in row if case.chance(0.3)]
        repeated[query] = [*row, *again]
    return repeated


def without_repeats(row, duplicates):
    """The first or the best of each document, in the order of the list."""
    kept = {}
    for place, (one, value) in enumerate(row):
        first = kept.get(one)
        if first is None or (duplicates == "best" and value > row[first][1]):
            kept[one] = place
    return [row[place] for place in sorted(kept.values())]


def as_lines_are_read(lists, duplicates):
    """Of documents that come again, the value may change, but not the place."""
    found = {}
    for query, row in lists.items():
        of_query = found.setdefault(query, {})
        for one, value in row:
            if duplicates == "best":
                of_query[one] = max(value, of_query.get(one, value))
            of_query.setdefault(one, value)
    return {query: list(row.items()) for query, row in found.items()}


# --- Forms of what was drawn: each gives the source, and the lists that it holds.


def rows_of(case, lists):
    """Rows of all queries, mixed."""
    rows = [(query, *pair) for query, row in lists.items() for pair in row]
    return [rows[place] for place in case.random.permutation(len(rows))]


def grouped(rows):
    lists = {}
    for query, one, value in rows:
        lists.setdefault(query, []).append((one, value))
    return lists


def frame_of(case, columns):
    case.has_columns = True
    kind = case.one_of(*FRAMES)
    if case.kind == "tuple":
        kind = "pandas"
    return FRAMES[kind](columns)


def file_of(case, columns):
    case.has_columns = True
    name = case.one_of(*FILES)
    path = case.folder / f"{next(case.numbers)}{name}"
    frame = pd.DataFrame(columns)
    if name.endswith("parquet"):
        pq.write_table(pa.Table.from_pandas(frame), path)
    elif name.endswith("arrow"):
        pa.feather.write_feather(frame, path, compression="uncompressed")
    else:
        mark = case.one_of("", "\ufeff")
        text = mark + frame.to_csv(index=False, sep="\t" if "tsv" in name else ",")
        data = text.encode()
        path.write_bytes(gzip.compress(data) if name.lower().endswith("gz") else data)
    return path


def table_of(case, columns):
    # Ids in files of text are strings.
    return (file_of if case.kind == "text" and case.chance(0.7) else frame_of)(case, columns)


def sparse_of(case, entries):
    """A matrix of entries, some of which may be 0."""
    rows, columns, values = zip(*entries, strict=True)
    matrix = scipy.sparse.coo_matrix((values, (rows, columns)), shape=(8, 100))
    return matrix.asformat(case.one_of("coo", "csr", "csc", "lil"))


def lines_of(case, lines):
    """A file of TREC, perhaps with comments, blank lines and a mark, and perhaps packed."""
    first = case.one_of([], ["# a comment"], ["", "  "])
    mark = case.one_of("", "\ufeff")
    end = case.one_of("", "\n")
    text = mark + "\n".join([*first, *lines]) + end
    data = text.encode()
    number = next(case.numbers)
    suffix = case.one_of(".txt", ".tsv", ".gz")
    path = case.folder / f"{number}{suffix}"
    if suffix == ".gz":
        data = gzip.compress(data)
    path.write_bytes(data)
    return path


def once(lists, duplicates="first"):
    return {query: without_repeats(row, duplicates) for query, row in lists.items()}


def judgments(case, truth):
    """Judgments in one of their forms."""
    names = {**USUAL, **case.names.get("qrels", {})}
    forms = ["dicts", "sets", "frame", "beir"] + ["trec", "read"] * (case.kind == "text")
    forms += ["sparse"] * 4 * (case.kind == "count")
    if case.negative:
        forms = ["dicts", "frame"] + ["trec", "read"] * (case.kind == "text")
    form = case.one_of(*forms)
    if form == "dicts":
        truth = once(truth)
        return {query: dict(row) for query, row in truth.items()}, truth
    if form == "sets":
        judgments = once(truth)
        relevant = {query: [(one, 1.0) for one, _ in row] for query, row in judgments.items()}
        if "qrels" not in case.names and case.chance(0.4):
            rows = rows_of(case, relevant)
            queries, documents, _ = map(list, zip(*rows, strict=True))
            columns = {names["query"]: queries, names["document"]: documents}
            return table_of(case, columns), grouped(rows)
        kind = case.one_of(list, set, frozenset, tuple)
        return {query: kind(dict(row)) for query, row in relevant.items()}, relevant
    if form in ("read", "sparse"):
        truth = once(truth)
    rows = rows_of(case, truth)
    if form == "sparse":
        return sparse_of(case, rows), grouped(sorted(rows))
    truth = grouped(rows)
    if form in ("trec", "read"):
        lines = [f"{query} 0 {one} {label:g}" for query, one, label in rows]
        path = lines_of(case, lines)
        return (trec.read_qrels(path) if form == "read" else path), truth
    queries, documents, labels = map(list, zip(*rows, strict=True))
    columns = {names["query"]: queries, names["document"]: documents, names["label"]: labels}
    if form == "beir" and "qrels" not in case.names:
        columns = {"query-id": queries, "corpus-id": documents, "score": labels}
    return table_of(case, columns), truth


@dataclass
class Given:
    """A run in one of its forms."""

    source: object
    lists: dict
    in_trec: bool = False
    ranked: bool = False
    score_type: str | None = None


def ranked_row(row):
    return [(one, -float(place)) for place, (one, _) in enumerate(row)]


def a_run(case, lists, value):
    """A run in one of its forms; those of rows have columns of scores, ranks or both."""
    forms = ["dicts", "lists", "rows", "rows"] + ["trec", "read", "read", "ranks"] * (
        case.kind == "text"
    )
    form = case.one_of(*forms)
    if form in ("dicts", "read"):
        lists = once(lists)
    if form == "dicts":
        return Given({query: dict(row) for query, row in lists.items()}, lists)
    if form == "lists":
        return as_ranked_lists(case, lists)
    rows = rows_of(case, lists)
    lists = grouped(rows)
    if form in ("trec", "read"):
        lines = [f"{query} Q0 {one} 0 {score!r} of mine" for query, one, score in rows]
        path = lines_of(case, lines)
        if form == "trec":
            return Given(path, as_lines_are_read(lists, case.duplicates), in_trec=True)
        score_type = case.one_of(None, "float32", "float32", "float64")
        run = trec.read_run(path, score_type=score_type)
        return Given(run, lists, in_trec=True, score_type=score_type)
    ranks, numbers = [], dict.fromkeys(lists, 0)
    by_score = sorted(range(len(rows)), key=lambda place: -rows[place][2])
    for place in by_score:
        numbers[rows[place][0]] += 1
        ranks.append((place, numbers[rows[place][0]]))
    ranks = [rank for _, rank in sorted(ranks)]
    # Ranks in a column that nobody names as such count from row to row in each list.
    if form == "ranks" or (value == "rank" and "rank" not in case.names.get("run", {})):
        in_order = sorted(zip(ranks, rows, strict=True), key=lambda pair: pair[0])
        ranks, rows = map(list, zip(*in_order, strict=True))
    scored_by_rank = [(*row[:2], -float(rank)) for row, rank in zip(rows, ranks, strict=True)]
    by_rank = grouped(scored_by_rank)
    if form == "ranks":
        lines = [f"{row[0]}\t{row[1]}\t{rank}" for row, rank in zip(rows, ranks, strict=True)]
        as_read = as_lines_are_read(by_rank, case.duplicates)
        return Given(lines_of(case, lines), as_read, ranked=True)
    names = {**USUAL, **case.names.get("run", {})}
    queries, documents, scores = map(list, zip(*rows, strict=True))
    columns = {names["query"]: queries, names["document"]: documents}
    columns |= {} if value == "rank" else {names["score"]: scores}
    columns |= {} if value == "score" else {names["rank"]: ranks}
    # Of scores and ranks, only one is named, so the other does not count.
    other = {"score": "rank", "rank": "score"}.get(value)
    if other is not None and "run" in case.names and other not in columns:
        columns[other] = case.random.permutation(len(rows)).tolist()
    table = table_of(case, columns)
    return Given(table, by_rank, ranked=True) if value == "rank" else Given(table, lists)


def as_ranked_lists(case, lists):
    """Ranked lists of Python or NumPy, of which masked entries are padding."""
    found = {}
    kind = case.one_of("list", "tuple", "array", "masked")
    for query, row in lists.items():
        documents = [one for one, _ in row]
        found[query] = tuple(documents) if kind == "tuple" else documents
        if kind == "array" and case.kind != "tuple":
            found[query] = np.array(documents, dtype=None if documents else "U1")
        if kind == "masked" and case.kind != "tuple":
            values = np.array([*documents, *documents[:1]])
            is_padding = np.arange(len(values)) >= len(documents)
            found[query] = np.ma.array(values, mask=is_padding)
    return Given(found, {query: ranked_row(row) for query, row in lists.items()}, ranked=True)


def arrays_of(case, all_lists):
    """Runs as arrays of ids, one row for each of the same queries, and these queries."""
    queries = list(dict.fromkeys(query for lists in all_lists for query in lists))
    padding = case.one_of("-1", "None", "mask") if case.kind in ("integer", "count") else "None"
    runs = []
    for lists in all_lists:
        rows = [[one for one, _ in lists.get(query, [])] for query in queries]
        width = max(map(len, rows)) + 1
        array = np.full((len(rows), width), -1 if padding != "None" else None)
        for place, row in enumerate(rows):
            for rank, one in enumerate(row):
                array[place, rank] = one
        if padding == "mask":
            is_padding = array == -1
            array = np.ma.array(np.where(is_padding, 7, array), mask=is_padding)
            array = case.one_of(array, list(array))
        elif case.kind != "tuple" and case.chance(0.3):
            array = array.tolist()
        of_queries = {query: ranked_row(lists.get(query, [])) for query in queries}
        runs.append(Given(array, of_queries, ranked=True))
    return runs, queries


def passages_of(case, drawn):
    """Passages in place of the documents of runs, and the document of each."""
    parents, runs = {}, []
    most = case.one_of(1, 3)
    for lists in drawn:
        found = {}
        for query, row in lists.items():
            found[query] = []
            for one, score in row:
                for number in range(case.random.integers(1, most + 1)):
                    passage = f"{one}#{number}".replace(" ", "")
                    parents[passage] = one
                    # Most of the further ones are worse.
                    direction = float(case.one_of(1, 1, -1))
                    found[query].append((passage, score - number * direction))
        runs.append(found)
    return runs, parents


def exclusions(case, queries, documents):
    """Pairs to exclude in one of their forms, and these pairs."""
    chosen = documents if case.chance(0.8) else [IDS[case.kind]("d", 99)]
    pairs = [(query, one) for query in queries for one in chosen if case.chance(0.25)]
    pairs = pairs or [(queries[0], chosen[0])]
    form = case.one_of("pairs", "dict", "table", "sparse" if case.kind == "count" else "table")
    if form == "pairs":
        return case.one_of(list, set, iter)(pairs), set(pairs)
    if form == "dict":
        by_query = {}
        for query, one in pairs:
            by_query.setdefault(query, []).append(one)
        return by_query, set(pairs)
    if form == "sparse":
        entries = [(*pair, float(case.random.integers(2))) for pair in pairs]
        found = {(query, one) for query, one, entry in entries if entry}
        return sparse_of(case, entries), found
    names = {**USUAL, **case.names.get("exclude", {})}
    firsts, seconds = map(list, zip(*pairs, strict=True))
    return table_of(case, {names["query"]: firsts, names["document"]: seconds}), set(pairs)


def columns_of(case, value):
    """Names of columns, and those that the frames of each argument then have."""
    shown = {"score": ["score"], "rank": ["rank"], "both": ["score", "rank"]}[value]
    roles = {
        "qrels": ["query", "document", "label"],
        "run": ["query", "document", *shown],
        "exclude": ["query", "document"],
        "documents": ["document"],
    }
    way = case.one_of("usual", "shared", "own", "both", "run")
    if way == "usual":
        return None
    # What "both" gives for all frames does not count if there is another name for one of them.
    shared = {role: OWN[role] for role in ("query", "document", "label", *shown)}
    own = {name: {role: OTHER[role] for role in of_one} for name, of_one in roles.items()}
    if way == "run":
        case.names = {"run": {role: OWN[role] for role in shown}}
        return dict(case.names["run"])
    if way == "shared":
        case.names = dict.fromkeys(roles, shared)
        return shared
    if way == "own":
        case.names = own
        return own
    case.names = dict.fromkeys(roles, shared) | {"run": own["run"]}
    return shared | {"run": own["run"]}


def of_queries(case, queries, values):
    """A value for each query, in a dict or a Series."""
    spare = [IDS[case.kind]("q", 50)]
    known = case.one_of(queries[::-1], [*spare, *queries])
    found = {query: case.one_of(*values) for query in known}
    if case.kind == "tuple" or case.chance(0.5):
        return found, found
    return pd.Series(list(found.values()), index=list(found)), found


def of_documents(case, documents):
    """Prices of documents in one of the forms, and these prices."""
    price = {one: float(place % 5) for place, one in enumerate(documents)}
    form = case.one_of("dict", "index", "table")
    if form == "dict":
        return {"price": price}, price
    values = list(price.values())
    case.has_columns = True
    if form == "index" and case.kind != "tuple" and "documents" not in case.names:
        return pd.DataFrame({"price": values}, index=documents), price
    name = {**USUAL, **case.names.get("documents", {})}["document"]
    return frame_of(case, {name: documents, "price": values}), price


# --- The same by plain loops


def plain_rows(given, problem, duplicates, convention):
    """A row for each document that was returned or judged: query, document, label, score, and both masks."""
    in_trec_eval = convention == "trec_eval"
    in_float32 = given.score_type == "float32" or (in_trec_eval and given.score_type is None)
    rows = []
    for query, of_query in problem.truth.items():
        if problem.options["missing"] == "skip" and query not in given.lists:
            continue
        row = given.lists.get(query, [])
        if in_float32 and not given.ranked:
            row = [(one, float(np.float32(score))) for one, score in row]
        row = without_repeats(row, duplicates)
        if problem.parents is not None:
            of_documents = [(problem.parents[one], score) for one, score in row]
            row = without_repeats(of_documents, "best")
        row = [(one, score) for one, score in row if (query, one) not in problem.excluded]
        if in_trec_eval:
            row.sort(key=lambda pair: str(pair[0]), reverse=True)
            row.sort(key=lambda pair: -pair[1])
        judged = without_repeats(of_query, duplicates)
        labels = {one: label for one, label in judged if label >= 0}
        returned = dict(row)
        found = [
            (query, one, labels.get(one, 0), returned[one], True, one in labels) for one in returned
        ]
        found += [
            (query, one, labels[one], 0, False, True) for one in labels if one not in returned
        ]
        # A query of nothing is a query, too.
        rows += found or [(query, None, 0, 0, False, False)]
    return rows


def expected_findings(given, problem, rows):
    """What the report says about queries and documents that do not match, up to the examples."""
    found, truth = [], problem.truth
    n_absent = len(set(truth) - set(given.lists))
    if n_absent:
        is_one = n_absent == 1
        are, count, them = ("is", "counts", "it") if is_one else ("are", "count", "them")
        fate = f"{are} left out; missing='zero' counts {them} as 0."
        if problem.options["missing"] == "zero":
            # Of several runs, each may lack other queries, and then they cannot be compared without them.
            advice = f"; missing='skip' leaves {them} out" if len(problem.runs) == 1 else ""
            fate = f"{count} as 0{advice}."
        found.append(f" {are} not in the run and {fate}")
    n_more = len(set(given.lists) - set(truth))
    if n_more:
        found.append("no judgments and")
    judged = {one for row in truth.values() for one, _ in row}
    returned = {one for row in given.lists.values() for one, _ in row}
    if problem.parents is not None:
        returned = {problem.parents[one] for one in returned}
    names = {one for _, one in problem.excluded}
    if names and names.isdisjoint(judged | returned):
        found.append("Nothing excluded: no document of exclude is in run or qrels")
    relevant = {(query, one) for query, one, label, *_ in rows if label > 0}
    n_lost = len(relevant & problem.excluded)
    if n_lost:
        counts = f"{n_lost} of {len(relevant)} cannot be returned, but count as relevant."
        found.append(f"Relevant documents excluded: {counts}")
    if judged and returned and judged.isdisjoint(returned):
        found.append("No document in common: run and qrels share none")
    return found


def check_report(report, expected, rows, findings):
    """Compare a report with that of its rows."""
    own = (
        "not in the run",
        "of the run has",
        "of the run have",
        "Nothing excluded",
        "Relevant documents excluded",
        "No document in",
    )
    assert_same(report, expected, own)
    assert report.qid.tolist() == list(dict.fromkeys(row[0] for row in rows))
    for name, values in expected.per_query.items():
        np.testing.assert_allclose(report.per_query[name], values, rtol=1e-12)
    said = [line for line in report.health.findings if any(words in line for words in own)]
    assert len(said) == len(findings)
    for line, words in zip(said, findings, strict=True):
        assert words in line
    if report.condensed:
        return
    query = rows[-1][0]
    # bpref sees judged documents only.
    metric = next(name for name in report.metrics if name != "bpref")
    shown = report.inspect(query, metric=metric, n_ranks=12).to_frame()
    found = sorted(
        zip(shown["score"], map(str, shown["id"]), shown["label"].fillna(-1), strict=True)
    )
    returned = [row for row in rows if row[0] == query and row[4]]
    assert found == sorted((row[3], str(row[1]), row[2] if row[5] else -1.0) for row in returned)


@dataclass
class Problem:
    """The arguments of ``evaluate_run``, and what they mean."""

    qrels: object
    truth: dict
    runs: list
    metrics: list
    options: dict
    parents: dict | None = None
    excluded: set = field(default_factory=set)
    of_queries: dict = field(default_factory=dict)
    price: dict | None = None


def draw_problem(case):
    """Judgments, one or several runs, and options, all at random."""
    random = case.random
    convention = case.one_of(None, None, "sklearn", "trec_eval", "lightgbm")
    case.negative = convention == "trec_eval" and case.chance(0.5)
    case.duplicates = case.one_of("error", "error", "first", "best")
    labels = [-1, 0, 0, 1, 2] if case.negative else [0, 0, 1, 2, 3]
    value = case.one_of("score", "rank", "both")
    columns = columns_of(case, value)
    qrels, truth = judgments(case, with_repeats(case, draw_lists(case, 6, labels), labels))

    drawn = [draw_lists(case, 6, SCORES) for _ in range(case.one_of(1, 1, 2, 3))]
    options = {
        "convention": convention,
        "duplicates": case.duplicates,
        "missing": case.one_of("zero", "zero", "skip", "error"),
        "condense": case.chance(0.3),
    }
    metrics = list(map(str, random.choice(METRICS, 3, replace=False)))
    # Ties of its own change nothing for the others, which rank by ids.
    if convention == "trec_eval" and OWN_TIES not in metrics:
        metrics[-1] = OWN_TIES
    problem = Problem(qrels, truth, [], metrics, options)
    if case.chance(0.3):
        drawn, problem.parents = passages_of(case, drawn)
        options["parents"] = case.one_of(problem.parents, problem.parents.__getitem__)
    drawn = [with_repeats(case, lists, SCORES) for lists in drawn]
    if problem.parents is None and case.chance(0.2):
        problem.runs, options["queries"] = arrays_of(case, drawn)
    else:
        problem.runs = [a_run(case, lists, value) for lists in drawn]
    add_options(case, problem)
    if columns is not None and case.has_columns:
        options["columns"] = columns
    return problem


def add_options(case, problem):
    """Exclusions, values of queries, and columns of documents."""
    options, queries = problem.options, list(problem.truth)
    documents = [IDS[case.kind]("d", number) for number in range(12)]
    if case.chance(0.4):
        # Of an ignored query, nothing can be excluded, but its run has it.
        more = [query for query in problem.runs[-1].lists if query not in problem.truth]
        with_exclusions = more if more and case.chance(0.3) else queries
        options["exclude"], problem.excluded = exclusions(case, with_exclusions, documents)
    values = {"sample_weight": [1.0, 2.5], "by": ["b", "c"], "groups": [1, 2, 3]}
    for name in values:
        if case.chance(0.4):
            options[name], problem.of_queries[name] = of_queries(case, queries, values[name])
    if case.chance(0.3):
        options["documents"], problem.price = of_documents(case, documents)
        problem.metrics.append(REVENUE)


def absent_queries(truth, run):
    return [query for query in truth if query not in run.lists]


def expected_error(problem):
    """The error that the runs deserve, or None."""
    if problem.options["convention"] is None and len({run.in_trec for run in problem.runs}) > 1:
        return "Only some of the runs are in the format of TREC"
    absent = [absent_queries(problem.truth, run) for run in problem.runs]
    missing = problem.options["missing"]
    if missing == "error" and any(absent):
        lost = next(filter(None, absent))
        count = "1 query" if len(lost) == 1 else f"{len(lost)} queries"
        name = "run" if len(absent) == 1 else f"run 'run {absent.index(lost)}'"
        return f"{name} has no list for {count} of qrels, such as {lost[0]!r}."
    if missing == "skip" and absent.count(absent[0]) < len(absent):
        number, other = next(pair for pair in enumerate(absent) if pair[1] != absent[0])
        differing = set(absent[0]) ^ set(other)
        query = next(query for query in problem.truth if query in differing)
        return (
            f"missing='skip' would leave different queries in 'run 0' and 'run {number}', such as {query!r}, and "
            "only rankings of the same queries can be compared. Pass missing='zero'."
        )
    return None


def evaluate_rows(rows, problem, convention):
    """The report of rows."""
    queries, documents, labels, scores, returned, judged = zip(*rows, strict=True)
    of_rows = {}
    for name, values in problem.of_queries.items():
        of_rows[name] = [values[query] for query in queries]
    if problem.price is not None:
        of_rows["documents"] = {"price": [problem.price.get(one, 0.0) for one in documents]}
    return evaluate(
        labels,
        scores,
        qid=list(queries),
        retrieved=returned,
        judged=judged,
        metrics=problem.metrics,
        convention=convention,
        condense=problem.options["condense"],
        **of_rows,
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS))
def test_runs_of_any_form_make_the_report_of_rows_that_loops_join(seed, tmp_path):
    random = np.random.default_rng([seed, 31])
    kind = KINDS[seed % len(KINDS)]
    case = Case(random, tmp_path, kind=kind)
    problem = draw_problem(case)
    runs = {f"run {number}": run for number, run in enumerate(problem.runs)}
    sources = {name: run.source for name, run in runs.items()}
    source = sources if len(sources) > 1 else sources["run 0"]
    evaluate_them = functools.partial(
        evaluate_run, problem.qrels, source, problem.metrics, **problem.options
    )
    error = expected_error(problem)
    if error is not None:
        with pytest.raises(ValueError, match=re.escape(error)):
            evaluate_them()
        return

    found = evaluate_them()
    all_in_trec = all(run.in_trec for run in runs.values())
    default = "trec_eval" if all_in_trec else "sklearn"
    convention = problem.options["convention"] or default
    reports = {}
    for name, run in runs.items():
        rows = plain_rows(run, problem, case.duplicates, convention)
        reports[name] = evaluate_rows(rows, problem, convention)
        report = found.reports[name] if len(runs) > 1 else found
        check_report(report, reports[name], rows, expected_findings(run, problem, rows))
    if len(runs) > 1:
        assert set(found.reports) == set(runs)
        almost(found.to_frame(), compare(reports).to_frame())
