"""One ranking, evaluated by one or several metrics."""
