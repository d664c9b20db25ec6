"""Random rows that look like mistakes, or nearly: what health says, against loops over pairs of documents."""

import itertools

import numpy as np
import pytest

from skrank_metrics import evaluate, make_metric


def hits(labels, unranked=()):  # a custom metric, which may be slow
    return float(sum(label > 0 for label in labels[:2])) / 2


# Metrics that can say that scores are reversed, and those that count every label above 0 as relevant.
LARGER = (
    "ndcg@3",
    "mrr",
    "neg_fall_out@2",
    "kendall_tau",
    "map(average=median)",
    "cg(average=geometric)@2",
)
BINARY = ("mrr", "neg_fall_out@2", "fall_out@2", "map(average=median)")
OTHERS = (make_metric(hits), "fall_out@2", "mrr(relevance_threshold=2)")


def random_metrics(random):
    """Metrics, the first of which may not count, by their names."""
    choices = [*LARGER, *OTHERS]
    chosen = [choices[i] for i in random.permutation(len(choices))[: random.integers(1, 4)]]
    return {getattr(metric, "__name__", metric): metric for metric in chosen}


def random_case(random):
    """Labels that scores mostly turn around, with options."""
    n = int(random.choice([2, 5, 40, 80]))
    qid = random.permutation(np.repeat(np.arange(n), random.integers(1, 9, n)))
    size = len(qid)
    lowest = random.integers(0, 2)
    y = random.integers(lowest, lowest + random.integers(1, 4), size)
    sign = random.choice([-1.0, -1.0, -1.0, 1.0])
    scores = sign * y + random.choice([0.3, 0.6, 1.5]) * random.normal(size=size)
    kind = random.integers(6)
    if kind == 0:  # labels in the place of scores
        y, scores = np.abs(scores).round(random.integers(1, 6)), y
    elif kind == 1:  # and in that of the ids
        y, qid = random.choice([15, 30, 100]) * qid + random.integers(0, 3, size), y
        qid = qid.astype(random.choice(["i8", "f8", "u1"]))
    elif kind == 2:
        scores = scores.round()
    elif kind == 3:  # hardly enough pairs to say so
        size = 2 * int(random.integers(9, 18))
        qid = np.repeat(np.arange(size // 2), 2)
        y = 1 - np.arange(size) % 2
        scores = 1.0 - 2 * y
    scores = np.where(random.random(size) < random.choice([0.0, 0.0, 0.3]), -np.inf, scores)
    options = {}
    if random.random() < 0.5:
        options["retrieved"] = random.random(size) < 0.7
    if random.random() < 0.5:
        options["judged"] = random.random(size) < 0.7
        options["condense"] = bool(random.random() < 0.5)
    if random.random() < 0.3:
        options["sample_weight"] = (1.0 + qid % 3) ** 2
    return {"y_true": y, "y_score": scores, "qid": qid, **options}


class Told:
    """What is said of a case, from its documents by query, in order of the first of each."""

    def __init__(self, case, report):
        self.case, self.report = case, report
        ids = list(dict.fromkeys(case["qid"].tolist()))
        self.ids = ids
        self.places = [np.flatnonzero(case["qid"] == query) for query in ids]
        everything = np.ones(len(case["qid"]), dtype=bool)
        self.retrieved = case.get("retrieved", everything)
        self.judged = case.get("judged", everything)
        self.labels = np.where(self.judged, case["y_true"], 0.0)
        self.scores = np.where(self.retrieved, case["y_score"], 0.0)

    def are_mostly_inverted(self):
        """Whether neighbours of other labels have their scores the other way round, by three standard errors."""
        n_compared = n_inverted = 0
        for places in self.places:
            for one, other in itertools.pairwise(places):
                if self.retrieved[one] and self.retrieved[other]:
                    by_label = np.sign(self.labels[one] - self.labels[other])
                    by_score = int(self.scores[one] > self.scores[other])
                    by_score -= int(self.scores[one] < self.scores[other])
                    n_compared += by_label != 0 and by_score != 0
                    n_inverted -= by_label * by_score
        return n_inverted > 3 * (n_compared + 0.5) ** 0.5

    def reversed(self):
        names = [name for name in self.report.metrics if name in LARGER]
        if not names or not self.are_mostly_inverted():
            return []
        name = names[0]
        scores = np.where(np.isneginf(self.scores), -np.inf, -self.scores)
        changed = self.case | {"y_score": scores}
        instead = evaluate(**changed, metrics={name: self.report.metrics[name]})
        if not instead.intervals()[name][0] > self.report.intervals()[name][1]:
            return []
        return [
            f"Reversed? {name} is {self.report.mean[name]:.4f}; with the scores reversed, it would be "
            f"{instead.mean[name]:.4f} over all {len(self.ids)} queries: are these distances or ranks? Pass their "
            "negatives."
        ]

    def swapped(self):
        in_order = np.concatenate(self.places)
        first = in_order[:1000]
        n_labels = len(set(self.labels[first].tolist()))
        if n_labels <= 20:
            return []
        columns = {"scores": (self.scores[first], ", or qrels and run,")}
        if len(self.ids) <= 6:
            columns["query ids"] = (self.ids, ", as in with_qid(qid, y),")
        found = []
        for name, (column, hint) in columns.items():
            values = sorted(set(np.asarray(column).tolist()))
            are_grades = values[0] == 0 and values[-1] < 10 and all(v == v // 1 for v in values)
            if 2 <= len(values) <= 6 and are_grades:
                listed = ", ".join(f"{value:g}" for value in values)
                found.append(
                    f"Swapped? Among the first {len(first)} documents, labels have {n_labels} different values, but "
                    f"{name} only {listed}: are labels and {name}{hint} in each other's place?"
                )
        return found

    def without_grade_zero(self):
        names = [name for name in self.report.metrics if name in BINARY]
        largest = self.labels.max()
        are_grades = all(label == label // 1 for label in self.labels) and largest <= 16
        # Where some documents are unjudged, only the relevant ones may be known, as of purchases.
        are_purchases = largest <= 1 and not self.judged.all()
        is_any_irrelevant = (self.labels[self.judged] == 0).any()
        if not names or not are_grades or are_purchases or is_any_irrelevant:
            return []
        return [
            f"No grade 0: all judged documents have labels above 0, up to {largest:g}, and count as relevant in "
            f"{', '.join(names)}. If the lowest grade means not relevant, set relevance_threshold."
        ]


@pytest.mark.parametrize("seed", range(120))
def test_suspicions_are_loops_over_documents(seed):
    random = np.random.default_rng([seed, 10])
    case = random_case(random)
    # By it, scores that are barely suspicious are far apart from their negatives.
    metrics = "kendall_tau" if seed % 3 == 0 else random_metrics(random)
    report = evaluate(**case, metrics=metrics)
    told = Told(case, report)
    starts = ("Reversed?", "Swapped?", "No grade 0")
    found = [line for line in report.health.findings if line.startswith(starts)]
    assert found == [*told.swapped(), *told.reversed(), *told.without_grade_zero()]
