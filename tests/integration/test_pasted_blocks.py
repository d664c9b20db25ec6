"""Code that is pasted into a Python session, block by block, as the site's copy button copies it, is complete there.

A session needs a blank line after each compound statement, and none inside; doctest, which runs the examples, needs
neither. The first example of the README is run as well.
"""

import ast
import code
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")])
EXAMPLES = sorted((ROOT / "docs" / "gallery").glob("*.py"))
MODULES = sorted((ROOT / "skrank_metrics").rglob("*.py"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
PROMPT = re.compile(r">>> |\.\.\. ")  # that of docs/conf.py


class Session(code.InteractiveConsole):
    """A session that parses what is typed into it, and runs nothing."""

    def __init__(self):
        super().__init__()
        self.wrong = []

    def runcode(self, code):
        pass

    def showsyntaxerror(self, *args, **kwargs):
        self.wrong.append(self.buffer[-1])

    def paste(self, block):
        """Return the lines at which Python would complain; a statement may be left for Enter to finish."""
        for line in copied(block).splitlines():
            self.push(line)
        return self.wrong + [line for line in self.buffer[-1:] if self.push("")]


def copied(block):
    """What the button copies: lines with prompts, without these, and empty lines; all if none has a prompt."""
    lines = block.splitlines()
    if not any(PROMPT.match(line) for line in lines):
        return block
    return "\n".join(
        PROMPT.sub("", line, count=1) for line in lines if PROMPT.match(line) or not line.strip()
    )


def examples(docstring):
    """The blocks of a docstring that have prompts; text ends a block."""
    block = []
    for paragraph in [*docstring.split("\n\n"), ""]:
        if paragraph.startswith(">>> "):
            block.append(paragraph)
        elif block:
            yield "\n\n".join(block)
            block = []


def blocks_of(path):
    """What can be copied from a page, an example of the gallery or the docstrings of a module."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return BLOCK.findall(text)
    if path in EXAMPLES:
        return re.split(r"^# %%.*\n(?:#.*\n)*", text, flags=re.MULTILINE)
    documented = [
        n
        for n in ast.walk(ast.parse(text))
        if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef)
    ]
    return [block for node in documented for block in examples(ast.get_docstring(node) or "")]


@pytest.mark.parametrize(
    "path", [*PAGES, *EXAMPLES, *MODULES], ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_blocks_can_be_pasted(path):
    assert [wrong for block in blocks_of(path) for wrong in Session().paste(block)] == []


@pytest.mark.parametrize(
    ("block", "line"),
    [
        (">>> for i in range(2):\n...     print(i)\n>>> i\n", "i"),
        (">>> for i in range(2):\n...     print(i)\n0\n1\n\n>>> i\n", None),
        ("def f():\n    a = 1\n\n    return a\n", "    return a"),
        ("if True:\n    a = 1\n", None),
        ("f(\n    1,\n", "    1,"),
    ],
)
def test_what_a_session_refuses_is_found(block, line):
    assert line in Session().paste(block) if line else Session().paste(block) == []
