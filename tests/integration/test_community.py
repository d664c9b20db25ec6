"""The files for people and services around the code agree with pyproject.toml."""

import re
import tomllib
from pathlib import Path

import pytest
from release_notes import notes_of

ROOT = Path(__file__).parents[2]
yaml = pytest.importorskip("yaml")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ABOUT = PROJECT["project"]


def load(place):
    return yaml.safe_load((ROOT / place).read_text(encoding="utf-8"))


def test_commands_that_ci_reads_are_in_one_line():
    patterns = re.findall(
        r"grep -E '(.+)' (\S+\.md)", (ROOT / ".ci/run").read_text(encoding="utf-8")
    )
    assert [place for _, place in patterns] == ["CONTRIBUTING.md", "README.md"]
    for pattern, place in patterns:
        assert (
            len(re.findall(pattern, (ROOT / place).read_text(encoding="utf-8"), re.MULTILINE)) == 1
        )


def test_citation():
    citation = load("CITATION.cff")
    assert {
        "cff-version",
        "message",
        "title",
        "authors",
    } <= citation.keys()  # which the format requires
    for name in ("version", "license", "authors"):
        assert citation[name] == ABOUT[name]


def test_the_recipe_for_conda():
    recipe = load(".conda/recipe.yaml")
    assert recipe["package"]["name"] == ABOUT["name"]
    oldest = ABOUT["requires-python"].removeprefix(">=")
    assert recipe["context"] == {"version": ABOUT["version"], "python_min": oldest}
    run, host = (
        [line.replace(" ", "") for line in recipe["requirements"][part]] for part in ("run", "host")
    )
    assert run == ["python>=${{python_min}}", *ABOUT["dependencies"]]
    assert host[2:] == PROJECT["build-system"]["requires"]
    scripts = [f"{name} = {target}" for name, target in ABOUT["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == scripts
    assert recipe["about"]["summary"] == ABOUT["description"]


def test_the_workflow_runs_the_check_on_all_supported_versions_of_python():
    (job,) = load(".github/workflows/check.yml")["jobs"].values()
    classified = re.findall(r"Python :: (3\.\d+)", " ".join(ABOUT["classifiers"]))
    assert job["strategy"]["matrix"]["python"] == classified
    assert job["steps"][-1] == {"run": ".ci/run"}


def test_the_notes_of_a_release_are_those_of_the_changelog():
    changelog = (
        "# Changelog\n\n## [0.2.0] - 2027-01-01\n\nNew.\n\n## [0.1.0]\n\nThe first version.\n"
    )
    assert notes_of("0.2.0", changelog) == "New."
    assert notes_of("0.1.0", changelog) == "The first version."
    with pytest.raises(ValueError, match=r"no heading for version '0\.3\.0'"):
        notes_of("0.3.0", changelog)
    assert notes_of(ABOUT["version"], (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))


def test_a_release_runs_the_whole_check_before_it_publishes():
    jobs = load(".github/workflows/release.yml")["jobs"]
    runs = [step.get("run", "") for step in jobs["build"]["steps"]]
    assert runs.index(".ci/run") < runs.index("pip install build && python -m build")
    assert jobs["publish"]["needs"] == "build"
    assert jobs["site"]["needs"] == "publish"


def test_actions_are_pinned_by_commit_and_updated():
    used = []
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        used += re.findall(r"uses: (.*)", path.read_text(encoding="utf-8"))
    assert len(used) > 10
    assert [
        action for action in used if not re.fullmatch(r"\S+@[0-9a-f]{40} # v[\d.]+", action)
    ] == []
    assert load(".github/dependabot.yml")["updates"][0]["package-ecosystem"] == "github-actions"


def test_the_sdist_holds_the_community_files():
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert {
        ".ci",
        ".conda",
        ".github",
        "README.md",
        "CHANGELOG.md",
        "CODE_OF_CONDUCT.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "CITATION.cff",
        "LICENSE",
    } <= set(included)
    assert [place for place in included if not (ROOT / place).exists()] == []


def test_the_quick_workflow_runs_the_commands_of_contributors():
    (job,) = load(".github/workflows/quick.yml")["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()
    assert commands[1] in contributing
    assert commands[2].replace(" -q ", " ") in contributing
