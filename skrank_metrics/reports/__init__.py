"""Reports, comparisons and explanations of ranking metrics."""
