"""Several rankings of the same queries, compared: which is best, and which may replace another."""
