"""Rankings given by the rank of the only relevant document of each query, whose values are simple fractions."""

import numpy as np

from skrank_metrics import evaluate
from support.policies import with_policies

N_DOCUMENTS = 6


def rows_of_ranks(ranks, ids=None):
    """Labels, scores and ids of queries of six documents with the relevant one at these ranks; 0 if there is none."""
    labels = np.zeros((len(ranks), N_DOCUMENTS))
    labels[:, 0] = np.asarray(ranks) > 0
    # The others score 5, 4, 3, 2 and 1.
    scores = np.tile(np.arange(N_DOCUMENTS, 0.0, -1), (len(ranks), 1))
    scores[:, 0] = N_DOCUMENTS + 0.5 - np.asarray(ranks)
    ids = np.arange(len(ranks)) if ids is None else np.asarray(ids)
    return labels.ravel(), scores.ravel(), np.repeat(ids, N_DOCUMENTS)


def report_of_ranks(ranks, ids=None, weights=None, metrics="mrr", **options):
    """Evaluate such a ranking."""
    labels, scores, qid = rows_of_ranks(ranks, ids)
    weights = None if weights is None else np.repeat(weights, N_DOCUMENTS)
    return evaluate(
        labels, scores, qid=qid, sample_weight=weights, **with_policies(metrics, **options)
    )
