"""The pages of the reference, written from the registry of metrics and the public names when the site is built."""

from __future__ import annotations

import importlib
import inspect
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from generate import labels_seen
from ranking_picture import one_case

import skrank_metrics
from skrank_metrics._rooms import ROOMS, SINGLE_MODULES, modules_of_names
from skrank_metrics.metrics._record import NEGATIVE, Metric, MetricFunction, Reference
from skrank_metrics.metrics._registry import REGISTRY
from skrank_metrics.metrics.conventions import CONVENTIONS, convention_defaults

PICTURES = (Path(__file__).parent / "pictures.md").read_text(encoding="utf-8")
# How the expectation over ties is taken.
TRANSFORMS = {
    "gains": "each gain becomes the mean of its tie group",
    "hazards": "each stop probability becomes the probability of stopping there after not stopping at earlier ties",
    "products": "each product of relevance and running sum becomes its expectation within the tie group",
    "misses": "each number of non-relevant documents above within the tie group is equally likely",
    "pairs": "a pair of tied documents counts half",
    "orders": "the mean over the orders of tied labels",
}
# The folders of the package, in the order of the page.
TOPICS = {
    "decisions": "Evaluate and compare",
    "reports": "Reports",
    "conventions": "Numbers of other libraries",
    "_input": "Query ids",
    "metrics": "Names, conventions, metrics of your own",
    "splitters": "Folds of whole queries",
    "model_selection": "Model selection",
    "rankers": "Rankers",
    "sources": "Lists by id, files and streams",
}
MODULES = {
    "displays": "Pictures",
    "datasets": "Data sets",
    "trec": "TREC files",
    "dask": "Dask",
    "spark": "Spark",
}


def _places() -> dict[str, str]:
    """Map public names to the places that users import them from: the front door, or else a room."""
    places: dict[str, str] = {}
    for room in ROOMS:
        for name in modules_of_names(room):
            places.setdefault(name, f"skrank_metrics.{room}.{name}".replace("..", "."))
    return places


PLACES = _places()
METRIC_FUNCTIONS = sorted(function.__name__ for function in REGISTRY.values())
# A public name after a word that refers to it.
_BEFORE = "[Aa]s in|[Ss]ee|[Ll]ike|[Uu]se|of|from|by|to|and|or|with|than"
_NAMES = "|".join(PLACES)
REFERRED = re.compile(rf"(\b(?:{_BEFORE}) )({_NAMES})(?![\w(.`=\"])")
SYMBOLS = r"""
A query has a list of documents with relevance labels, ranked by score. Every metric computes one value per query, and
its score is the mean over queries. In the formulas,

- :math:`i` is the rank, starting at 1, and :math:`\mathrm{label}_i` the label of the document at that rank;
- :math:`k` is the cutoff, or the length of the list if there is none; ranks beyond the end of the list add nothing;
- :math:`\mathrm{rel}_i` is 1 if the document at rank :math:`i` is relevant, that is, if its label is above 0, or at
  least ``relevance_threshold``; otherwise it is 0;
- :math:`\mathrm{hits}_i` is the number of relevant documents and :math:`\mathrm{CG}_i` the sum of the gains at the
  first :math:`i` ranks;
- :math:`n` is the number of ranked documents, :math:`R` the number of relevant documents at any rank, and :math:`N`
  the number of the others;
- :math:`s_i` is the probability that the document at rank :math:`i` satisfies the reader, and :math:`p` the
  probability that a reader who is not satisfied goes on to the next rank.
"""


CONVENTIONS_ABOUT = """
``convention="lightgbm"``, in ``evaluate``, ``get_metric``, ``make_ranking_scorer`` and others, sets the defaults of
another library; :doc:`/why_does_my_ndcg_differ` explains them. The tests check each table on random queries, some with
ties, without relevant documents or with a single document: against the installed library or, for ranx, Rax and Spark,
against recorded values. TF-Ranking and TorchMetrics are checked against the examples in their documentation, which have
hardly any ties.
"""


