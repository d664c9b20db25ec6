"""From documents and scores to one value per query: order, ties, cutoff and gains, each in one place."""
