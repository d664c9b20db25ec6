"""Output of all results as text, HTML and frames."""
