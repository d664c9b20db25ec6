import inspect

from skrank_metrics._output.docstrings import SHARED, entry, parameters, section


class Display:
    def plot(self, ax, *, name="a", k=(1, 2), qid=None):
        pass

    @classmethod
    def of(cls, ax=None):
        pass


TEXTS = {"ax": ("Axes", "Axes to draw into."), "name": ("str", "Name."), "k": ("tuple of int", "Cutoffs.")}


def test_parameters_in_the_order_of_the_signature_with_their_defaults():
    assert parameters(inspect.signature(Display.plot), SHARED | TEXTS).split("\n")[:8] == [
        "Parameters",
        "----------",
        "ax : Axes",
        "    Axes to draw into.",
        'name : str, default="a"',
        "    Name.",
        "k : tuple of int, default=(1, 2)",
        "    Cutoffs.",
    ]
    assert parameters(inspect.signature(Display.__dict__["of"].__func__), TEXTS).split("\n")[2:] == [
        "ax : Axes, default=None",
        "    Axes to draw into.",
    ]


def test_shared_texts_are_wrapped_to_the_width_of_the_docstrings():
    head, *lines = entry("qid : array-like", SHARED["qid"][1]).split("\n")
    assert head == "qid : array-like"
    assert len(lines) == 2
    assert all(line.startswith("    ") and line[4] != " " and len(line) <= 110 for line in lines)
    assert " ".join(line.strip() for line in lines) == SHARED["qid"][1]
    assert len(lines[0]) + len(lines[1].split()[0]) + 1 > 110, "no line is shorter than it has to be"


def test_sections_have_underlined_titles():
    assert section("Raises", "ValueError", "    If so.") == "Raises\n------\nValueError\n    If so."
