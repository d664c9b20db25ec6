"""Random inspections of several queries and models: every cell and sentence against loops over ranks."""

import numpy as np
import pytest
from support.random_rows import random_rows
from support.said import columns_of
from support.shown import words

from skrank_metrics import compare, evaluate, get_metric
from skrank_metrics._input.query_ids import as_python
from skrank_metrics.reports.report_data import data_of

# Metrics with the least label that is relevant; labels of float32 reach a threshold that float64 would miss.
METRICS = {
    "dcg": 0.1,
    "ndcg@3": 0.1,
    "precision(relevance_threshold=0.7)@2": 0.6,
    "recall(relevance_threshold=0.7)@30": 0.6,
    "mrr": 0.1,
    "hit_rate@2": 0.1,
}


def ranked_rows(rows, scores, query, ties):
    """The ranked documents of a query, and the relevant ones, by row."""
    everything = np.ones(len(scores), dtype=bool)
    judged = rows.get("judged", everything)
    relevance = np.where(judged, rows["y_true"], 0)
    inside = np.array([one == query for one in as_python(rows["qid"])])
    is_ranked = inside & rows.get("retrieved", everything)
    if rows.get("condense"):
        is_ranked &= judged
    found = np.flatnonzero(is_ranked)
    # To both, a document that nobody judged is below those of label 0.
    by_label = np.where(judged, relevance, -1)[found]
    second = {"stable": 0 * found, "worst": by_label, "best": -by_label}[ties]
    return found[np.lexsort((second, -scores[found]))], np.flatnonzero(inside), relevance


def expected_rows(rows, scores, query, *, ties, depth, threshold):
    """What is shown of a query, without what ranks add; and the numbers around it."""
    in_order, inside, relevance = ranked_rows(rows, scores, query, ties)
    judged = rows.get("judged", np.ones(len(scores), dtype=bool))
    relevant = [row for row in inside.tolist() if relevance[row] >= threshold]
    shown = in_order[:depth].tolist()
    lines = []
    for rank, row in enumerate(shown, start=1):
        line = {
            "qid": query,
            "rank": rank,
            "row": row,
            "label": relevance[row] if judged[row] else np.nan,
            "score": scores[row],
            "tied": (scores[in_order] == scores[row]).sum() > 1,
        }
        lines.append(line | {"documents.price": rows["documents"]["price"][row]})
    unranked = [row for row in relevant if row not in in_order]
    return lines, len(in_order), len(relevant), unranked


class Case:
    """Reports of two models over random rows, some of their queries, and how many ranks to show."""

    def __init__(self, seed):
        random = np.random.default_rng([seed, 11])
        rows = random_rows(random, always=["documents"])
        rows["y_true"] = (rows["y_true"] * np.float32(0.35)).astype(np.float32)
        for option in ("sample_weight", "groups", "by"):
            rows.pop(option, None)
        self.rows = rows
        self.name = str(random.choice(list(METRICS)))
        self.ties = str(random.choice(["stable", "worst", "best"]))
        self.metric = get_metric(self.name, ties=self.ties)
        self.scores = {"a": rows["y_score"], "b": random.permutation(rows["y_score"])}
        self.reports = {}
        for model, scores in self.scores.items():
            given = rows | {"y_score": scores}
            self.reports[model] = evaluate(**given, metrics={"m": self.metric})
        self.known = as_python(self.reports["a"].qid)
        self.chosen = [self.known[i] for i in random.integers(len(self.known), size=3)]
        self.n_ranks = [None, 1, 3, 30][random.integers(4)]
        self.are_both = random.random() < 0.5

    def inspection(self):
        if self.are_both:
            return compare(self.reports).inspect(qid=self.chosen, n_ranks=self.n_ranks)
        return self.reports["a"].inspect(self.chosen, n_ranks=self.n_ranks)

    def check_query(self, one, model, query):
        """Check the numbers of a query; give its rows."""
        lines, n_ranked, n_relevant, unranked = expected_rows(
            self.rows,
            self.scores[model],
            query,
            ties=self.ties,
            depth=self.n_ranks or min(self.metric.k or 20, 20),
            threshold=METRICS[self.name],
        )
        report = self.reports[model]
        place = self.known.index(query)
        value = report.per_query["m"][place]
        is_defined = not np.isnan(data_of(report).results["m"].values[place])
        assert one.qid == query
        assert one.n_ranked == n_ranked
        assert one.n_relevant == n_relevant
        assert one.unranked == unranked
        assert one.is_defined == is_defined
        assert one.value == pytest.approx(value, nan_ok=True)
        added = one.columns["added"]
        if not is_defined:
            assert np.isnan([*added, one.rest]).all()
        elif len(added):
            assert sum(added) + one.rest == pytest.approx(value)
            assert min(*added, one.rest) >= -1e-12
            assert not np.any(added[self.metric.k :] if self.metric.k else 0)
        return [line | {"ranking": model} for line in lines]


@pytest.mark.parametrize("seed", range(24))
def test_inspections_of_several_queries(seed):
    case = Case(seed)
    found = case.inspection()
    order = [one.ranking or "a" for one in found.queries[0]]
    assert sorted(order) == ["a", "b"][: 1 + case.are_both]
    lines = []
    titles = []
    for query, of_models in zip(dict.fromkeys(case.chosen), found.queries, strict=True):
        for model, one in zip(order, of_models, strict=True):
            lines += case.check_query(one, model, query)
            titles.append(title_of(one, f", {model}" * case.are_both))
    columns = columns_of(found.to_frame())
    heads = ["qid", *["ranking"] * case.are_both, "rank", "row", "label", "score", "tied"]
    assert list(columns) == [*heads, "added", "documents.price"]
    del columns["added"]
    for head, column in columns.items():
        expected = [line[head] for line in lines]
        if head == "label":
            np.testing.assert_array_equal(np.array(column, dtype=float), expected)
        else:
            assert column == expected, head
    check_text(found, titles)


def check_text(found, titles):
    text = words(found)
    assert text.startswith(f"m of {len(found.queries)} quer")
    places = [text.index(words(title)) for title in titles]
    assert places == sorted(places)
    for one in (one for query in found.queries for one in query):
        for sentence in sentences_below(one):
            assert sentence in text
    assert text.count("Ranks below") == sum(
        abs(one.rest) >= 5e-5 for q in found.queries for one in q
    )


def counted(number, noun):
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def title_of(one, model):
    undefined = "" if one.is_defined else " (undefined)"
    ranked = counted(one.n_ranked, "ranked document")
    relevant = counted(one.n_relevant, "relevant document")
    return f"Query {one.qid}{model}: {one.value + 0:.4f}{undefined}; {ranked}, {relevant}"


def sentences_below(one):
    if abs(one.rest) >= 5e-5:
        yield f"Ranks below {len(one.columns['rank'])} add {one.rest:.4f}."
    if one.unranked:
        first = ", ".join(map(str, one.unranked[:5]))
        more = ", ..." if len(one.unranked) > 5 else ""
        yield f"{counted(len(one.unranked), 'relevant document')} not ranked: {first}{more}."
