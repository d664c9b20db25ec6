"""Random tables: as text in blocks of columns, as HTML, as frames and on pages, each against a plain layout."""

import math

import numpy as np
import pytest
from support.shown import alignments_of, html_of

from skrank_metrics._output.result import Column, Result, Table, as_text, signed

WORDS = ["a", "ridge", "lightgbm", "z9", "model_number_7", "exactly_twenty_chars"]


def number_text(value, sign=""):
    text = f"{value:{sign}.4f}"
    return text.replace("-0.0000", "0.0000" if not sign else "+0.0000")


def end_text(value, sign):
    """An end that would round to 0 has another digit."""
    if value and abs(value) < 5e-5:
        return f"{value:{sign}.5f}"
    return number_text(value, sign)


def cut(text, width):
    """A text without its middle."""
    if len(text) <= width:
        return text
    n_last = (width - 3) * 3 // 7
    return text[: width - 3 - n_last] + "..." + text[-n_last:]


def cell_text(value, sign):
    if value is None:
        return ""
    if isinstance(value, str | int):
        return str(value)
    if isinstance(value, tuple):
        ends = [end_text(end, sign) for end in value]
        return "none" if math.isnan(value[0]) else f"[{', '.join(ends)}]"
    return number_text(value, sign)


def random_value(random, kind):
    if random.random() < 0.1:
        return None
    small = float(random.choice([2e-5, -2e-5, 0.0, 0.5, -0.25, 1234.5]))
    if kind == "interval":
        ends = (small, float(random.random() + 2000))
        return (math.nan, math.nan) if random.random() < 0.2 else ends
    values = {"name": str(random.choice(WORDS)), "count": int(random.integers(0, 5000))}
    return values.get(kind, small)


class Random:
    """A table with its heads and cells as text, column by column."""

    def __init__(self, seed):
        random = np.random.default_rng(seed)
        n_rows = int(random.integers(1, 6))
        kinds = ["name"] * (seed % 4)
        others = ["count", "number", "interval", "signed", "hidden", "name"]
        kinds += random.choice(others, random.integers(1, 14)).tolist()
        columns = []
        self.heads = []
        self.cells = []
        self.are_names = []
        self.frame = {}
        values = []
        self.meanings = {}
        for place, kind in enumerate(kinds):
            of_rows = [random_value(random, kind) for _ in range(n_rows)]
            values.append(of_rows)
            head = f"{'h' * random.integers(1, 25)}{place}"
            own_name = f"column {place}" if random.random() < 0.3 else None
            meaning = "What it means." if random.random() < 0.3 and kind != "hidden" else ""
            spell = signed if kind == "signed" else as_text
            shown = None if kind == "hidden" else head
            self.frame[own_name or shown or ""] = of_rows
            columns.append(Column(shown, spell, own_name, meaning))
            if shown is None:
                continue
            if meaning:
                self.meanings[head] = meaning
            self.heads.append(head)
            sign = "+" if kind == "signed" else ""
            self.cells.append([cell_text(value, sign) for value in of_rows])
            self.are_names.append(all(one is None or isinstance(one, str) for one in of_rows))
        self.table = Table(columns, list(zip(*values, strict=True)))

    def names(self):
        """Places of the columns that each block begins with."""
        first = []
        for place, is_name in enumerate(self.are_names):
            if not is_name or len(first) == 2:
                break
            first.append(place)
        return first or [0]

    def cut(self, place, width):
        """The texts of a column; numbers are not cut, and heads of 16 characters neither."""
        cells = self.cells[place]
        if self.are_names[place]:
            cells = [cut(cell, width) for cell in cells]
        return [cut(self.heads[place], max(width, 16)), *cells]

    def lines(self):
        """The text: as many columns beside each other as fit into 80 characters, then the others below."""
        names = self.names()
        columns = [[head, *cells] for head, cells in zip(self.heads, self.cells, strict=True)]
        widths = [max(map(len, column)) for column in columns]
        if sum(widths) + 2 * (len(widths) - 1) > 80:
            for place in names:
                columns[place] = self.cut(place, 24)
                widths[place] = max(map(len, columns[place]))
        room = 80 - sum(widths[place] + 2 for place in names)
        for place in range(len(names), len(columns)):
            columns[place] = self.cut(place, room)
            widths[place] = max(map(len, columns[place]))
        blocks = [list(names)]
        for place in range(len(names), len(self.heads)):
            block = [*blocks[-1], place]
            width = sum(widths[one] for one in block) + 2 * (len(block) - 1)
            if width > 80 and len(block) > len(names) + 1:
                blocks.append([*names, place])
            else:
                blocks[-1] = block
        lines = []
        for block in blocks:
            for row in range(len(self.cells[0]) + 1):
                texts = []
                for place in block:
                    text = columns[place][row]
                    is_name = self.are_names[place]
                    texts.append(
                        f"{text:<{widths[place]}}" if is_name else f"{text:>{widths[place]}}"
                    )
                lines.append("  ".join(texts).rstrip())
        return lines


class Shown(Result):
    def __init__(self, table):
        self.table = table

    def _sections(self):
        return ["title", self.table, "A sentence."]


@pytest.mark.parametrize("seed", range(60))
def test_random_tables_are_laid_out_plainly(seed, tmp_path):
    found = Random(seed)
    if not found.heads:
        return
    assert found.table.as_text().splitlines() == found.lines()
    assert found.table.for_frame() == found.frame
    assert found.table.meanings == found.meanings
    result = Shown(found.table)
    rows = [list(row) for row in zip(*found.cells, strict=True)]
    assert html_of(result) == ([[found.heads, *rows]], ["title", "A sentence."])
    sides = ["left" if is_name else "right" for is_name in found.are_names]
    assert alignments_of(result._repr_html_()) == [[sides] * (len(rows) + 1)]
    result.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert result._repr_html_().count("<td") == page.count("<td")
    for head, meaning in found.meanings.items():
        assert f'<p class="note">{head}: {meaning}</p>' in page
