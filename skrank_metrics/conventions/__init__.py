"""Why another library reports a different number, and which convention gives it."""
