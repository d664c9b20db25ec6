"""What users can import is complete, documented and described in the README."""

import ast
import importlib
import inspect
import pickle
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from numpydoc.validate import validate

import skrank_metrics
from skrank_metrics._rooms import NAMESPACES, ROOMS, modules_of_names
from skrank_metrics.metrics._registry import REGISTRY

ROOT = Path(__file__).parents[1]
# Sections that have nothing to say everywhere, and spellings of types that numpydoc has no name for.
NOT_ASKED = {
    "SA01",
    "ES01",
    "EX01",
    "GL01",
    "GL02",
    "GL03",
    "SS05",
    "SS06",
    "PR06",
    "RT02",
    "RT03",
    "YD01",
}


def run(code):
    """Print from a fresh interpreter, in which nothing is loaded."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


# All public names, by the place that users import them from first: the front door, or a room.
PLACES = {}
for room_name in ROOMS:
    for public_name in modules_of_names(room_name):
        PLACES.setdefault(public_name, f"skrank_metrics.{room_name}".rstrip("."))
PUBLIC = {name: getattr(importlib.import_module(place), name) for name, place in PLACES.items()}
rooms = pytest.mark.parametrize("room", list(ROOMS), ids=lambda room: room or "front door")


def module_of(room):
    return importlib.import_module(f"skrank_metrics.{room}".rstrip("."))


@rooms
def test_a_star_import_brings_exactly_the_public_names(room):
    module = module_of(room)
    names = module.__all__
    assert names == sorted(set(names))
    found = {}
    exec(f"from {module.__name__} import *", found)
    assert found.keys() - {"__builtins__"} == set(names)
    for name in names:
        assert found[name] is getattr(module, name)


def test_the_front_door_has_forty_names():
    assert len(skrank_metrics.__all__) == 40
    assert sum(name.endswith(("_score", "_distance")) for name in skrank_metrics.__all__) == 22


@rooms
def test_names_of_two_rooms_are_one_thing(room):
    for name in module_of(room).__all__:
        assert getattr(module_of(room), name) is PUBLIC[name]


@pytest.mark.parametrize(
    ("place", "name", "right"),
    [
        ("skrank_metrics", "RacingSearchCV", "skrank_metrics.model_selection"),
        ("skrank_metrics", "Comparison", "skrank_metrics.decisions"),
        ("skrank_metrics.splitters", "evaluate_batches", "skrank_metrics.sources"),
        ("skrank_metrics.model_selection", "cross_evaluate", "skrank_metrics"),
        ("skrank_metrics.reports", "ndcg_score", "skrank_metrics"),
    ],
)
def test_a_name_that_is_looked_for_in_the_wrong_room_says_where_it_is(place, name, right):
    with pytest.raises(AttributeError) as error:
        getattr(importlib.import_module(place), name)
    assert str(error.value) == f"{name} is in {right}"


MADE_BY_THE_PACKAGE = {"Comparison", "RankingReport"}


# Splitters take n_splits by position, as those of scikit-learn do; search_report needs no X and y for a race.
BY_POSITION = {
    "n_splits",
    "compare.metrics",
    "evaluate_lists.metrics",
    "evaluate_run.metrics",
    "search_report.X",
    "search_report.y",
}
# Of a report, there are no scores to pass.
BY_POSITION |= {"explain_difference.y_score", "match_convention.y_score"}
BY_POSITION |= {"within_noise.metric", "qid_from_sizes.first", "query_fold.seed"}


@pytest.mark.parametrize("name", sorted(PLACES.keys() - MADE_BY_THE_PACKAGE))
def test_options_are_passed_by_name(name):
    parameters = inspect.signature(PUBLIC[name]).parameters.values()
    options = [p for p in parameters if p.default is not p.empty]
    by_position = [p.name for p in options if p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD)]
    assert [
        option for option in by_position if not {option, f"{name}.{option}"} & BY_POSITION
    ] == []


@rooms
def test_dir_lists_names_before_they_are_loaded(room):
    module = module_of(room)
    names = run(f"import {module.__name__} as room; print(*dir(room))").split()
    namespaces = [] if room else NAMESPACES
    assert names == sorted([*module.__all__, *namespaces])


def test_an_unknown_name_is_an_attribute_error_and_an_import_error():
    with pytest.raises(
        AttributeError, match="module 'skrank_metrics' has no attribute 'ncdg_score'"
    ):
        skrank_metrics.ncdg_score  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'ncdg_score' from 'skrank_metrics'"):
        from skrank_metrics import ncdg_score  # noqa: F401
    assert not hasattr(skrank_metrics, "_ndcg_score")
    assert not hasattr(skrank_metrics, "__path_of__")


def loaded_by(code):
    return set(run(f"import sys\n{code}\nprint(*sys.modules)").split())


HEAVY = {
    "sklearn",
    "pandas",
    "scipy.stats",
    "matplotlib",
    "polars",
    "pyarrow",
    "lightgbm",
    "xgboost",
    "catboost",
}
HEAVY |= {"dask", "pyspark"}


def test_importing_loads_no_large_library():
    loaded = loaded_by("import skrank_metrics")
    own = {name for name in loaded if name.startswith("skrank_metrics")}
    assert own == {"skrank_metrics", "skrank_metrics._rooms"}
    assert loaded.isdisjoint({*HEAVY, "numpy", "scipy"})


def test_metrics_and_evaluate_need_no_large_library():
    arguments = "([1, 0, 1], [1, 1, 2], qid=['a', 'a', 'a'])"
    every_metric = f"[metric{arguments} for metric in metrics.REGISTRY.values()]"
    for call, needed in ((every_metric, set()), (f"evaluate{arguments}", {"scipy.stats"})):
        assert loaded_by(f"from skrank_metrics import evaluate, metrics; {call}").isdisjoint(
            HEAVY - needed
        )


def test_a_saved_comparison_loads_only_what_it_needs():
    path = str(ROOT / "tests" / "golden" / "comparison.1.json")
    code = f"from skrank_metrics.decisions import Comparison; print(Comparison.load({path!r}))"
    loaded = loaded_by(code)
    assert loaded.isdisjoint(HEAVY - {"scipy.stats"})
    assert not any(name.startswith("skrank_metrics.displays") for name in loaded)


@pytest.mark.slow
@rooms
def test_an_import_of_all_names_loads_their_modules(room):
    loaded = loaded_by(f"from {module_of(room).__name__} import *")
    modules = {f"skrank_metrics.{module}" for module in modules_of_names(room).values()}
    assert modules <= loaded
    assert loaded.isdisjoint({"matplotlib", "lightgbm", "xgboost", "catboost"})


@pytest.mark.slow
def test_importing_needs_nothing_but_the_dependencies():
    absent = f"sys.modules |= dict.fromkeys({HEAVY - {'sklearn', 'scipy.stats'}})"
    names = "; ".join(f"from {place} import {name}" for name, place in PLACES.items())
    run(f"import sys; {absent}; import skrank_metrics.datasets, skrank_metrics.trec; {names}")


@pytest.mark.slow
def test_names_and_scorers_pickle_into_a_process_that_has_loaded_nothing():
    scorer = skrank_metrics.make_ranking_scorer("ndcg(gain=exp2)@10")
    things = list(PUBLIC.values())
    things += [
        skrank_metrics.get_metric("map@5"),
        scorer,
        skrank_metrics.make_ranking_scorer("rbp", p=0.9),
    ]
    assert all(pickle.loads(pickle.dumps(thing)) is thing for thing in things[:-3])
    code = (
        f"import pickle; print([str(thing) for thing in pickle.loads({pickle.dumps(things[-3:])})])"
    )
    assert run(code) == f"{[str(thing) for thing in things[-3:]]}\n"


def stub_of(room):
    path = ROOT / "skrank_metrics" / room / "__init__.pyi"
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("room", [room for room in ROOMS if room != "metrics"])
def test_a_stub_has_the_names_of_the_run_time_from_the_same_modules(room):
    imports = [node for node in stub_of(room).body if isinstance(node, ast.ImportFrom)]
    modules = {}
    for node in imports:
        (alias,) = node.names
        assert alias.asname == alias.name
        modules[alias.name] = node.module
    if not room:
        assert {modules.pop(name) for name in NAMESPACES} == {"skrank_metrics"}
    assert sorted(modules) == module_of(room).__all__
    for name, module in modules.items():
        assert getattr(importlib.import_module(module), name) is PUBLIC[name]


def test_metrics_have_the_signatures_and_docstrings_of_their_stubs():
    overloads = [node for node in stub_of("metrics").body if isinstance(node, ast.FunctionDef)]
    functions = [function.__name__ for function in REGISTRY.values()]
    assert sorted(2 * functions) == [node.name for node in overloads]
    for one, each in zip(overloads[::2], overloads[1::2], strict=True):
        function = getattr(skrank_metrics, one.name)
        assert parameters(one) == {
            name: p.default for name, p in inspect.signature(function).parameters.items()
        }
        assert parameters(each) == {**parameters(one), "average": inspect.Parameter.empty}
        assert ast.get_docstring(one) == inspect.getdoc(function)
        assert [ast.unparse(node.returns) for node in (one, each)] == ["float", "_FloatArray"]


def parameters(node):
    """Defaults of a stub's parameters, by name."""
    arguments = node.args
    assert [a.arg for a in arguments.args] == ["y_true", "y_score"]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    empty = inspect.Parameter.empty
    found = {
        argument.arg: empty if default is None else ast.literal_eval(default)
        for argument, default in named
    }
    return {"y_true": empty, "y_score": empty, **found}


