"""Query ids and ranking metrics for rankers and boosters."""
