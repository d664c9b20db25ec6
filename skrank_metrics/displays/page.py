"""Pictures inside HTML pages."""

from __future__ import annotations

import io
import re
import warnings
from typing import Any

from skrank_metrics.displays import style

# Widths of the two drawings in inches, and of the page below which the narrow one is shown.
WIDE, SLIM, PHONE = 8.0, 4.6, "40rem"
_STYLE = (
    "figure{margin:1.5rem 0}figure svg{width:100%;height:auto;display:block}figure svg+svg{display:none}"
    f"@media (max-width:{PHONE}){{figure svg{{display:none}}figure svg+svg{{display:block}}}}"
)


def page_picture(result: Any) -> str:
    """A ``<figure>`` with inline SVG, for screens and for phones, which follows the theme of the page.

    It loads nothing and runs no script. It is empty if the result has no display or matplotlib is not installed.
    """
    if getattr(result, "_display", None) is None:
        return ""
    try:
        drawings = [_svg(result, width) for width in (WIDE, SLIM)]
    except ImportError:
        return ""
    colours = f"figure{{{_css(style.LIGHT)}}}@media (prefers-color-scheme:dark){{figure{{{_css(style.DARK)}}}}}"
    start = (
        f'<figure role="img" aria-label="{type(result).__name__}"><style>{colours}{_STYLE}</style>'
    )
    return f"{start}{''.join(drawings)}</figure>"


def _css(look: style.Theme) -> str:
    return "".join(f"{name}:{colour};" for name, colour in style.variables(look).items())


def _svg(result: Any, width: float) -> str:
    """A drawing of a result, without what a page does not need, and with variables for colours."""
    target = io.StringIO()
    # The page has the title of the picture as its heading.
    with style.offscreen(width, titled=False), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the page's font may have it
        figure = result.plot().figure_
        figure.savefig(target, format="svg", transparent=True, metadata={"Date": None})
    _, start, drawing = target.getvalue().partition("<svg")
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", start + drawing, flags=re.DOTALL)
    # As wide as the page, but at most somewhat wider than drawn.
    size = f'style="max-width:{100 * figure.get_figwidth():.0f}px" viewBox'
    svg = re.sub(r' (?:width|height)="[\d.]+pt"', "", svg).replace("viewBox", size, 1)
    used = set(re.findall(r"#([\w-]+)", svg))
    svg = _in_tags(r' id="([^"]*)"', lambda found: found[0] if found[1] in used else "", svg)
    svg = _in_tags(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", svg)
    # The font of the page.
    svg = _in_tags(
        r"font: ((?:\w+ )*)([\d.]+px) [^;\"]+", r"font: \g<1>\2 system-ui, sans-serif", svg
    )
    colours = {colour: f"var({name})" for name, colour in style.variables(style.LIGHT).items()}
    svg = _in_tags("|".join(colours), lambda colour: colours[colour[0]], svg)
    return re.sub(r"\n\s*", "\n", svg)


def _in_tags(pattern: str, replacement: Any, svg: str) -> str:
    """Replace in the tags only, as the text between them may hold anything."""
    return re.sub("<[^<>]*>", lambda tag: re.sub(pattern, replacement, tag[0]), svg)
