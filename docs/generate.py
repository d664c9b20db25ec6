"""Write what follows from the code: lists and tables of the documentation, and stubs for editors and checkers.

python docs/generate.py           # write
python docs/generate.py --check   # only tell what is out of date
"""

from __future__ import annotations

import argparse
import functools
import inspect
import re
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path

from skrank_metrics._input.columns import USUAL
from skrank_metrics._rooms import NAMESPACES, ROOMS, modules_of_names
from skrank_metrics.metrics._record import Metric, MetricFunction
from skrank_metrics.metrics._registry import REGISTRY
from skrank_metrics.sources.tables import BINARY, DELIMITERS, PACKED
from skrank_metrics.sources.trec_lines import FORMS

ROOT = Path(__file__).parents[1]


def metrics_list() -> str:
    """All metrics by name, with their functions."""
    names = [
        f"`{name}{'@k' * function.record.has_cutoff}` (`{function.__name__}`)"
        for name, function in sorted(REGISTRY.items())
    ]
    return "\n".join(textwrap.wrap(f"{', '.join(names)}.", 130, break_on_hyphens=False))


def formats_table() -> str:
    """The files that are read, and how they are recognized."""
    rows = [
        (form.capitalize(), f"begins with `{repr(start)[2:-1]}`") for start, form in BINARY.items()
    ]
    delimiters = {"tsv": "a tab", "csv": "a comma", "csv with semicolons": "a semicolon"}
    rows += [
        (name.replace("csv", "CSV").replace("tsv", "TSV"), f"a header with {delimiters[name]}")
        for name in DELIMITERS
    ]
    for form in FORMS.values():
        rows.append((form.name, f"lines of {len(form.fields)} fields: {', '.join(form.fields)}"))
    rows.append(("a dict in JSON", "begins with `{`"))
    rows.append((f"any text, packed by {', '.join(PACKED.values())}", "by their first bytes"))
    lines = [f"| {name} | {recognized} |" for name, recognized in rows]
    return "\n".join(["| file | recognized by |", "|---|---|", *lines])


def names_table() -> str:
    """What a column holds by its usual name."""
    lines = [f"| {role} | {', '.join(names)} |" for role, names in USUAL.items()]
    lines[2] = f"{lines[2][:-2]}, else weight |"
    return "\n".join(["| column | usual names |", "|---|---|", *lines])


def labels_seen(record: Metric) -> str:
    """What a metric sees of labels."""
    if record.unjudged == "counted":
        return "judged or not"
    return "graded" if record.graded else "binary"


STUB_HEAD = '''"""Signatures of the metric functions. Written by docs/generate.py; do not edit."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

{imports}

_FloatArray: TypeAlias = NDArray[np.float64]
_Ids: TypeAlias = ArrayLike | Sequence[Hashable]
_Ties: TypeAlias = Literal["average", "best", "worst", "stable"]
_Gain: TypeAlias = (
    Literal["linear", "exp2", "binary"]
    | Callable[[_FloatArray], ArrayLike]
    | Sequence[float]
    | Mapping[Any, float]
    | NDArray[Any]
)
_Discount: TypeAlias = (
    Literal["log2", "reciprocal", "jarvelin"] | Callable[[_FloatArray], ArrayLike]
)
_Ideal: TypeAlias = Literal["judged", "shown", "all", "retrieved", "top"] | float
'''
SHARED_TYPES = {
    "y_true": "ArrayLike",
    "y_score": "ArrayLike",
    "qid": "_Ids | None",
    "k": "int | np.integer[Any] | None",
    "ties": "_Ties",
    "min_documents": "int | np.integer[Any]",
    "replace_undefined_by": "float",
    "sample_weight": "ArrayLike | None",
    "retrieved": "ArrayLike | None",
    "judged": "ArrayLike | None",
}


def metrics_stub() -> str:
    """Signatures of all metric functions, with an overload for each type that ``average`` makes of the result."""
    functions = sorted(REGISTRY.values(), key=lambda function: function.__name__)
    modules = modules_of_names("metrics")
    others = {name: module for name, module in modules.items() if module != "metrics"}
    imports = "\n".join(_imports(others))
    head = f"{STUB_HEAD.format(imports=imports)}\n{_list_of(sorted(modules))}\n"
    return head + "".join(_overloads(function) for function in functions)


