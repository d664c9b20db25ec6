"""Pictures inside HTML pages."""

from __future__ import annotations

import io
import re
import warnings
from typing import Any

from skrank_metrics.displays import style

# Widths of the two drawings in inches, and of the page below which the narrow one is shown.
WIDE, SLIM, PHONE = 8.0, 4.6, "40rem"
# Text has the font of the page.
_STYLE = (
    "figure{margin:1.5rem 0}figure svg{width:100%;height:auto;display:block}figure svg+svg{display:none}"
    "figure text{font-family:system-ui,sans-serif!important}"
    f"@media (max-width:{PHONE}){{figure svg{{display:none}}figure svg+svg{{display:block}}}}"
)
_VARIABLES = style.variables(style.LIGHT)


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
    start = f'<figure role="img" aria-label="{type(result).__name__}">'
    return f"{start}<style>{colours}{_STYLE}</style>{''.join(drawings)}</figure>"


def _css(look: style.Theme) -> str:
    return "".join(f"{name}:{colour};" for name, colour in style.variables(look).items())


def _svg(result: Any, width: float) -> str:
    """A drawing of a result, without what a page does not need, and with variables for colours."""
    target = io.StringIO()
    with style.offscreen(width), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the page's font may have it
        figure = result.plot().figure_
        figure.suptitle("")  # the page has it as its heading
        figure.savefig(target, format="svg", transparent=True, metadata={"Date": None})
    _, start, drawing = target.getvalue().partition("<svg")
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", start + drawing, flags=re.DOTALL)
    # As wide as the page, but at most somewhat wider than drawn.
    size = f'<svg style="max-width:{100 * figure.get_figwidth():.0f}px"'
    svg = re.sub(r' (?:width|height)="[\d.]+pt"', "", svg).replace("<svg", size, 1)
    # In the tags only, as the text between them may hold anything.
    return re.sub("<[^<>]*>", _tag_of_page, svg)


def _tag_of_page(found: re.Match[str]) -> str:
    """A tag without the id that names a group of both drawings, long numbers and colours of one theme."""
    tag = re.sub('<g id="[^"]*"', "<g", found[0])
    tag = re.sub(r"(\d\.\d\d)\d+", r"\1", tag)
    for name, colour in _VARIABLES.items():
        tag = tag.replace(colour, f"var({name})")
    return tag