REFUSED = {
    "kk=3": "'kk'", 'k="10"': "k must be an int", "k=2.5": "k must be an int", 'ties="wrong"': "ties must be one of",
    'average="micro"': "average='micro' is not defined for ndcg", 'gain="exp"': "gain must be",
    "relevance_threshold=1": "'relevance_threshold'", "scores, ids)": "takes only labels and scores by position",
    "score(labels)": "'y_score'", 'normalizer="min(k, R)"': "normalizer must be one of",
    'average="samples"': "average must be one of", "splits=5": "'splits'",
}  # fmt: skip


def test_calls_that_type_checkers_refuse_fail_and_others_run():
    lines = (ROOT / "tests" / "typing" / "uses.py").read_text(encoding="utf-8").splitlines()
    refused = [line for line in lines if "# type: ignore" in line]
    exec("\n".join(line for line in lines if line not in refused), names := {})
    assert len(refused) == len(REFUSED)
    for line in refused:
        (message,) = (message for part, message in REFUSED.items() if part in line)
        with pytest.raises((TypeError, ValueError), match=message):
            exec(line, dict(names))


def documented():
    in_modules = ["datasets.load_digits_retrieval", "datasets.make_ranking"]
    in_modules += [
        "trec.read_qrels",
        "trec.read_run",
        "trec.evaluate_run",
        "dask.evaluate",
        "spark.evaluate",
    ]
    yield from (f"skrank_metrics.{name}" for name in in_modules)
    for name, place in PLACES.items():
        yield f"{place}.{name}"
        if not inspect.isclass(PUBLIC[name]):
            continue
        for member, value in vars(PUBLIC[name]).items():
            if inspect.isfunction(value) and not member.startswith("_"):
                yield f"{place}.{name}.{member}"


