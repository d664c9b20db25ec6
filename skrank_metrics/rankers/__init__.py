"""Rankers and boosters driven by query ids."""
