"""Rankings given by the rank of the only relevant document of each query, whose values are simple fractions."""

import numpy as np

from skrank_metrics import evaluate
from support.policies import with_policies

N_DOCUMENTS = 6


def rows_of_ranks(ranks, ids=None):
    """Labels, scores and ids of queries of six documents with the relevant one at these ranks; 0 if there is none."""
    ranks = np.asarray(ranks)
    labels = np.zeros((len(ranks), N_DOCUMENTS))
    labels[:, 0] = ranks > 0
    # The others score 5, 4, 3, 2 and 1.
    scores = np.tile(np.arange(N_DOCUMENTS, 0.0, -1), (len(ranks), 1))
    scores[:, 0] = N_DOCUMENTS + 0.5 - ranks
    if ids is None:
        ids = np.arange(len(ranks))
    return labels.ravel(), scores.ravel(), np.repeat(ids, N_DOCUMENTS)


def report_of_ranks(ranks, ids=None, weights=None, metrics="mrr", **options):
    """Evaluate such a ranking."""
    labels, scores, qid = rows_of_ranks(ranks, ids)
    if weights is not None:
        weights = np.repeat(weights, N_DOCUMENTS)
    given = with_policies(metrics, **options)
    return evaluate(labels, scores, qid=qid, sample_weight=weights, **given)
