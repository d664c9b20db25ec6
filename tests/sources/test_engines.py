"""What holds for Dask and Spark alike, and what each of them alone has."""

import inspect
import os
import signal
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.engines import MISSING
from support.policies import with_policies
from support.tables import METRICS, check, in_memory, make_table

import skrank_metrics
from skrank_metrics import dask, make_metric, spark
from skrank_metrics.sources import evaluate_batches
from skrank_metrics.splitters import query_fold

pytestmark = [pytest.mark.slow, pytest.mark.clusters, pytest.mark.filterwarnings("default")]

NAMES = {"label": "y", "score": "s", "qid": "q"}
SIZES = np.random.default_rng(0).integers(1, 40, 400)
TABLE = make_table(SIZES)
TABLE = TABLE.set_column(1, "s", pa.array(TABLE["s"].to_numpy().round(1)))  # with ties


def write(table, folder, order="random", n_files=16):
    """Files with rows in random order, or with whole queries each."""
    folder.mkdir()
    if order == "random":
        table = table.take(np.random.default_rng(1).permutation(len(table)))
    files = (
        np.arange(len(table)) % n_files
        if order == "random"
        else query_fold(table["q"].to_numpy(), n_files)
    )
    for number in range(n_files):
        rows = table.filter(pa.array(files == number))
        pq.write_table(rows, folder / f"{number:02}.parquet")
    return folder


@pytest.fixture(scope="module")
def scattered(tmp_path_factory):
    return write(TABLE, tmp_path_factory.mktemp("rows") / "scattered")


@pytest.fixture(scope="module")
def whole_queries(tmp_path_factory):
    return write(TABLE, tmp_path_factory.mktemp("rows") / "whole", order="by query")


@pytest.mark.option(
    "dask.evaluate.metrics", "dask.evaluate.label", "dask.evaluate.score", "dask.evaluate.qid"
)
@pytest.mark.option(
    "spark.evaluate.metrics", "spark.evaluate.label", "spark.evaluate.score", "spark.evaluate.qid"
)
def test_random_order_in_16_files_equals_the_single_machine(engine, scattered):
    check(engine.evaluate(engine.read(scattered), **NAMES, metrics=METRICS), in_memory(TABLE))


@pytest.mark.option("dask.evaluate.order", "spark.evaluate.order")
def test_without_a_shuffle_queries_must_be_whole(engine, scattered, whole_queries):
    with pytest.raises(
        ValueError, match=r"query -?\d+ came back: .* in one update, batch or partition"
    ):
        engine.evaluate(engine.read(scattered), **NAMES, metrics=METRICS, order="check")
    check(
        engine.evaluate(engine.read(whole_queries), **NAMES, metrics=METRICS, order="check"),
        in_memory(TABLE),
    )


def test_string_ids_and_several_scores(engine, tmp_path):
    table = make_table(SIZES[:50], "string")
    frame = engine.read(write(table, tmp_path / "rows"))
    comparison = engine.evaluate(frame, **NAMES | {"score": ["other", "s"]}, metrics=METRICS)
    assert set(comparison.reports) == {"other", "s"}
    for name, report in comparison.reports.items():
        check(report, in_memory(table, name))


@pytest.mark.option(
    "dask.evaluate.sample_weight", "dask.evaluate.retrieved", "dask.evaluate.judged"
)
@pytest.mark.option("dask.evaluate.by", "dask.evaluate.groups", "dask.evaluate.documents")
@pytest.mark.option(
    "spark.evaluate.sample_weight", "spark.evaluate.retrieved", "spark.evaluate.judged"
)
@pytest.mark.option("spark.evaluate.by", "spark.evaluate.groups", "spark.evaluate.documents")
def test_further_columns(engine, scattered):
    first = make_metric(
        lambda labels, w, unranked=(): float(sum(labels[:1] * w[:1])), name="first", documents=["w"]
    )
    columns = {"sample_weight": "w", "retrieved": "r", "judged": "j", "by": "b", "groups": "b"}
    arrays = {name: TABLE[column].to_numpy() for name, column in columns.items()}
    metrics = [*METRICS, first]
    report = engine.evaluate(
        engine.read(scattered), **NAMES, metrics=metrics, documents="w", **columns
    )
    expected = in_memory(TABLE, metrics=metrics, documents={"w": TABLE["w"].to_numpy()}, **arrays)
    check(report, expected)
    assert report.intervals()["first"] == pytest.approx(expected.intervals()["first"], abs=1e-9)


