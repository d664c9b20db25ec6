"""Checked input: arrays, parameters, query ids, and rows grouped by query."""
