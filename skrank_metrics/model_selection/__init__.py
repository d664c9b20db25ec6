"""Scorers, out-of-fold evaluation and what follows from a search, for scikit-learn's model selection."""