@pytest.mark.option("dask.evaluate.metrics", "dask.evaluate.convention", "spark.evaluate.metrics")
@pytest.mark.option("spark.evaluate.convention")
@pytest.mark.option("dask.evaluate.condense", "spark.evaluate.condense")
def test_options_are_those_of_evaluate(engine, scattered):
    options = {"convention": "lightgbm", "ties": "worst", "replace_undefined_by": 0.25}
    report = engine.evaluate(engine.read(scattered), **NAMES, **with_policies("ndcg", **options))
    expected = in_memory(TABLE, **with_policies("ndcg", **options))
    assert report.mean == pytest.approx(expected.mean, abs=1e-12)
    for name in options:
        others = {other: value for other, value in options.items() if other != name}
        if name == "ties":
            others["ties"] = "average"
        assert report.mean != pytest.approx(
            in_memory(TABLE, **with_policies("ndcg", **others)).mean, abs=1e-12
        )
    report = engine.evaluate(
        engine.read(scattered), **NAMES, metrics="ndcg", judged="j", condense=True
    )
    judged = {"judged": TABLE["j"].to_numpy()}
    assert report.mean == pytest.approx(
        in_memory(TABLE, metrics="ndcg", condense=True, **judged).mean, abs=1e-12
    )
    assert report.mean != pytest.approx(in_memory(TABLE, metrics="ndcg", **judged).mean, abs=1e-12)


def test_metrics_of_users_travel(engine, scattered):
    first = make_metric(lambda labels: labels[0] / 3, name="first")
    report = engine.evaluate(engine.read(scattered), **NAMES, metrics=[first, "mrr"])
    check(report, in_memory(TABLE, metrics=[first, "mrr"]))


def test_one_giant_query(engine, tmp_path):
    table = make_table([50_000, *SIZES[:30]])
    frame = engine.read(write(table, tmp_path / "rows"))
    check(engine.evaluate(frame, **NAMES, metrics=METRICS), in_memory(table))


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("q", None, "column 'q' must not hold nulls; got one"),
        ("s", None, "column 's' must not hold nulls; got one for query 2"),
        ("y", -1, "column 'y' must hold numbers from 0 .*; got -1 for query 2"),
    ],
)
def test_bad_values_name_the_column(engine, tmp_path, column, value, message):
    rows = {
        "q": [1, 1, 2, 2],
        "y": [0, 1, 1, 0],
        "s": [0.5, 1.5, 2.5, 0.25],
    }
    rows[column][2] = value
    pq.write_table(pa.table(rows), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=message):
        engine.evaluate(engine.read(tmp_path), **NAMES)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"label": "label"},
            ValueError,
            "the frame has no column 'label' for label. Columns: 'y', 's'",
        ),
        (
            {"score": "b"},
            TypeError,
            "score must be a column of numbers; 'b' is of type (large_)?string",
        ),
        ({"condense": True}, ValueError, "condense=True requires judged="),
        (
            {"metrics": {"ndcg@10": "ndcg(ties=stable)@10"}},
            ValueError,
            "ties must not be 'stable' if rows are shuffled.*'ndcg@10'",
        ),
        (
            {"convention": "lightgbm", "metrics": "map"},
            ValueError,
            "ties must not be 'stable'.* got it for 'map'",
        ),
    ],
)
def test_bad_arguments_are_found_before_anything_runs(engine, scattered, options, error, message):
    with pytest.raises(error, match=message):
        engine.evaluate(engine.read(scattered), **NAMES | options)


def test_stable_ties_are_in_the_order_of_rows(engine, whole_queries):
    report = engine.evaluate(
        engine.read(whole_queries), **NAMES, **with_policies(METRICS, ties="stable"), order="check"
    )
    check(report, in_memory(TABLE, **with_policies(METRICS, ties="stable")))


def test_frames_without_rows_and_other_frames(engine, tmp_path):
    pq.write_table(TABLE.slice(0, 0), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="frame must hold at least one document; got none"):
        engine.evaluate(engine.read(tmp_path), **NAMES)
    with pytest.raises(
        TypeError, match=f"frame must be a {engine.kind} DataFrame; got pandas.*DataFrame"
    ):
        engine.evaluate(pd.DataFrame(), **NAMES)


def test_evaluate_batches_refuses_the_frame(engine, scattered):
    with pytest.raises(
        TypeError, match=rf"{engine.kind} frame.*pass it to skrank_metrics\.{engine.name}\.evaluate"
    ):
        evaluate_batches(engine.read(scattered), **NAMES)


@pytest.mark.parametrize("kind", ["int64", "string"])
def test_folds_are_the_same_on_every_engine(engine, tmp_path, kind):
    duckdb, pl = pytest.importorskip("duckdb"), pytest.importorskip("polars")
    table = make_table(SIZES[:50], kind).select(["q"])
    here = dict(
        zip(table["q"].to_pylist(), query_fold(table["q"].to_numpy(), 5).tolist(), strict=True)
    )
    folder = write(table, tmp_path / "rows", n_files=4)
    ids, folds = engine.fold(engine.read(folder), 5)
    assert dict(zip(ids, folds, strict=True)) == here
    assert len(ids) == len(table)
    frame = pl.read_parquet(folder / "*.parquet").with_columns(
        fold=pl.col("q").map_batches(
            lambda ids: pl.Series(query_fold(ids, 5)), return_dtype=pl.Int64
        )
    )
    assert dict(frame.select("q", "fold").iter_rows()) == here
    with duckdb.connect() as connection:
        rows = connection.sql(f"select q from '{folder}/*.parquet'").to_arrow_table()
    assert dict(zip(rows["q"].to_pylist(), query_fold(rows["q"], 5).tolist(), strict=True)) == here


