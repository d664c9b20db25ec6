"""Numbers that others have published for small inputs, and trec_eval's own on its test run."""

import json
from pathlib import Path

import pandas as pd
import pytest
from support.paths import DATA

from skrank_metrics import evaluate, get_metric

VECTORS = json.loads(
    (Path(__file__).parents[1] / "golden" / "vectors.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize(
    "row", VECTORS, ids=lambda row: f"{row['source'].split('/')[1].split()[0]}-{row['metric']}"
)
def test_unit_tests_of_others(row):
    metric = get_metric(row["metric"], convention=row["convention"])
    value = metric(row["y_true"], row["y_score"], qid=row["qid"])
    assert value == pytest.approx(row["expected"], abs=row["tolerance"])


@pytest.mark.skipif(
    not (DATA / "vectors.json").is_file(), reason="SKRANK_TEST_DATA can say where the vectors are"
)
def test_every_vector_is_transcribed():
    rows = json.loads((DATA / "vectors.json").read_text(encoding="utf-8"))
    ours = [[row[name] for name in ("y_true", "y_score", "expected", "source")] for row in VECTORS]
    assert [[row[name] for name in ("y", "s", "expected", "source")] for row in rows] == ours


NAMES = {"map": "map", "Rprec": "r_precision", "recip_rank": "mrr", "ndcg": "ndcg"}
for measure, ours in {
    "P": "precision",
    "recall": "recall",
    "ndcg_cut": "ndcg",
    "map_cut": "map",
}.items():
    NAMES |= {f"{measure}_{k}": f"{ours}@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)}
NAMES |= {f"success_{k}": f"hit_rate@{k}" for k in (1, 5, 10)}


@pytest.fixture(scope="module")
def trec():
    """Rows in trec_eval's order, NaN for what was not judged or not retrieved, and its figures by topic and measure."""
    folder = DATA / "trec_eval"
    if not folder.is_dir():
        pytest.skip(
            f"trec_eval's test run is not in {folder}; SKRANK_TEST_DATA can say where it is"
        )
    options = {"sep": r"\s+", "dtype": {"topic": str}}
    qrels = pd.read_csv(
        folder / "qrels.test", names=["topic", "zero", "document", "label"], **options
    )
    run = pd.read_csv(
        folder / "results.test",
        names=["topic", "q0", "document", "rank", "score", "tag"],
        **options,
    )
    rows = run.merge(qrels[qrels["topic"].isin(run["topic"])], "outer", ["topic", "document"])
    # Documents of equal scores are ordered by id, descending.
    rows = rows.sort_values("document", ascending=False, kind="stable")
    figures = pd.read_csv(
        folder / "out.test.aq", sep=r"\s+", names=["measure", "topic", "value"], dtype=str
    )
    return rows, figures.set_index(["topic", "measure"])["value"]


@pytest.mark.parametrize("names_unjudged", [False, True])
def test_trec_eval_topic_by_topic(names_unjudged, trec):
    rows, figures = trec
    names, masks, labels = NAMES, {"retrieved": rows["score"].notna()}, rows["label"].clip(lower=0)
    if names_unjudged:  # bpref leaves out what nobody judged
        names, masks = NAMES | {"bpref": "bpref"}, masks | {"judged": labels.notna()}
    else:
        labels = labels.fillna(0)
    given = {"qid": rows["topic"], "metrics": [*names.values()], "convention": "trec_eval", **masks}
    report = evaluate(labels, rows["score"], **given)
    assert sorted(report.qid) == ["301", "302", "303"]
    for measure, name in names.items():
        for topic, value in zip(report.qid, report.per_query[name], strict=True):
            assert f"{value:.4f}" == figures[topic, measure], (topic, measure)
        assert f"{report.mean[name]:.4f}" == figures["all", measure], measure
