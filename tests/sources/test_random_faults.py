"""Errors name the first fault of many rows, wherever it is: its row and file, or its query and document."""

import itertools
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skrank_metrics import evaluate_run
from skrank_metrics.metrics.names import bind_metrics
from skrank_metrics.sources import evaluate_batches
from skrank_metrics.sources.accumulator import TableEvaluation
from skrank_metrics.sources.columns import TableColumns

NAMES = {"label": "y", "score": ["s", "t"], "qid": "q", "metrics": "mrr"}
MASKS = {"retrieved": "r", "judged": "j", "sample_weight": "w", "documents": "price", "by": "b"}


def make_rows(random):
    sizes = random.integers(1, 5, 8)
    queries = np.repeat(np.arange(8), sizes)
    n = len(queries)
    return pd.DataFrame(
        {
            "y": random.integers(0, 3, n).astype(float),
            "s": random.normal(size=n),
            "t": random.normal(size=n),
            "q": [f"q {query}" for query in queries],
            "r": random.random(n) < 0.7,
            "j": random.random(n) < 0.7,
            "w": 1.0 + queries % 2,
            "price": random.random(n),
            "b": np.array(["x", "y"])[queries % 2],
        }
    )


# A column, a value that it must not have, and the words about it. A mask makes some cells of no account.
FAULTS = [
    ("y", np.nan, "numbers from 0 to 1.79", "j"),
    ("y", -1.0, "numbers from 0 to 1.79", "j"),
    ("y", np.inf, "numbers from 0 to 1.79", "j"),
    ("s", np.nan, "numbers from -inf to inf", "r"),
    ("t", np.nan, "numbers from -inf to inf", "r"),
    ("w", -0.5, "numbers from 0 to 1.79", None),
    ("w", np.inf, "numbers from 0 to 1.79", None),
    ("b", None, "nulls", None),
    ("price", None, "nulls", None),
]


def arrow_of(rows):
    """A table in which NaN stays a number."""
    return pa.table({name: rows[name].to_list() for name in rows})


def write(rows, path):
    if path.suffix == ".parquet":
        pq.write_table(arrow_of(rows), path)
    else:
        has_missing = rows["b"].isna().any() or rows["price"].isna().any()
        na_rep = "" if has_missing else "nan"
        rows.to_csv(path, index=False, na_rep=na_rep)
    return path


def source_of(rows, random, folder):
    """Rows as batches or files, and the first row and the name in errors of each of these."""
    inner = random.choice(np.arange(1, len(rows)), 3, replace=False)
    cuts = [0, *np.sort(inner), len(rows)]
    pieces = [rows.iloc[start:end] for start, end in itertools.pairwise(cuts)]
    ways = [
        arrow_of,
        lambda piece: piece.to_dict("list"),
        lambda piece: pl.DataFrame(arrow_of(piece)),
    ]
    kind = random.integers(5)
    if kind < 3:
        return map(ways[kind], pieces), [(0, "the source")]
    suffix = [".parquet", ".csv"][kind - 3]
    paths = [
        write(piece, folder / f"{start}{suffix}")
        for start, piece in zip(cuts, pieces, strict=False)
    ]
    return paths, list(zip(cuts, map(str, paths), strict=False))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_the_first_invalid_cell_is_named_by_its_row_and_file(seed, tmp_path):
    random = np.random.default_rng([seed, 41])
    rows = make_rows(random)
    column, value, words, mask = FAULTS[seed % len(FAULTS)]
    masks = {role: name for role, name in MASKS.items() if name == column or random.random() < 0.6}
    bad = np.sort(random.choice(len(rows), 2, replace=False))
    rows[column] = rows[column].astype(object if value is None else float)
    rows.loc[bad, column] = value
    counts = np.ones(len(rows), dtype=bool)
    if mask in masks.values():
        counts = rows[mask].to_numpy()
    source, holders = source_of(rows, random, tmp_path)
    options = {"order": ["check", "shuffle"][random.integers(2)], "batch_rows": 4}
    faults = [row for row in bad if counts[row]]
    if not faults:
        report = evaluate_batches(source, **NAMES, **masks, **options).reports["s"]
        assert report.n_documents == len(rows)
        return
    before_fault = [one for one in holders if one[0] <= faults[0]]
    first, holder = before_fault[-1]
    message = f"column {column!r} must (not )?hold {words}.*in row {faults[0] - first} of "
    with pytest.raises(ValueError, match=message + re.escape(holder)):
        evaluate_batches(source, **NAMES, **masks, **options)
    # Nobody knows the numbers of rows in a cluster.
    columns = TableColumns("y", ["s", "t"], "q", **masks)
    evaluation = TableEvaluation(bind_metrics("mrr", "sklearn"), False, columns)
    query = rows["q"][faults[0]]
    message = message.partition(".*in row")[0] + f".* for query '{query}'"
    with pytest.raises(ValueError, match=message):
        evaluation.of_partition(arrow_of(rows))


