"""Scorers for scikit-learn's model selection, out-of-fold evaluation, and reports of searches."""
