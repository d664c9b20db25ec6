"""What a result shows: the tables and lines of its HTML, and its text without the layout."""

import re
from html.parser import HTMLParser

import pandas as pd


class _Parser(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.tables = []
        self.lines = []
        self.alignments = []
        self._in_cell = False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        if tag == "table":
            self.tables.append([])
            self.alignments.append([])
        elif tag == "tr":
            self.tables[-1].append([])
            self.alignments[-1].append([])
        elif tag in ("td", "th"):
            self._in_cell = True
            self.tables[-1][-1].append("")
            self.alignments[-1][-1].append(
                re.search(r"text-align:(\w+)", dict(attrs)["style"]).group(1)
            )

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self._in_cell = False

    def handle_data(self, data):
        if self._in_cell:
            self.tables[-1][-1][-1] += data
        else:
            self.lines.append(data)


def html_of(result):
    """Tables, each a list of rows of texts with the heads first, and the lines around them."""
    parser = _Parser(result._repr_html_())
    return parser.tables, parser.lines


def alignments_of(html):
    """Alignment of every cell of every table."""
    return _Parser(html).alignments


def words(text):
    """Text without its layout."""
    return " ".join(str(text).split())


def assert_shown(result, tables, lines):
    """Check that text and HTML show these tables, each with its heads first, and these lines, in this order."""
    assert html_of(result) == (tables, lines)
    text = words(result)
    place = 0
    for line in lines:
        # Text puts the lines around tables in the same order.
        place = text.index(words(line), place) + len(words(line))
    for _, *rows in tables:
        place = 0
        for row in rows:
            # Cells stand side by side, or below the name of their row.
            cells = words(" ".join(row))
            place = text.index(cells, place) + len(cells)


def check_frame(frame, expected):
    """Check a frame of either library: columns in this order, with these values; None is NaN or null."""
    frame = frame.reset_index() if isinstance(frame, pd.DataFrame) and frame.index.name else frame
    assert list(frame.columns) == list(expected)
    for name, values in expected.items():
        for found, value in zip(frame[name].to_list(), values, strict=True):
            if value is None or value != value:
                assert found is None or found != found, name
            else:
                assert found == value, name


class Seen(HTMLParser):
    """Tags, attributes and text of a page; void elements are not closed."""

    def __init__(self, html):
        super().__init__()
        self.tags = []
        self.attributes = []
        self.text = ""
        self.open = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "line", "circle", "rect"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data