@pytest.mark.slow
@pytest.mark.parametrize("name", list(documented()))
def test_docstrings_follow_numpydoc(name):
    for namespace in NAMESPACES:
        importlib.import_module(f"skrank_metrics.{namespace}")
    # Results are described by their attributes, and their methods in sentences.
    is_result = not MADE_BY_THE_PACKAGE.isdisjoint(name.split("."))
    not_asked = NOT_ASKED | ({"PR01", "RT01"} if is_result else set())
    errors = [error for error in validate(name)["errors"] if error[0] not in not_asked]
    assert errors == []


@pytest.mark.parametrize("name", [n for n in PLACES if inspect.isfunction(PUBLIC[n])])
def test_functions_have_an_example(name):
    assert ">>> " in inspect.getdoc(PUBLIC[name])


def test_documents_and_stubs_hold_what_follows_from_the_registry():
    done = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, (
        done.stdout + done.stderr + "python docs/generate.py writes them anew"
    )


def test_version_is_that_of_the_project_and_the_changelog():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == skrank_metrics.__version__
    assert f"## [{skrank_metrics.__version__}]" in (ROOT / "CHANGELOG.md").read_text(
        encoding="utf-8"
    )


# Partitions are evaluated by functions of one name, each in the room of its library.
OF_CLUSTERS = {("dask", "evaluate"), ("spark", "evaluate")}


def names_defined_in(path):
    """The functions, classes and type aliases of a module that others may import."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
            yield node.target.id


def test_a_name_stands_for_one_thing():
    homes = {}
    for path in sorted((ROOT / "skrank_metrics").rglob("*.py")):
        for name in names_defined_in(path):
            if not name.startswith("_") and (path.stem, name) not in OF_CLUSTERS:
                homes.setdefault(name, set()).add(str(path.relative_to(ROOT)))
    assert {name: sorted(paths) for name, paths in homes.items() if len(paths) > 1} == {}
