"""Input checked once: arrays, parameters, query ids, and rows grouped by query."""