def write(folder: Path) -> None:
    """Write all pages; those of an earlier build go."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = {
        "metrics/index": metrics_index(),
        "api/index": api_index(),
        "conventions": conventions_page(),
    }
    pages |= {
        f"metrics/{page_name(function)}": metric_page(function) for function in REGISTRY.values()
    }
    pages |= {f"api/{place}": text for place, text in api_pages().items()}
    pages |= {f"api/{topic}": topic_page(topic, *listed) for topic, listed in topics().items()}
    for place, text in pages.items():
        path = folder / f"{place}.rst"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def page_name(function: MetricFunction) -> str:
    """Name the page of a metric: ndcg, kendall_tau_distance."""
    return function.record.name.removeprefix(NEGATIVE)


def metrics_index() -> str:
    """Make the list of metrics, by family."""
    families: dict[str, list[MetricFunction]] = {}
    for function in REGISTRY.values():
        families.setdefault(function.__module__, []).append(function)
    parts = [_title("Metrics"), SYMBOLS]
    for module, functions in families.items():
        family = inspect.getdoc(importlib.import_module(module)) or ""
        rows = [
            (
                f":doc:`{page_name(function)}`",
                function.record.summary.partition(": ")[2].rstrip("."),
                function.record.bounds,
                labels_seen(function.record),
            )
            for function in functions
        ]
        parts += [_title(family.partition(":")[0].rstrip("."), "-")]
        parts += [_table(("metric", "value per query", "range", "labels"), rows, "22 46 16 16")]
    return "\n\n".join([*parts, _toctree(page_name(function) for function in REGISTRY.values())])


def metric_page(function: MetricFunction) -> str:
    """Make the page of a metric: its docstring, which ``add_facts`` completes, its example, and other libraries."""
    title = f"{function.record.summary.partition(': ')[0].rstrip('.')} ({page_name(function)})"
    parts = [_title(title), f".. autofunction:: skrank_metrics.{function.__name__}"]
    parts += [_title("One case by hand", "-"), one_case(function), elsewhere(function.record)]
    return "\n\n".join(parts) + "\n"


def elsewhere(record: Metric) -> str:
    """Say what other libraries call a metric, and what they count differently."""
    rows = []
    for name, convention in CONVENTIONS.items():
        if record.name in convention.names:
            defaults = convention_defaults(name, record.name).items()
            spelled = ", ".join(f"``{parameter}={value!r}``" for parameter, value in defaults)
            rows.append(
                (name, f"``{convention.names[record.name]}``", spelled or "those of this package")
            )
    differing = [
        convention for convention in CONVENTIONS.values() if record.name in convention.differs
    ]
    parts = [_title("In other libraries", "-")]
    if rows:
        parts += [
            "These names and defaults go with ``convention=``; see :doc:`/reference/conventions`."
        ]
        parts += [_table(("convention", "name there", "defaults there"), rows, "20 35 45")]
    elif not differing:
        parts += ["None of the libraries compared computes it."]
    remarks = [
        f"- {convention.peer}: {convention.differs[record.name]}" for convention in differing
    ]
    if remarks:
        parts += ["No parameter reproduces:", "\n".join(remarks)]
    return "\n\n".join(parts)


def conventions_page() -> str:
    """Make the page of what each library calls the metrics, and what it counts differently."""
    parts = [_title("Conventions of other libraries"), CONVENTIONS_ABOUT]
    for name, convention in CONVENTIONS.items():
        rows = []
        for metric, peer in convention.names.items():
            defaults = convention_defaults(name, metric).items()
            spelled = ", ".join(f"``{parameter}={value!r}``" for parameter, value in defaults)
            page = metric.removeprefix(NEGATIVE)
            rows.append(
                (
                    f":doc:`{metric} <metrics/{page}>`",
                    f"``{peer}``",
                    spelled or "those of this package",
                )
            )
        remarks = inspect.cleandoc(convention.not_imitated).splitlines()
        remarks += [f"- In ``{metric}``: {remark}" for metric, remark in convention.differs.items()]
        parts += [
            _title(name, "-"),
            convention.peer,
            _table(("here", "there", "defaults there"), rows, "20 35 45"),
        ]
        parts += ["No parameter reproduces:", "\n".join(remarks)] if remarks else []
    return "\n\n".join(parts) + "\n"


def link_names(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Link the names that docstrings refer to, as in "as in evaluate" and "see with_qid", before Sphinx reads them."""
    lines[:] = [REFERRED.sub(_link, line) for line in lines]


