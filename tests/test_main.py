import inspect
import re
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.utils import Bunch
from support.ranks import report_of_ranks

from skrank_metrics import QueryKFold, QueryRanker, _demo, compare, cross_evaluate, evaluate
from skrank_metrics.__main__ import main
from skrank_metrics.datasets import load_digits_retrieval, make_ranking
from skrank_metrics.metrics._registry import REGISTRY

# A row of the first table: name, NDCG@10, difference, interval, p and status.
ROW = re.compile(r"^(\S.*?) +(0\.\d{4}) +[+-]0\.\d{4}  \[.*\]  [01]\.\d{4}  [a-z ]+(?:\n(Regressor)$)?", re.MULTILINE)
# The same in the table of two models: name and three means.
ROW_OF_TWO = re.compile(r"^(\S.*?) +(0\.\d{4})(?:  0\.\d{4}){2}$", re.MULTILINE)


def names_of(rows):
    return [name + rest for name, *_, rest in rows]


def digits_of_40_queries():
    """The demo's own data, cut so that the fits of the test take seconds."""
    data = load_digits_retrieval()
    rows = data.qid < 40
    return Bunch(**(data | {name: data[name][rows] for name in ("data", "target", "qid")}))


@pytest.mark.slow
def test_demo_compares_the_models_and_draws(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(_demo, "load_digits_retrieval", digits_of_40_queries)
    main(["demo", "--picture", str(tmp_path / "ranking.png")])
    printed = capsys.readouterr().out
    rows = ROW.findall(printed)
    names = names_of(rows)
    assert set(names) == {_demo.BASELINE, "HistGradientBoostingRegressor", *_demo.BOOSTERS}
    values = [float(value) for _, value, *_ in rows]
    assert values == sorted(values, reverse=True)
    assert max(map(len, printed.replace(str(tmp_path), "").splitlines())) <= 80
    assert re.search(r"\[4/4\] CatBoostRanker \(about \d+ s left\) ... best depth=", printed)
    fits = [int(number) for number in re.findall(r", (\d+) fits, ", printed)]
    assert f"The races took {sum(fits)} fits; grid searches would take {4 * 3 * 5}." in printed
    assert "Left out" not in printed
    assert (tmp_path / "ranking.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_demo_with_scikit_learn_alone(tmp_path):
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in ('lightgbm', 'xgboost', 'catboost', 'matplotlib', 'pandas'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from sklearn.utils import Bunch\n"
        "from skrank_metrics import _demo\n"
        "from skrank_metrics.__main__ import main\n"
        "from skrank_metrics.datasets import load_digits_retrieval\n"
        f"{inspect.getsource(digits_of_40_queries)}\n"
        "_demo.load_digits_retrieval = digits_of_40_queries\n"
        "main(['demo', '--picture', sys.argv[1]])"
    )
    picture = tmp_path / "ranking.png"
    done = subprocess.run([sys.executable, "-c", code, str(picture)], capture_output=True, text=True, check=True)
    assert {name for name, _ in ROW_OF_TWO.findall(done.stdout)} == {"HistGradientBoostingRegressor", _demo.BASELINE}
    for left_out in (
        "LGBMRanker, since lightgbm",
        "XGBRanker, since xgboost",
        "CatBoostRanker, since catboost",
        "matplotlib",
    ):
        assert f"{left_out} is not installed" in done.stdout
    assert not picture.exists()


@pytest.fixture
def data():
    """Rows of a small data set instead of the digits, whose first feature is a good distance."""
    X, y, qid = make_ranking(30, n_features=4, noise=0.5, random_state=0)
    X = np.column_stack([X[:, 1:], -X[:, 0]])
    return Bunch(data=X, target=y, qid=qid, feature_names=["b", "c", "d", "pixel_distance"])


@pytest.fixture
def saved(monkeypatch):
    """Figures and the paths that they are saved to."""
    figures = {}
    monkeypatch.setattr(Figure, "savefig", lambda figure, path, **_: figures.update({path: figure}))
    return figures


# Two good models and two bad ones.
RANKS = {"a": [1] * 12, "b": [1, 1, 2] * 4, "c": [3, 3, 2, 4, 3, 3] * 2, "d": [2, 4, 3, 3, 3, 3] * 2}


@pytest.fixture(scope="module")
def reports():
    return {name: report_of_ranks(ranks, metrics=_demo.METRICS) for name, ranks in RANKS.items()}


def test_the_fastest_of_the_best_is_named(reports):
    board = compare(reports)
    assert board.best_set == ("a", "b")
    line = "Of the models that may be best, {} was the fastest to tune: {} s.\n"
    assert _demo._fastest(board, {"a": 3, "b": 1.25, "c": 0.5}) == line.format("b", "1.2")
    assert _demo._fastest(board, {"a": 1, "b": 2}) == line.format("a", "1.0")
    assert _demo._fastest(board, {"a": 1, "c": 2}) == "", "there is no choice"


def test_time_left(monkeypatch):
    monkeypatch.setattr(_demo, "SHARES", {"a": 0.5, "b": 0.25, "c": 0.25})
    assert _demo._seconds_left({"a": 10}, ["a", "b", "c"]) == 10
    assert _demo._seconds_left({"a": 10, "b": 20}, ["a", "b", "c"]) == 10
    assert _demo._seconds_left({"a": 10}, ["a", "c"]) == 5


def test_picture_of_the_demo(reports, saved, capsys):
    board = compare(reports)
    _demo._draw(board, Path("here.png"))
    means, differences = saved[Path("here.png")].axes
    assert [label.get_text() for label in means.get_yticklabels()] == list(RANKS)
    assert means.get_xlabel().startswith(_demo.METRICS[0])
    assert differences.get_xlabel().startswith("difference")
    assert saved[Path("here.png")].get_suptitle().replace("\n", " ") == board.verdict
    assert "Picture of the models, with the best highlighted: here.png" in capsys.readouterr().out


@pytest.mark.slow
def test_tuning_of_the_demo(data):
    with joblib.parallel_config("threading"):
        report, best, (n_fits, n_saved) = _demo._tune(
            Ridge(), {"positive": [True, False], "fit_intercept": [True]}, data
        )
    assert best == "fit_intercept=True, positive=False", "the distance has a negative effect"
    assert n_fits + n_saved == 2 * 5, "candidates and folds"
    expected = cross_evaluate(
        QueryRanker(Ridge()), data.data, data.target, qid=data.qid, cv=QueryKFold(5), metrics=_demo.METRICS
    )
    assert report.mean == expected.reports["QueryRanker"].mean


@pytest.mark.slow
def test_demo_sorts_the_models_and_takes_the_near_pixels(data, saved, monkeypatch, capsys):
    monkeypatch.setattr(_demo, "load_digits_retrieval", lambda: data)
    models = {"weak": (DummyRegressor(), {"strategy": ["mean"]}), "strong": (Ridge(), {"alpha": [1.0]})}
    monkeypatch.setattr(_demo, "_models", lambda: (models, {"LGBMRanker": "lightgbm"}))
    with joblib.parallel_config("threading"):
        main(["demo", "--picture", "picture.png"])
    printed = capsys.readouterr().out
    assert printed.startswith(f"Query-by-image retrieval over digits: {len(data.qid)} documents, 30 queries.\n")
    assert re.search(r"^\[1/2\] weak \.\.\. best strategy=mean, 5 fits, \d+\.\d s$", printed, re.MULTILINE)
    assert re.search(r"^\[2/2\] strong \(about \d+ s left\) \.\.\. best alpha=1\.0, 5 fits, ", printed, re.MULTILINE)
    assert "The races took 10 fits; grid searches would take 10.\n" in printed
    assert "Left out: LGBMRanker, since lightgbm is not installed." in printed
    rows = {name: value for name, value, *_ in ROW.findall(printed)}
    nearest = evaluate(data.target, -data.data[:, 3], qid=data.qid).mean
    assert rows[_demo.BASELINE] == f"{nearest['ndcg@10']:.4f}"
    assert list(rows.values()) == sorted(rows.values(), reverse=True)
    assert re.search(r"^With 95% confidence, .*strong", printed, re.MULTILINE)
    assert re.search(r"^This took \d+ s\.$", printed, re.MULTILINE)
    assert list(saved) == [Path("picture.png")]


def test_models_of_the_demo():
    models, left_out = _demo._models()
    assert list(models) == ["HistGradientBoostingRegressor", "LGBMRanker", "XGBRanker", "CatBoostRanker"]
    assert left_out == {}
    for name, (model, grid) in models.items():
        assert type(model).__name__ == name
        ((parameter, values),) = grid.items()
        assert len(values) == 3
        QueryRanker(model).set_params(**{f"estimator__{parameter}": values[0]})


@pytest.mark.parametrize(("arguments", "path"), [([], "ranking.png"), (["--picture", "other.png"], "other.png")])
def test_picture_of_the_demo_goes_where_it_is_told(monkeypatch, arguments, path):
    pictures = []
    monkeypatch.setattr(_demo, "run", pictures.append)
    main(["demo", *arguments])
    assert pictures == [Path(path)]


def test_metrics_lists_name_function_and_range(capsys):
    main(["metrics"])
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["name", "function", "range"]
    assert len(rows) == len(REGISTRY)
    assert "ndcg@k ndcg_score [0, 1]" in [" ".join(row.split()) for row in rows]
    assert "kendall_tau kendall_tau_score [-1, 1]" in [" ".join(row.split()) for row in rows]
    names = [row.split()[0].removesuffix("@k") for row in rows]
    assert names == sorted(names)
    assert max(map(len, [head, *rows])) <= 80


def test_a_picture_that_cannot_be_drawn_is_noticed_first(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["demo", "--picture", "/no/such/folder/ranking.png"])
    assert "must be in an existing folder" in capsys.readouterr().err


def test_help_is_for_people(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    assert "demo" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        main([])
