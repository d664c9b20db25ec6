"""Numbers that others have published for small inputs, and trec_eval's own on its test run."""

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from support.paths import DATA

from skrank_metrics import evaluate, get_metric

VECTORS = json.loads((Path(__file__).parents[1] / "golden" / "vectors.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", VECTORS, ids=lambda row: f"{row['source'].split('/')[1].split()[0]}-{row['metric']}")
def test_unit_tests_of_others(row):
    metric = get_metric(row["metric"], convention=row["convention"])
    value = metric(row["y_true"], row["y_score"], qid=row["qid"])
    assert value == pytest.approx(row["expected"], abs=row["tolerance"])


def test_every_vector_is_transcribed():
    if not (DATA / "vectors.json").is_file():
        pytest.skip(f"the vectors are not in {DATA}; SKRANK_TEST_DATA can say where they are")
    rows = json.loads((DATA / "vectors.json").read_text(encoding="utf-8"))
    assert [(row["y"], row["s"], row["expected"], row["source"]) for row in rows] == [
        (row["y_true"], row["y_score"], row["expected"], row["source"]) for row in VECTORS
    ]


NAMES = {"map": "map", "Rprec": "r_precision", "recip_rank": "mrr", "ndcg": "ndcg"}
for measure, ours in {"P": "precision", "recall": "recall", "ndcg_cut": "ndcg", "map_cut": "map"}.items():
    NAMES |= {f"{measure}_{k}": f"{ours}@{k}" for k in (5, 10, 15, 20, 30, 100, 200, 500, 1000)}
NAMES |= {f"success_{k}": f"hit_rate@{k}" for k in (1, 5, 10)}


@pytest.fixture(scope="module")
def trec():
    """Rows (topic, label, score, retrieved, judged) in trec_eval's order, and its figures by topic and measure."""
    folder = DATA / "trec_eval"
    if not folder.is_dir():
        pytest.skip(f"trec_eval's test run is not in {folder}; SKRANK_TEST_DATA can say where it is")
    judged = {}
    for line in (folder / "qrels.test").read_text().splitlines():
        topic, _, document, label = line.split()
        judged[topic, document] = max(int(label), 0)
    found = {}
    for line in (folder / "results.test").read_text().splitlines():
        topic, _, document, _, score, _ = line.split()
        found[topic, document] = float(score)
    topics = {topic for topic, _ in found}
    rows = [
        (topic, document, judged.get(key, 0), found.get(key, np.nan), key in found, key in judged)
        for key in found.keys() | judged.keys()
        for topic, document in [key]
        if topic in topics
    ]
    rows.sort(key=lambda row: row[1], reverse=True)  # documents of equal scores by id, descending
    figures = defaultdict(dict)
    for line in (folder / "out.test.aq").read_text().splitlines():
        measure, topic, value = line.split()
        figures[topic][measure] = value
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return columns, figures


@pytest.mark.parametrize("names_unjudged", [False, True])
def test_trec_eval_topic_by_topic(names_unjudged, trec):
    (topics, _, labels, scores, retrieved, judged), figures = trec
    names, masks = NAMES, {"retrieved": retrieved}
    if names_unjudged:  # bpref leaves out what nobody judged
        names, masks = NAMES | {"bpref": "bpref"}, masks | {"judged": judged}
        labels = np.where(judged, labels, np.nan)
    report = evaluate(labels, scores, qid=topics, metrics=[*names.values()], convention="trec_eval", **masks)
    assert sorted(report.qid) == ["301", "302", "303"]
    for measure, name in names.items():
        for topic, value in zip(report.qid, report.per_query[name], strict=True):
            assert f"{value:.4f}" == figures[topic][measure], (topic, measure)
        assert f"{report.mean[name]:.4f}" == figures["all"][measure], measure