FRAMES = [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas]


@pytest.mark.parametrize("seed", range(24))
def test_the_first_wrong_row_of_a_run_or_of_judgments_is_named(seed):
    random = np.random.default_rng([seed, 42])
    frames = {}
    for name, value in (("qrels", "label"), ("run", ["score", "rank"][seed % 2])):
        pairs = [
            (f"q{query}", f"d{one}") for query in range(4) for one in random.permutation(9)[:6]
        ]
        frame = pd.DataFrame(pairs, columns=["query", "document"])
        frame[value] = np.tile(np.arange(1.0, 7.0), 4)
        frames[name] = frame.sample(frac=1, random_state=seed, ignore_index=True)
    argument = ["qrels", "run"][random.integers(2)]
    frame = frames[argument]
    value = frame.columns[-1]
    wrong = np.sort(random.choice(24, 3, replace=False))
    fault = ["nan", "twice", "value"][seed % 3]
    if fault == "nan":
        frame.loc[wrong, value] = np.nan
        row = frame.loc[wrong[0]]
        message = f"{argument} has no .* for document '{row.document}' of query '{row['query']}'"
    elif fault == "value" and argument == "qrels":
        frame.loc[wrong, value] = -2.0
        row = frame.loc[wrong[0]]
        message = f">= 0; got -2 for document '{row.document}' of query '{row['query']}' in qrels"
    elif fault == "value" and value == "rank":
        of_others = frame.loc[wrong, "query"].map(
            lambda query: frame[frame["query"] == query].index
        )
        for row, others in zip(wrong, of_others, strict=True):
            other = others[others != row][0]
            frame.loc[row, "rank"] = frame.loc[other, "rank"]
        row = frame[frame.duplicated(["query", "rank"])].iloc[0]
        of_row = f"document '{row.document}' of query '{row['query']}'"
        message = f"run has rank {row['rank']:g} twice, again for {of_row}"
    else:
        again = frame.loc[wrong]
        if value == "rank":
            again = again.assign(rank=[7.0, 8.0, 9.0])
        frames[argument] = pd.concat([frame, again], ignore_index=True)
        # Lists are joined in the order of the queries of qrels.
        order = list(frames["qrels"]["query"].unique())
        row = min(again.itertuples(), key=lambda one: (order.index(one[1]), one[0]))
        message = f"{argument} has document '{row[2]}' of query '{row[1]}' twice"
    kinds = random.integers(3, size=2)
    named_kinds = zip(kinds, frames, strict=True)
    qrels, run = (FRAMES[kind](frames[name]) for kind, name in named_kinds)
    # Rows in any order can have ranks only in a column that is named as such.
    columns = {"run": {"rank": "rank"}} if "rank" in frames["run"] else None
    with pytest.raises(ValueError, match=message):
        evaluate_run(qrels, run, columns=columns)
