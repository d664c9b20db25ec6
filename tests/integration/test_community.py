"""The files for people and services around the code agree with pyproject.toml."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
yaml = pytest.importorskip("yaml")


@pytest.fixture(scope="module")
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def load(place):
    return yaml.safe_load((ROOT / place).read_text(encoding="utf-8"))


def test_commands_that_ci_reads_are_in_one_line():
    patterns = re.findall(r"grep -E '(.+)' (\S+\.md)", (ROOT / ".ci/run").read_text(encoding="utf-8"))
    assert [place for _, place in patterns] == ["CONTRIBUTING.md", "README.md"]
    for pattern, place in patterns:
        assert len(re.findall(pattern, (ROOT / place).read_text(encoding="utf-8"), re.MULTILINE)) == 1


def test_citation(project):
    citation = load("CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()  # which the format requires
    for name in ("version", "license", "authors"):
        assert citation[name] == project["project"][name]


def test_the_recipe_for_conda(project):
    recipe, about = load(".conda/recipe.yaml"), project["project"]
    assert recipe["package"]["name"] == about["name"]
    oldest = about["requires-python"].removeprefix(">=")
    assert recipe["context"] == {"version": about["version"], "python_min": oldest}
    run, host = ([line.replace(" ", "") for line in recipe["requirements"][part]] for part in ("run", "host"))
    assert run == ["python>=${{python_min}}", *about["dependencies"]]
    assert host[2:] == project["build-system"]["requires"]
    scripts = [f"{name} = {target}" for name, target in about["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == scripts
    assert recipe["about"]["summary"] == about["description"]


def test_the_workflow_runs_the_check_on_all_supported_versions_of_python(project):
    (job,) = load(".github/workflows/check.yml")["jobs"].values()
    classified = re.findall(r"Python :: (3\.\d+)", " ".join(project["project"]["classifiers"]))
    assert job["strategy"]["matrix"]["python"] == classified
    assert job["steps"][-1] == {"run": ".ci/run"}


def test_the_sdist_holds_the_community_files(project):
    included = project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CITATION.cff", "LICENSE"} <= set(included)
    assert [place for place in included if not (ROOT / place).exists()] == []
