"""The one way out: every result as text, HTML and a frame."""
