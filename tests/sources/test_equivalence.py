"""The same documents from any source make the report that ``evaluate`` makes of their rows, whatever options meet."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.tables import almost, assert_same

from skrank_metrics import compare, evaluate, evaluate_lists, evaluate_run, make_metric, with_qid
from skrank_metrics.metrics.names import bind_metrics
from skrank_metrics.reports import RankingReport
from skrank_metrics.sources import RankingAccumulator, evaluate_batches
from skrank_metrics.sources.accumulator import TableEvaluation
from skrank_metrics.sources.columns import TableColumns

METRICS = [
    "ndcg@3",
    "ndcg(gain=exp2, ties=worst)",
    "mrr(ties=best)@2",
    "map(replace_undefined_by=nan)",
    "recall(normalizer=min)@2",
    "precision(average=micro)@2",
    "recall(average=median, replace_undefined_by=1)@3",
    "map(average=geometric)",
    "fall_out@2",
    "bpref",
    "judged@3",
    "neg_kendall_tau_distance",
    "auc(ties=worst)",
    "mrr(ties=stable)",
    "rbp(p=0.5)",
]


def revenue(labels, price, unranked=()):
    """Half of the price at rank 1 if it is relevant, and a little for its length."""
    revenue = float(sum(labels[:1] * price[:1]))
    return revenue / 2 + len(labels) / 100 + len(unranked) / 1000


REVENUE = make_metric(revenue, documents=["price"])
ROLES = {"sample_weight": "w", "retrieved": "r", "judged": "j", "groups": "g"}


def random_rows(random, *, ids):
    """Contiguous documents of queries of unequal lengths, some without a relevant one; scores with ties."""
    n_queries = int(random.integers(2, 9))
    sizes = random.integers(1, random.choice([3, 12]), n_queries)
    sizes[random.integers(n_queries)] += 3
    of_row = np.repeat(np.arange(n_queries), sizes)
    n = len(of_row)
    names = np.arange(20) * 7 - 30
    if ids == "str":
        names = [f"q {number}" for number in range(20)]
    names = random.permutation(names)
    barren = random.random(n_queries) < 0.25
    weights = random.choice([0.0, 0.5, 1.0, 3.0], n_queries)
    weights[0] += 1
    return pd.DataFrame(
        {
            "q": names[:n_queries][of_row],
            "d": np.concatenate([random.permutation(20)[:size] for size in sizes]),
            "y": np.where(barren[of_row], 0, random.integers(0, 4, n)),
            "s": random.integers(0, 5, n) / 2,
            "t": random.normal(size=n),
            "w": weights[of_row],
            "r": random.random(n) < 0.8,
            "j": random.random(n) < 0.8,
            "b": random.choice(["head", "tail", "new"], n_queries)[of_row],
            "c": random.choice([1, 2], n_queries)[of_row],
            "g": random.integers(0, 4, n_queries)[of_row],
            "price": random.integers(0, 9, n).astype(float),
        }
    )


def random_options(random):
    """Metrics, a convention, slices, and the roles that columns play."""
    roles = [role for role in ROLES if random.random() < 0.5]
    options = {role: ROLES[role] for role in roles}
    options["condense"] = bool("judged" in roles and random.random() < 0.4)
    slices = [None, None, "b", ["b"], ["c", "b"]]
    options["by"] = slices[random.integers(len(slices))]
    metrics = random.choice(METRICS, int(random.integers(1, 5)), replace=False).tolist()
    if random.random() < 0.3:
        options["documents"] = ["price"]
        metrics.append(REVENUE)
    options["metrics"] = metrics
    options["convention"] = str(random.choice(["sklearn", "sklearn", "lightgbm", "trec_eval"]))
    return {name: value for name, value in options.items() if value is not None}


def arrays_of(rows, options):
    """Options of ``evaluate`` from those with names of columns."""
    arrays = dict(options)
    for role in set(ROLES) & set(options):
        arrays[role] = rows[options[role]].to_numpy()
    for role in {"by", "documents"} & set(options):
        arrays[role] = rows[options[role]]
    return arrays


def plain(rows, options, score="s"):
    arrays = arrays_of(rows, options)
    return evaluate(
        rows["y"].to_numpy(), rows[score].to_numpy(), qid=rows["q"].to_numpy(), **arrays
    )


def in_order(rows, random):
    """Rows with the queries in another order, each with its rows as they were."""
    queries = random.permutation(rows["q"].unique())
    return pd.concat([rows[rows["q"] == query] for query in queries], ignore_index=True)


def mixed(rows, random):
    """Rows of all queries mixed, those of a query in the order in which they were."""
    places = random.permutation(rows["q"].to_numpy())
    numbers = rows.groupby("q").cumcount()
    of_row = pd.Series(places).groupby(places).cumcount()
    index = pd.MultiIndex.from_arrays([places, of_row])
    return rows.set_index([rows["q"], numbers]).loc[index].reset_index(drop=True)


def cut(rows, random):
    """Pieces of a frame, of unequal numbers of rows."""
    cuts = np.sort(random.integers(1, len(rows), 3)) if len(rows) > 1 else []
    return [piece for piece in np.split(np.arange(len(rows)), cuts) if len(piece)]


def by_batches(rows, options, random):
    order = str(random.choice(["check", "shuffle"]))
    rows = in_order(rows, random) if order == "check" else mixed(rows, random)
    kinds = [pa.Table.from_pandas, pl.from_pandas, pd.DataFrame, lambda part: part.to_dict("list")]
    kind = kinds[random.integers(len(kinds))]
    source = (kind(rows.iloc[piece]) for piece in cut(rows, random))
    return evaluate_batches(
        source,
        label="y",
        qid="q",
        order=order,
        batch_rows=int(random.integers(1, 20)),
        n_threads=int(random.integers(1, 3)),
        **options,
    )


def by_partitions(rows, options, _):
    """What Dask, Spark and others do, in one process: each partition holds whole queries, in any order."""
    metrics = bind_metrics(options["metrics"], options["convention"])
    named = {
        name: options.get(name)
        for name in ("sample_weight", "retrieved", "judged", "documents", "by", "groups")
    }
    columns = TableColumns("y", options["score"], "q", **named)
    evaluation = pickle.loads(pickle.dumps(TableEvaluation(metrics, options["condense"], columns)))
    names = rows["q"].unique()
    halves = [rows[rows["q"].isin(names[start::2])] for start in (0, 1)]
    parts = [evaluation.of_partition(half) for half in halves]
    return evaluation.result_of(reversed(parts))


def in_labels(part, columns):
    """Labels that carry some of the columns of their rows, and the other columns."""
    names = {"retrieved", "judged", "sample_weight", "documents"} & set(columns)
    # Labels of weights that are all 0 are refused, as nothing could be evaluated.
    if not part["w"].all():
        names -= {"sample_weight"}
    labels = with_qid(part["y"], part["q"], **{name: columns[name] for name in names})
    return labels, {name: columns[name] for name in set(columns) - names}


def by_accumulator(rows, options, random):
    score = options["score"]
    settings = {name: options[name] for name in ("metrics", "convention", "condense")}
    total, merged = RankingAccumulator(**settings), []
    queries = random.permutation(rows["q"].unique())
    has_results = "sample_weight" not in options
    for query in queries:
        part = rows[rows["q"] == query]
        arrays = arrays_of(part, options)
        columns = {name: arrays[name] for name in arrays if name not in (*settings, "score")}
        labels = part["y"].to_numpy()
        if random.random() < 0.4:
            labels, columns = in_labels(part, columns)
        scores = part[score].to_numpy() if isinstance(score, str) else part[score]
        is_merged = random.random() < 0.7
        one = RankingAccumulator(**settings) if is_merged else total
        one.update(labels, scores, qid=part["q"].to_numpy(), **columns)
        if is_merged:
            total.merge(one if random.random() < 0.5 else pickle.loads(pickle.dumps(one)))
            merged.append((query, one))
        # Looking at a result changes nothing.
        if has_results and random.random() < 0.3:
            total.result()
    result = total.result()
    assert total.n_queries == len(queries)
    for query, one in merged[:2] if has_results else []:
        for name, report in reports_of(one.result()).items():
            own = reports_of(result)[name].to_frame().loc[[query]]
            almost(report.to_frame(), own)
    return result


def reports_of(result):
    return getattr(result, "reports", {"": result})


def by_evaluate(rows, options, random):
    rows, score = mixed(rows, random), options["score"]
    arrays = {name: value for name, value in arrays_of(rows, options).items() if name != "score"}
    return evaluate(rows["y"], rows[score], qid=rows["q"], **arrays)


WAYS = [by_evaluate, by_batches, by_partitions, by_accumulator]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(8))
def test_columns_from_any_source_make_the_report_of_their_rows(seed, way, tmp_path):
    random = np.random.default_rng([seed, WAYS.index(way)])
    rows = random_rows(random, ids=random.choice(["str", "int"]))
    options = random_options(random)
    if seed % 3:
        report = way(rows, options | {"score": "s"}, random)
        expected = plain(rows, options)
        assert_same(report, expected)
        report.save(tmp_path / "report.json")
        assert_same(RankingReport.load(tmp_path / "report.json"), report)
        return
    # Pairs are compared by means over queries.
    means = [name for name in options["metrics"] if "average=" not in str(name)] or ["ndcg"]
    pooled = [name for name in options["metrics"] if "average=" in str(name)]
    options["metrics"] = [*means, *pooled]
    comparison = way(rows, options | {"score": ["t", "s"]}, random)
    reports = {name: plain(rows, options, name) for name in ("t", "s")}
    for name, report in reports.items():
        assert_same(comparison.reports[name], report)
    almost(comparison.to_frame(), compare(reports).to_frame())
    other = {
        "metrics": list(reports["t"].metrics)[: len(means)],
        "baseline": "t",
        "margin": 0.1,
        "confidence": 0.9,
    }
    found = compare(comparison, **other)
    expected = compare(reports, **other)
    almost(found.to_frame(), expected.to_frame())


# Lists by id


def random_lists(rows):
    """Judgments and a run of the rows: only what was judged, and only what was returned, in the order of the rows."""
    qrels, run = {}, {}
    for query, document, label, judged, score, retrieved in rows[list("qdyjsr")].itertuples(
        index=False
    ):
        if judged:
            qrels.setdefault(query, {})[document] = label
        if retrieved:
            run.setdefault(query, {})[document] = score
    return qrels, run


def as_frame(lists, value):
    found = [(query, *pair) for query, row in lists.items() for pair in row.items()]
    return pd.DataFrame(found, columns=["query", "document", value])


def with_repeats(run, random, duplicates):
    """Rows of the run, some of which come twice, the second time with a score that must not count."""
    frame = as_frame(run, "score")
    lower, other = frame["score"] - 1, random.normal(size=len(frame))
    again = frame.assign(score=lower if duplicates == "best" else other)[
        random.random(len(frame)) < 0.3
    ]
    if duplicates == "best":  # wherever the best one is
        return pd.concat([frame, again]).sample(frac=1, random_state=int(random.integers(99)))
    return pd.concat([frame, again])


LOST = "Relevant documents excluded"
FINDINGS_OF_RUNS = ("not in the run", "of the run", LOST)


def as_given(run, random):
    """A run in one of its forms, with the options that this needs."""
    if random.random() < 0.3:
        duplicates = str(random.choice(["first", "best"]))
        return with_repeats(run, random, duplicates), {"duplicates": duplicates}
    if random.random() < 0.3:
        return as_frame(run, "score"), {}
    if random.random() < 0.5:
        return run, {}
    # The best passage stands for its document.
    passages = {}
    for query, row in run.items():
        passages[query] = {}
        for document, score in row.items():
            worse = score - random.integers(4)
            passages[query] |= {f"{document}#1": worse, f"{document}#2": score}
    return passages, {"parents": lambda passage: passage.partition("#")[0]}


def by_id(rows, options, price):
    """What belongs to queries and documents, by their ids."""
    firsts = rows.groupby("q", sort=False).first()
    given = dict(options)
    for role in {"sample_weight", "groups"} & set(options):
        given[role] = firsts[options[role]].to_dict()
    if isinstance(options.get("by"), list):
        keys = firsts[options["by"]].itertuples(index=False, name=None)
        # A tuple of one value is that value.
        keys = [key if len(key) > 1 else key[0] for key in keys]
        given["by"] = dict(zip(firsts.index, keys, strict=True))
    elif "by" in options:
        given["by"] = firsts[options["by"]].to_dict()
    if "documents" in options:
        given["documents"] = {"price": price}
    return given


def random_rows_by_id(random):
    """Rows of documents that were judged or returned, of which a query may have no list."""
    rows = random_rows(random, ids="str")
    rows["d"] = "doc " + rows["d"].astype(str)
    lost = random.choice(rows["q"].unique())
    rows.loc[rows["q"] == lost, "r"] = random.random() < 0.5
    price = {f"doc {number}": float(number % 7) for number in range(20)}
    rows["price"] = rows["d"].map(price)
    return rows[rows["j"] | rows["r"]].reset_index(drop=True), price


@pytest.mark.parametrize("seed", range(40))
def test_lists_by_id_make_the_report_of_their_rows(seed):
    random = np.random.default_rng([seed, 9])
    options = random_options(random)
    rows, price = random_rows_by_id(random)
    qrels, run = random_lists(rows)
    if not set(qrels) & set(run):
        return
    chances = random.random(len(rows))
    excluded = rows["r"] & (chances < random.choice([0, 0.3]))
    run, given = as_given(run, random)
    given["missing"] = str(random.choice(["zero", "skip"]))
    if excluded.any():
        pairs = rows.loc[excluded, ["q", "d"]]
        given["exclude"] = list(pairs.itertuples(index=False, name=None))
    if random.random() < 0.3:
        qrels = as_frame(qrels, "label")
    of_query = rows.groupby("q")
    counted = of_query["j"].transform("any")
    if given["missing"] == "skip":
        counted &= of_query["r"].transform("any")
    expected = rows.assign(r=rows["r"] & ~excluded)
    expected = expected[counted & (expected["j"] | expected["r"])]

    roles = {"retrieved": "r", "judged": "j"}
    options = {name: value for name, value in options.items() if name not in roles}
    # That of trec_eval breaks ties by id, as another test says.
    options |= {"condense": random.random() < 0.3, "convention": "sklearn"}
    if given.get("duplicates") == "best":  # the rows were shuffled
        names = [name for name in options["metrics"] if name != "mrr(ties=stable)"]
        options["metrics"] = [*names, "ndcg"]
    report = evaluate_run(qrels, run, **given, **by_id(rows, options, price))
    assert_same(report, plain(expected, options | roles), FINDINGS_OF_RUNS)
    relevant = counted & rows["j"] & (rows["y"] > 0)
    n_lost = int((relevant & excluded).sum())
    counts = f"{LOST}: {n_lost} of {relevant.sum()} cannot be returned, but count as relevant."
    said = [line for line in report.health.findings if LOST in line]
    assert len(said) == (n_lost > 0)
    assert all(line.startswith(counts) for line in said)


@pytest.mark.parametrize("seed", range(10))
def test_labels_in_ranked_order_make_the_report_of_their_rows(seed):
    random = np.random.default_rng([seed, 8])
    convention = str(random.choice(["sklearn", "lightgbm"]))
    metrics = random.choice(METRICS, 3, replace=False).tolist()
    sizes = random.integers(0, 9, 6)
    lists = {f"q{n}": random.integers(0, 4, size).tolist() for n, size in enumerate(sizes)}
    rows = []
    for name, row in lists.items():
        rows += [(name, label, -rank, True) for rank, label in enumerate(row)]
        # A list of nothing is a list, too.
        rows += [] if row else [(name, 0, 0.0, False)]
    frame = pd.DataFrame(rows, columns=["q", "y", "s", "r"])
    options = {"metrics": metrics, "convention": convention, "retrieved": "r"}
    assert_same(evaluate_lists(lists, metrics, convention=convention), plain(frame, options))
