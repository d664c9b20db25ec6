"""What Spark alone has; test_engines.py holds it and Dask to the same."""

import pytest

from skrank_metrics import spark

pytestmark = [pytest.mark.slow, pytest.mark.clusters, pytest.mark.filterwarnings("default")]

ROWS = [("a", 1, 2.0), ("b", 0, 2.0), ("a", 0, 1.0), ("b", 1, 1.0)]


def test_names_of_columns_are_taken_literally(on_spark):
    frame = on_spark.session.createDataFrame(ROWS, "`query.id` string, `a``b` int, `the score` double")
    report = spark.evaluate(frame, label="a`b", score="the score", qid="query.id", metrics="mrr")
    assert report.mean == {"mrr": (1 + 1 / 2) / 2}


def test_decimals_and_nan_are_errors(on_spark):
    frame = on_spark.session.createDataFrame(ROWS, "q string, y int, s double")
    with pytest.raises(TypeError, match=r"score must be a column of numbers; 's' is of type decimal128\(10, 2\)"):
        spark.evaluate(frame.selectExpr("q", "y", "cast(s as decimal(10, 2)) s"), label="y", score="s", qid="q")
    with pytest.raises(ValueError, match=r"column 's' contains NaN, first for query '[ab]'"):
        spark.evaluate(frame.selectExpr("q", "y", "double('NaN') s"), label="y", score="s", qid="q")
