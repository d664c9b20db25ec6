"""Pictures inside HTML pages."""

from __future__ import annotations

import hashlib
import importlib
import io
import re
from html import escape
from typing import Any

from skrank_metrics.displays import style

# Widths of the two drawings in inches, and of the page below which the narrow one is shown.
WIDE, SLIM, PHONE = 8.2, 4.6, "40rem"


def page_picture(result: Any) -> str:
    """Draw a result for an HTML page: one drawing for screens and one for phones, which follow the page's theme.

    Parameters
    ----------
    result : result of this package
        What to draw.

    Returns
    -------
    html : str
        A ``<figure>`` with inline SVG, which loads nothing and runs no script; empty if the result has no display or
        matplotlib is not installed.
    """
    module, _, name = (getattr(result, "_display", None) or "").rpartition(".")
    if not module:
        return ""
    display = getattr(importlib.import_module(f"skrank_metrics.displays.{module}"), name)
    try:
        drawings = [_svg(display, result, width) for width in (WIDE, SLIM)]
    except ImportError:
        return ""
    key = "p" + hashlib.sha256("".join(drawings).encode()).hexdigest()[:8]
    wide, slim = (
        # Ids are those of clipping paths and marks.
        re.sub(r'(id="|#)(?=\w)', rf"\g<1>{key}{number}-", drawing.replace("<svg", f'<svg class="{kind}"', 1))
        for number, (kind, drawing) in enumerate(zip(("wide", "slim"), drawings, strict=True))
    )
    _, light, dark = style.as_variables("")
    css = (
        f"#{key}{{{light};margin:1.5rem 0}}#{key} svg{{width:100%;height:auto;display:block;overflow:visible}}"
        f"#{key} .wide{{max-width:{WIDE * 96:.0f}px}}#{key} .slim{{display:none;max-width:{SLIM * 96:.0f}px}}"
        f"@media (max-width:{PHONE}){{#{key} .wide{{display:none}}#{key} .slim{{display:block}}}}"
        f"@media (prefers-color-scheme:dark){{#{key}{{{dark}}}}}"
    )
    label = escape(f"Picture: {display.__name__.removesuffix('Display')}", quote=True)
    return f'<figure id="{key}" role="img" aria-label="{label}"><style>{css}</style>{wide}{slim}</figure>'


def _svg(display: Any, result: Any, width: float) -> str:
    """A drawing of a result, without what a page does not need, and with variables for colours."""
    target = io.StringIO()
    with style.for_page(width):
        figure = display.from_result(result).figure_
        figure.savefig(target, format="svg", transparent=True, metadata={"Date": None})
    svg = target.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    used = set(re.findall(r"#([\w-]+)", svg))
    svg = re.sub(r' id="([\w.-]+)"', lambda found: found[0] if found[1] in used else "", svg)
    # The page's own font.
    svg = re.sub(r"font: ((?:\w+ )*)([\d.]+px) [^;\"]+", r"font: \g<1>\2 system-ui, sans-serif", svg)
    svg = re.sub(r"\n\s*", "\n", svg)
    return style.as_variables(svg)[0]
