"""Cross-validation that keeps the documents of a query together."""