def test_signatures_agree():
    one, other = (
        inspect.signature(module.evaluate) for module in (skrank_metrics.dask, skrank_metrics.spark)
    )
    assert one == other


def test_a_killed_worker_changes_nothing(on_dask, tmp_path):
    import dask.dataframe as dd

    killed, rows = tmp_path / "killed", TABLE.to_pandas()

    def piece_or_death(number):
        if number == 5 and not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return rows[number::8]

    before = set(on_dask.client.run(os.getpid).values())
    frame = dd.from_map(piece_or_death, range(8), meta=rows[:0])
    check(dask.evaluate(frame, **NAMES, metrics=METRICS), in_memory(TABLE))
    on_dask.client.wait_for_workers(2)
    assert len(before & set(on_dask.client.run(os.getpid).values())) == 1


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_schedulers_of_one_machine(scheduler):
    dd = pytest.importorskip("dask.dataframe", reason=MISSING)
    rows = TABLE.to_pandas().sample(frac=1, random_state=0)
    for ids in (rows["q"], rows["q"].astype(str).astype("category"), rows["q"] * 1.0):
        frame = dd.from_pandas(rows.assign(q=ids), npartitions=5)
        # With a client about, Dask would shuffle through its workers.
        with sys.modules["dask"].config.set(
            {"scheduler": scheduler, "dataframe.shuffle.method": "tasks"}
        ):
            found = dask.evaluate(frame, **NAMES, metrics=METRICS).mean
        assert found == pytest.approx(in_memory(TABLE).mean, abs=1e-12)


ROWS = [
    ("a", 1, 2.0),
    ("b", 0, 2.0),
    ("a", 0, 1.0),
    ("b", 1, 1.0),
]


def test_names_of_columns_are_taken_literally(on_spark):
    frame = on_spark.session.createDataFrame(
        ROWS, "`query.id` string, `a``b` int, `the score` double"
    )
    report = spark.evaluate(frame, label="a`b", score="the score", qid="query.id", metrics="mrr")
    assert report.mean == {"mrr": (1 + 1 / 2) / 2}


def test_rows_of_a_query_come_together_in_any_number_of_partitions(on_spark):
    few = "spark.sql.adaptive.coalescePartitions.enabled"  # joins those of few rows
    on_spark.session.conf.set(few, "false")
    try:
        rows = [(f"q{number}", label, -float(label)) for number in range(20) for label in range(5)]
        frame = on_spark.session.createDataFrame(rows, "q string, y int, s double").repartition(4)
        report = spark.evaluate(frame, label="y", score="s", qid="q", metrics="mrr")
    finally:
        on_spark.session.conf.unset(few)
    assert (report.n_queries, report.mean) == (20, {"mrr": 0.5})


def test_decimals_and_nan_are_errors(on_spark):
    frame = on_spark.session.createDataFrame(ROWS, "q string, y int, s double")
    with pytest.raises(
        TypeError, match=r"score must be a column of numbers; 's' is of type decimal128\(10, 2\)"
    ):
        spark.evaluate(
            frame.selectExpr("q", "y", "cast(s as decimal(10, 2)) s"), label="y", score="s", qid="q"
        )
    with pytest.raises(
        ValueError, match=r"column 's' must hold numbers .* got nan for query '[ab]'"
    ):
        spark.evaluate(frame.selectExpr("q", "y", "double('NaN') s"), label="y", score="s", qid="q")


def test_times_with_a_zone_are_instants(engine, tmp_path):
    # In New York, the day is the one before; wherever the engine runs, the ids are those of one machine.
    times = pd.to_datetime(["2024-01-02 04:30", "2024-01-02 05:30"]).tz_localize("UTC")
    times = times.tz_convert("America/New_York").repeat(2)
    rows = pd.DataFrame({"q": times, "y": [1, 0, 0, 1], "s": [2.0, 1.0, 2.0, 1.0]})
    pq.write_table(pa.Table.from_pandas(rows), tmp_path / "rows.parquet")
    found = engine.evaluate(engine.read(tmp_path), **NAMES, metrics="mrr", by="q")
    expected = evaluate_batches(rows, **NAMES, metrics="mrr", by="q")
    assert set(found.qid) == set(expected.qid) == set(times)
    assert found.mean == expected.mean == {"mrr": (1 + 1 / 2) / 2}
    assert set(found.slices) == set(times)
