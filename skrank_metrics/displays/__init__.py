"""Pictures of rankings, after the convention of scikit-learn's displays."""
