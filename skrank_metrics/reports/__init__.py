"""What metrics say about rankings: reports, comparisons, explanations."""
