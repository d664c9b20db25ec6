"""Self-contained HTML pages, and files that are written completely or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from functools import cache, partial
from html import escape
from pathlib import Path

import numpy as np

import skrank_metrics

# Under this policy, a browser loads nothing and runs no script, whatever the page contains.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1a1a1a;--soft:#5c5c5c;--rule:#d4d4d4;--first:#0072b2;--second:#c44e00;
--missing:#949494}
@media (prefers-color-scheme:dark){
:root{--paper:#16181c;--ink:#e8e8e8;--soft:#a6a6a6;--rule:#3d4148;--first:#56b4e9;--second:#f0954a;
--missing:#71767f}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:70rem;margin:auto;padding:1rem}
h1{font-size:1.35rem;line-height:1.3;overflow-wrap:anywhere}
h2{font-size:1.1rem;overflow-wrap:anywhere}
p{margin:.5em 0;max-width:46rem;overflow-wrap:anywhere}
.wide{overflow-x:auto;margin:1rem 0}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.3em 1em .3em 0;border-bottom:1px solid var(--rule);text-align:left;vertical-align:top}
th{vertical-align:bottom}
.n{text-align:right}td.n{white-space:nowrap}
td:not(.n){max-width:24em;overflow-wrap:break-word}
td:first-child:not(.n){min-width:8em;overflow-wrap:anywhere}
figure{margin:1.5rem 0;max-width:46rem}
figcaption{font-weight:600;margin-bottom:.4em;overflow-wrap:anywhere}
.chart div{display:grid;grid-template-columns:minmax(5em,14em) 1fr max-content;gap:0 .8em}
.chart div{align-items:center;font-size:.9rem}
.chart span{overflow-wrap:anywhere}
.chart b{font-weight:400;text-align:right;font-variant-numeric:tabular-nums;width:6.5em}
.chart svg{display:block;width:100%;height:1.6em;overflow:visible}
.chart line{stroke:var(--first);stroke-width:2.5}.chart circle,.chart rect{fill:var(--first)}
.chart line.warn{stroke:var(--second)}.chart circle.warn,.chart rect.warn{fill:var(--second)}
.chart line.ref{stroke:var(--soft);stroke-width:1}
.chart text{fill:var(--soft);font-size:.75rem;text-anchor:middle}
@media (max-width:36rem){
.chart div{grid-template-columns:1fr max-content}
.chart span{grid-column:1/-1}.chart .axis span{display:none}.chart b{width:4.5em}
.short div{grid-template-columns:6em 1fr max-content}
.short span,.chart.short .axis span{display:block;grid-column:auto}}
details{margin:1rem 0;border-top:1px solid var(--rule);padding-top:.5rem}
summary{font-weight:600;cursor:pointer;overflow-wrap:anywhere}
.beside{display:flex;flex-wrap:wrap;gap:0 2rem;font-size:.9rem}
.beside>div{max-width:100%;overflow-x:auto;margin-top:.6rem}
.ranks td,.ranks th{text-align:right;padding:.15em .6em .15em 0;white-space:nowrap}
.ranks td:not(.n){min-width:0;max-width:none}
.ranks .tied td{border-bottom-color:transparent}
.ranks td.text{text-align:left;white-space:normal;overflow-wrap:anywhere;padding-bottom:.6em}
.ranks .text div{width:0;min-width:100%}
.ranks td.bar{min-width:5.6em;print-color-adjust:exact;background:linear-gradient(90deg,var(--first) var(--a),
var(--missing) var(--a) var(--i),transparent 0) 0 .35em/100% .8em no-repeat content-box}
@media (max-width:36rem){
main{padding:.5rem}.beside{font-size:.75rem}.ranks td,.ranks th{padding-right:.25em}.ranks td.bar{min-width:2em}
table{font-size:.75rem}th,td{padding-right:.5em}}
footer{margin-top:2rem;padding-top:.5rem;border-top:1px solid var(--rule);color:var(--soft);font-size:.85rem}
code{font-size:.95em;overflow-wrap:anywhere}
"""


def page(title: str, blocks: Iterable[str]) -> str:
    """Build a page from blocks of HTML, with the versions below."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body><main><h1>{escape(title)}</h1>\n"
        + "\n".join(blocks)
        + f"\n<footer><p>{escape(_versions())}</p></footer></main></body></html>\n"
    )


@cache
def _versions() -> str:
    import platform  # these take longer to load than a small report to compute
    from importlib.metadata import version

    return (
        f"skrank_metrics {skrank_metrics.__version__}, NumPy {np.__version__}, scikit-learn {version('scikit-learn')}, "
        f"Python {platform.python_version()}"
    )


def write_whole(text: str, path: str | os.PathLike[str]) -> None:
    """Write a file; if that fails, leave the old one as it was and raise an error that names it."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be a file name; got {path!r}.")
    try:
        old = os.stat(path).st_mode if os.path.exists(path) else None
        if old is None or stat.S_ISREG(old):
            _replace(Path(os.path.realpath(path)), text, old)  # a link stays a link
        else:  # a device or pipe must not be replaced
            _write(path, "w", text)
    except OSError as error:
        raise OSError(error.errno, f"path must be a writable file: {error.strerror}", str(path)) from None


def _replace(target: Path, text: str, mode: int | None) -> None:
    """Replace a file by a new one with the same mode."""
    import secrets

    new = target.with_name(f".{secrets.token_hex(8)}.new")
    try:
        # Nobody else can read the text before the mode of the old file is set.
        _write(new, "x", text, permissions=0o666 if mode is None else 0o600)
        if mode is not None:
            if not os.access(target, os.W_OK):
                raise PermissionError(13, "Permission denied")
            new.chmod(stat.S_IMODE(mode))
        new.replace(target)
    finally:
        with suppress(OSError):
            new.unlink(missing_ok=True)


def _write(path: str | os.PathLike[str], how: str, text: str, permissions: int = 0o666) -> None:
    # Ids may hold lone surrogates, which cannot be encoded in UTF-8.
    opener = partial(os.open, mode=permissions)
    with open(path, how, encoding="utf-8", errors="backslashreplace", newline="\n", opener=opener) as file:
        file.write(text)