def _link(found: re.Match[str]) -> str:
    return f"{found[1]}:obj:`~{PLACES[found[2]]}`"


def full_name(name: str) -> str:
    """Complete a name, or one of its members, by the place of the name: RankingReport.inspect."""
    first, dot, member = name.partition(".")
    return PLACES.get(first, f"skrank_metrics.{first}") + dot + member


def add_facts(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Complete the docstring of a metric with what its record says, before Sphinx reads it."""
    function = REGISTRY.get(getattr(getattr(value, "record", None), "name", ""))
    if function is None or function is not value:
        return
    at = lines.index("Parameters")
    lines[at:at] = [*facts(function), ""]
    family = [
        other
        for other in REGISTRY.values()
        if other.__module__ == function.__module__ and other is not function
    ]
    lines += ["", "See Also", "--------"]
    for other in family:
        lines += [f"{other.__name__} : {other.record.summary.partition(': ')[2]}"]
    lines += [""]


def facts(function: MetricFunction) -> list[str]:
    """Make the table of what the record of a metric says."""
    record = function.record
    in_strings = f"``{record.name}{'@k' if record.has_cutoff else ''}``"
    fields = {
        "String name": in_strings
        + ("" if record.greater_is_better else ", the negative of the function"),
        "Range": f"{record.bounds}; {'larger' if record.greater_is_better else 'smaller'} is better",
        "Labels": labels_seen(record),
        "Undefined": f"for a query with {record.undefined}" if record.undefined else "never",
        "Ties, averaged": TRANSFORMS[record.transform],
    }
    if record.reference:
        fields["Source"] = f"`{_authors_and_year(record.reference)} <{record.reference.url}>`__"
    rows = list(fields.items())
    return _table(rows[0], rows[1:], "20 80", header_rows=0).splitlines()


def _authors_and_year(reference: Reference) -> str:
    """Names and year: "Author & Author 2000"."""
    authors, year = reference.text.split("). ")[0].split(" (")
    first, *others = (re.sub(r"\w\. ", "", author) for author in authors.split(", "))
    return f"{first} et al. {year}" if len(others) > 1 else f"{' & '.join([first, *others])} {year}"


def api_index() -> str:
    """Make the list of all public names, by topic."""
    parts = [
        _title("API"),
        "Names are imported from ``skrank_metrics``, or from the module that stands before them.",
    ]
    parts += [
        _title("Metrics", "-"),
        "One page each: :doc:`../metrics/index`.",
        _summaries(METRIC_FUNCTIONS),
    ]
    for topic, (title, names) in topics().items():
        parts += [_title(title, "-"), f"See also :doc:`{topic}`.", _summaries(names)]
    return "\n\n".join([*parts, _toctree(topics())])


def topics() -> dict[str, tuple[str, list[str]]]:
    """Titles and names of the topics, the groups of the sidebar: folders first, then public modules."""
    found: dict[str, tuple[str, list[str]]] = {
        topic: (title, []) for topic, title in TOPICS.items()
    }
    for name, place in PLACES.items():
        if name not in METRIC_FUNCTIONS:
            found[_topic_of(name)][1].append(place.removeprefix("skrank_metrics."))
    for _, names in found.values():
        names.sort(key=_own_name)
    for module, title in MODULES.items():
        found[module] = (title, [f"{module}.{name}" for name in public_in(module)])
    return found


def _topic_of(name: str) -> str:
    """Name the folder that defines a public name."""
    modules = next(modules for modules in map(modules_of_names, ROOMS) if name in modules)
    return modules[name].partition(".")[0]


def _own_name(name: str) -> str:
    return name.rpartition(".")[2].lower()


def topic_page(topic: str, title: str, names: list[str]) -> str:
    """Make the page of a topic, under which the sidebar lists its names."""
    about = inspect.getdoc(importlib.import_module(f"skrank_metrics.{topic}")) or ""
    places = [_api_page(name)[0] for name in names]
    return "\n\n".join(
        [
            _title(title),
            about.partition("\n\n")[0],
            _summaries(names),
            _toctree(places),
        ]
    )


def public_in(module: str) -> list[str]:
    """List the functions and classes that a public module defines."""
    space = vars(getattr(skrank_metrics, module))
    if "__all__" in space:
        return list(space["__all__"])
    here = f"skrank_metrics.{module}"
    return [
        n
        for n, value in space.items()
        if n[0] != "_" and getattr(value, "__module__", None) == here
    ]


def api_pages() -> dict[str, str]:
    """Make the pages of all names but metrics, by place. Names that differ only by case are in different folders."""
    if set(MODULES) != set(SINGLE_MODULES):
        raise ValueError(f"MODULES must name {SINGLE_MODULES}")
    return dict(_api_page(name) for _, names in topics().values() for name in names)


def _api_page(name: str) -> tuple[str, str]:
    module, _, own = f"skrank_metrics.{name}".rpartition(".")
    value = getattr(importlib.import_module(module), own)
    if inspect.isclass(value):
        parts = [_title(name), f".. autoclass:: skrank_metrics.{name}"]
        for title, directive, members in (
            ("Methods", "automethod", methods_of(value)),
            ("Properties", "autoproperty", properties_of(value)),
        ):
            described = [f".. {directive}:: skrank_metrics.{name}.{member}" for member in members]
            parts += [_title(title, "-"), *described] if members else []
        return f"classes/{name}", "\n\n".join([*parts, _in_gallery(name)])
    return (
        f"functions/{name}",
        f"{_title(name)}\n\n.. autofunction:: skrank_metrics.{name}\n\n{_in_gallery(name)}",
    )


def _in_gallery(name: str) -> str:
    """Show the examples that use a name, if there are any."""
    return f".. minigallery:: skrank_metrics.{name}\n   :add-heading: Gallery examples\n   :heading-level: -\n"


def place_in_gallery(example: str) -> int:
    """Place an example: the gallery has the order of the table in pictures.md, which links to them."""
    return PICTURES.index(f"(gallery/{Path(example).name})")


def methods_of(kind: type) -> list[str]:
    """List the public methods that the package defines, not those of scikit-learn."""
    public = [
        name
        for name in dir(kind)
        if not name.startswith("_") and callable(getattr(kind, name, None))
    ]
    return [
        name
        for name in public
        if (getattr(kind, name).__module__ or "").startswith("skrank_metrics")
    ]


def properties_of(kind: type) -> list[str]:
    """List the public properties that the package defines, not those of scikit-learn."""
    public = {
        name: inspect.getattr_static(kind, name) for name in dir(kind) if not name.startswith("_")
    }
    getters = {
        name: getattr(value, "fget", None) or getattr(value, "func", None)
        for name, value in public.items()
    }
    return [
        name
        for name, getter in getters.items()
        if getattr(getter, "__module__", "").startswith("skrank_metrics")
    ]


def hide_private(
    app: Any, what: str, name: str, value: Any, options: Any, signature: str | None, returns: Any
) -> Any:
    """Leave private parameters out of signatures."""
    return re.sub(r"(, \*)?, _\w+=\w+", "", signature or "") or signature, returns


def _title(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}"


def _indented(text: str) -> str:
    return "\n".join(f"   {line}" if line else "" for line in text.splitlines())


def _table(
    head: tuple[str, ...], rows: Iterable[tuple[str, ...]], widths: str, header_rows: int = 1
) -> str:
    lines = [".. list-table::", f"   :header-rows: {header_rows}", f"   :widths: {widths}", ""]
    for row in [head, *rows]:
        lines += [
            f"   {'-' if number else '* -'} {cell}".replace("   - ", "     - ")
            for number, cell in enumerate(row)
        ]
    return "\n".join(lines)


def _summaries(names: Iterable[str], before: str = ".. currentmodule:: skrank_metrics\n\n") -> str:
    listed = "\n".join(f"   {name}" for name in names)
    return f"{before}.. autosummary::\n   :nosignatures:\n\n{listed}"


def _toctree(places: Iterable[str]) -> str:
    return ".. toctree::\n   :hidden:\n\n" + "\n".join(f"   {place}" for place in places) + "\n"
