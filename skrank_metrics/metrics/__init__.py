"""The metrics, a module a family."""
