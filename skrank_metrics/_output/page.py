"""HTML: tables, and self-contained pages in files that are written completely or not at all."""

from __future__ import annotations

import datetime
import errno
import os
import secrets
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from html import escape

import numpy as np

import skrank_metrics

# Under this policy, a browser loads nothing and runs no script, whatever the page contains.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
# The backgrounds of .wide are shadows at the sides to which a table scrolls, covered once nothing more follows.
_STYLE = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1a1a1a;--soft:#5c5c5c;--rule:#d4d4d4;--shade:#00000040}
@media (prefers-color-scheme:dark){
:root{--paper:#16181c;--ink:#e8e8e8;--soft:#a6a6a6;--rule:#3d4148;--shade:#ffffff40}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:70rem;margin:auto;padding:1rem}
h1{font-size:1.35rem;line-height:1.3;overflow-wrap:anywhere}
h2{font-size:1.1rem;overflow-wrap:anywhere}
p{margin:.5em 0;max-width:46rem;overflow-wrap:anywhere}
.note{color:var(--soft)}
.wide{overflow-x:auto;margin:1rem 0;background:
linear-gradient(90deg,var(--paper) 40%,transparent) 0 0/2.5rem 100% no-repeat local,
linear-gradient(270deg,var(--paper) 40%,transparent) 100% 0/2.5rem 100% no-repeat local,
linear-gradient(90deg,var(--shade),transparent) 0 0/.9rem 100% no-repeat scroll,
linear-gradient(270deg,var(--shade),transparent) 100% 0/.9rem 100% no-repeat scroll}
table{font-size:.9rem!important}
svg{max-width:100%;height:auto}
@media (max-width:36rem){main{padding:.5rem}table{font-size:.75rem!important}}
footer{margin-top:2rem;padding-top:.5rem;border-top:1px solid var(--rule);color:var(--soft);font-size:.85rem}
"""
# The table sets no colours, so that it inherits the notebook's light or dark theme.
_TABLE = "border-collapse:collapse;border:0;background:transparent;color:inherit;font:inherit;margin:.4em 0;width:auto"
_RULE = (
    "border:0;border-bottom:1px solid;border-color:color-mix(in srgb,currentColor 35%,transparent)"
)
_CELL = "padding:.2em .8em .2em 0;background:transparent;color:inherit"
# Numbers are not broken; names are.
_ALIGN = (
    "text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap",
    "text-align:left;max-width:24em;overflow-wrap:break-word",
)
# Heads may take several lines.
_OF_TAG = {
    "th": "font-weight:600;vertical-align:bottom;white-space:normal",
    "td": "vertical-align:top",
}


def html_table(columns: Sequence[Sequence[str]], are_names: Sequence[bool]) -> str:
    """A table of columns, each a head and its cells, with inline styles, since notebooks drop style sheets."""
    align = [_ALIGN[is_name] for is_name in are_names]
    head, *rows = zip(*columns, strict=True)
    body = "".join(_html_row("td", row, align) for row in rows)
    return f'<table style="{_TABLE}"><thead>{_html_row("th", head, align)}</thead><tbody>{body}</tbody></table>'


def _html_row(tag: str, cells: Iterable[str], align: Iterable[str]) -> str:
    row = ""
    for own, text in zip(align, cells, strict=True):
        style = ";".join((_CELL, _RULE, own, _OF_TAG[tag]))
        row += f'<{tag} style="{style}">{escape(text)}</{tag}>'
    return f"<tr>{row}</tr>"


def page(title: str, blocks: Iterable[str]) -> str:
    """Build a page from blocks of HTML, with the date and the versions below."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body><main><h1>{escape(title)}</h1>\n"
        + "\n".join(blocks)
        + f"\n<footer><p>{datetime.date.today():%d %B %Y}. {escape(_versions())}</p></footer></main></body></html>\n"
    )


def _versions() -> str:
    import platform  # these take longer to load than a small report to compute
    from importlib.metadata import version

    return (
        f"skrank_metrics {skrank_metrics.__version__}, NumPy {np.__version__}, scikit-learn {version('scikit-learn')}, "
        f"Python {platform.python_version()}"
    )


def write_whole(text: str, path: str | os.PathLike[str]) -> None:
    """Write a file; if that fails, leave the old one as it was and raise an error that names it."""
    # Ids may hold lone surrogates, which cannot be encoded in UTF-8.
    data = text.encode("utf-8", "backslashreplace")
    is_special = os.path.exists(path) and not os.path.isfile(path)
    try:
        if is_special:  # a device or a pipe must not be replaced; a pipe may have no other path
            with open(path, "wb") as file:
                file.write(data)
        else:
            target = os.path.realpath(path)  # a link stays a link
            _replace(target, data, exists=os.path.exists(target))
    except OSError as error:
        raise OSError(
            error.errno, f"path must be a writable file: {error.strerror}", str(path)
        ) from None


def _replace(target: str, data: bytes, *, exists: bool) -> None:
    """Replace a file by a new one with the same permissions, which nobody else can read before it has them."""
    if exists and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "Permission denied")
    mode = 0o600 if exists else 0o666  # of which the umask removes what the user wants
    # The new file is in the same folder, since no file can be moved to another disk in one step.
    new = os.path.join(os.path.dirname(target), f".{secrets.token_hex(8)}.new")
    try:
        with open(new, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(data)
        if exists:
            shutil.copymode(target, new)
        os.replace(new, target)
    # This covers interruptions by the user, too, since nothing else would remove the unfinished file.
    except BaseException:
        with suppress(OSError):
            os.unlink(new)
        raise
