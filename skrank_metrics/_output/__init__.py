"""What all results share: text, frames, HTML pages and files."""