def _overloads(function: MetricFunction) -> str:
    words = [
        "macro",
        *["micro"] * bool(function.record.pooled),
        "median",
        *["geometric"] * (function.record.lower >= 0),
    ]
    average = "Literal[" + ", ".join(f'"{word}"' for word in words) + "]"
    # Editors show the docstring of a stub: that of the run time is beyond them, as a decorator makes it.
    text = textwrap.indent(
        f'r"""{inspect.getdoc(function)}\n"""', "    ", lambda line: line != "\n"
    )
    one = _signature(function, f'average: {average} = "macro"', "float")
    each = _signature(function, "average: None", "_FloatArray")
    return f"{one}:\n{text}\n\n{each}: ...\n"


def _signature(function: MetricFunction, average: str, returned: str) -> str:
    record, lines = function.record, []
    for name, parameter in inspect.signature(function).parameters.items():
        kind = record.options[name].annotation if name in record.options else SHARED_TYPES.get(name)
        if name == "average":
            lines.append(average)
        elif parameter.default is parameter.empty:
            lines.append(f"{name}: {kind}")
        else:
            default = (
                f'"{parameter.default}"'
                if isinstance(parameter.default, str)
                else repr(parameter.default)
            )
            lines.append(f"{name}: {kind} = {default}")
    parameters = "".join(f"    {line},\n" for line in [*lines[:2], "*", *lines[2:]])
    return f"@overload\ndef {function.__name__}(\n{parameters}) -> {returned}"


def room_stub(room: str) -> str:
    """All public names of a room, or of the front door, with the modules that they come from."""
    about = "The public names." if room else "The front door: its names, and the rooms."
    lines = [f'"""{about} Written by docs/generate.py; do not edit."""\n']
    if not room:
        lines += [f"from skrank_metrics import {name} as {name}" for name in NAMESPACES]
    modules = modules_of_names(room)
    lines += _imports(modules)
    if not room:
        lines += ["", "__version__: str"]
    return "\n".join([*lines, "", _list_of(sorted(modules))])


def _imports(modules: dict[str, str]) -> list[str]:
    """Imports that re-export each name, as type checkers and editors ask for."""
    named = sorted((module, name) for name, module in modules.items())
    return [f"from skrank_metrics.{module} import {name} as {name}" for module, name in named]


def _list_of(names: Iterable[str]) -> str:
    return "__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]\n"


def with_number(readme: str) -> str:
    """The README with the number of metrics that it does not name."""
    return re.sub(r"\d+ other metrics", f"{len(REGISTRY) - 3} other metrics", readme)


LISTS = [
    ("docs/which_metric.md", "metrics", metrics_list),
    ("docs/files.md", "formats", formats_table),
    ("docs/files.md", "names", names_table),
]
STUBS = {
    f"skrank_metrics/{room}/__init__.pyi".replace("//", "/"): functools.partial(room_stub, room)
    for room in ROOMS
}
STUBS["skrank_metrics/metrics/__init__.pyi"] = metrics_stub


def generated() -> dict[Path, str]:
    """The files as they should be."""
    files = {ROOT / name: make() for name, make in STUBS.items()}
    for name, part, make in LISTS:
        text = files.get(ROOT / name) or (ROOT / name).read_text(encoding="utf-8")
        before, begin, rest = text.partition(f"<!-- {part} -->\n")
        _, end, after = rest.partition(f"\n<!-- /{part} -->")
        if not end:
            raise ValueError(
                f"{name} must have lines <!-- {part} --> and <!-- /{part} --> with a line between them"
            )
        files[ROOT / name] = before + begin + make() + end + after
    readme = ROOT / "README.md"
    files[readme] = with_number(files.get(readme) or readme.read_text(encoding="utf-8"))
    return files


def main() -> int:
    """Write the files that are out of date, or name them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing, and fail if a file is out of date"
    )
    check = parser.parse_args().check
    stale = {
        path: text
        for path, text in generated().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }
    for path, text in stale.items():
        if not check:
            path.write_text(text, encoding="utf-8")
        print(f"{path.relative_to(ROOT)} {'is out of date' if check else 'written'}")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
