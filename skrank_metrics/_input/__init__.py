"""Input checked once: arrays, query ids, and rows grouped by them."""
