"""Print what the changelog says of a version: python docs/release_notes.py 0.1.0."""

from __future__ import annotations

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).resolve().parents[1] / "CHANGELOG.md"


def notes_of(version: str, changelog: str) -> str:
    """Return the part of a changelog about a version, without its heading."""
    heading = re.compile(rf"^## \[?{re.escape(version)}\]?.*$", re.MULTILINE)
    found = heading.search(changelog)
    if found is None:
        raise ValueError(f"CHANGELOG.md has no heading for version {version!r}.")
    rest = changelog[found.end() :]
    following = re.search(r"^## ", rest, re.MULTILINE)
    return rest[: following.start() if following else None].strip()


if __name__ == "__main__":
    print(notes_of(sys.argv[1], CHANGELOG.read_text(encoding="utf-8")))
