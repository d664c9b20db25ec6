"""Evaluation of data that do not fit into memory, in batches or on several machines."""
