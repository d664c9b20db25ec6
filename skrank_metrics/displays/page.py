"""Pictures inside HTML pages."""

from __future__ import annotations

import io
import re
import warnings
from typing import Any

from skrank_metrics.displays import style

# Text has the font of the page. On a phone, the picture scrolls, as it would be too small to read.
_STYLE = (
    "figure svg{width:100%;min-width:52rem;height:auto;display:block}"
    "figure text{font-family:system-ui,sans-serif!important}"
)
_VARIABLES = style.variables(style.LIGHT)


def page_picture(result: Any) -> str:
    """A ``<figure>`` with inline SVG, which follows the theme of the page.

    It loads nothing and runs no script. It is empty if the result has no display or matplotlib is not installed.
    """
    if getattr(result, "_display", None) is None:
        return ""
    try:
        drawing = _svg(result)
    except ImportError:
        return ""
    colours = f"figure{{{_css(style.LIGHT)}}}@media (prefers-color-scheme:dark){{figure{{{_css(style.DARK)}}}}}"
    start = f'<figure class="wide" tabindex="0" role="img" aria-label="{type(result).__name__}">'
    return f"{start}<style>{colours}{_STYLE}</style>{drawing}</figure>"


def _css(look: style.Theme) -> str:
    return "".join(f"{name}:{colour};" for name, colour in style.variables(look).items())


def _svg(result: Any) -> str:
    """A drawing of a result, without what a page does not need, and with variables for colours."""
    target = io.StringIO()
    with style.offscreen(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the page's font may have it
        figure = result.plot().figure_
        figure.suptitle("")  # the page has it as its heading
        figure.savefig(target, format="svg", transparent=True, metadata={"Date": None})
    _, start, drawing = target.getvalue().partition("<svg")
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", start + drawing, flags=re.DOTALL)
    # The picture is as wide as the page, but at most somewhat wider than drawn.
    size = f'<svg style="max-width:{100 * figure.get_figwidth():.0f}px"'
    svg = re.sub(r' (?:width|height)="[\d.]+pt"', "", svg).replace("<svg", size, 1)
    # Only tags are changed, since the text between them may hold anything.
    return re.sub("<[^<>]*>", _tag_of_page, svg)


def _tag_of_page(found: re.Match[str]) -> str:
    """A tag without the id of a group, long numbers and colours of one theme."""
    tag = re.sub('<g id="[^"]*"', "<g", found[0])
    tag = re.sub(r"(\d\.\d\d)\d+", r"\1", tag)
    for name, colour in _VARIABLES.items():
        tag = tag.replace(colour, f"var({name})")
    return tag
