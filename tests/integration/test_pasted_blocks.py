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
    return "\n".join(PROMPT.sub("", line, count=1) for line in lines if PROMPT.match(line) or not line.strip())


def examples(docstring):
    """The blocks of a docstring that have prompts; text ends a block."""
    block = []
    for paragraph in [*docstring.split("\n\n"), ""]:
        if paragraph.startswith(">>> "):
            block.append(paragraph)
        elif block:
            yield "\n\n".join(block)
            block = []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_of_a_page_can_be_pasted(page):
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    assert [Session().paste(block) for block in blocks] == [[]] * len(blocks)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_blocks_of_the_gallery_can_be_pasted(example):
    blocks = re.split(r"^# %%.*\n(?:#.*\n)*", example.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert [Session().paste(block) for block in blocks] == [[]] * len(blocks)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.relative_to(ROOT).as_posix())
def test_examples_of_docstrings_can_be_pasted(module):
    nodes = ast.walk(ast.parse(module.read_text(encoding="utf-8")))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = [ast.get_docstring(node) or "" for node in nodes if isinstance(node, documented)]
    blocks = [block for docstring in docstrings for block in examples(docstring)]
    assert [Session().paste(block) for block in blocks] == [[]] * len(blocks)


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
