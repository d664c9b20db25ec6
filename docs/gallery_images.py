"""The pictures of the gallery, each for light and for dark pages."""

import re
import warnings
from typing import Any

import matplotlib as mpl

from skrank_metrics.displays import style


def light_and_dark(block: Any, block_vars: Any, gallery_conf: Any) -> str:
    """Save the pictures of a block, and those that it draws in dark colours."""
    from sphinx_gallery.scrapers import matplotlib_scraper

    light = matplotlib_scraper(block, block_vars, gallery_conf)
    if not light:
        return ""
    _, code, _ = block
    # A figure has the colours that were set when it was drawn, so the block runs once more.
    with mpl.rc_context(style.settings(style.DARK)), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # plt.show() has no window
        exec(code, dict(block_vars["example_globals"]))
        dark = matplotlib_scraper(block, block_vars, gallery_conf, transparent=True)
    return _only(light, "light") + _only(dark, "dark")


def _only(pictures: str, mode: str) -> str:
    # The theme shows images of the class only-dark in its dark mode; image-sg has room for one class.
    plain = re.sub(r"(?m)^ *:srcset: .*\n", "", pictures.replace("image-sg::", "image::"))
    return plain.replace(":class:", f":class: only-{mode}")
