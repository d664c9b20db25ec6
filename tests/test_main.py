import inspect
import re
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.linear_model import Ridge
from sklearn.utils import Bunch

from skrank_metrics import QueryKFold, QueryRanker, _demo, cross_evaluate, evaluate
from skrank_metrics.__main__ import main
from skrank_metrics.datasets import load_digits_retrieval, make_ranking
from skrank_metrics.metrics._registry import REGISTRY

# A row of the first table: name and NDCG@10.
ROW = re.compile(r"^(\S+(?: \S+)?) +(0\.\d{4})(?: |$)", re.MULTILINE)
# Names of over 24 characters are cut in the middle.
SHOWN = {"HistGradientBoostingRegressor": "HistGradient...Regressor"}


def digits_of_40_queries():
    """The demo's own data, cut so that the fits of the test take seconds."""
    data = load_digits_retrieval()
    rows = data.qid < 40
    return Bunch(**(data | {name: data[name][rows] for name in ("data", "target", "qid")}))


def models_of_few_trees():
    counts = dict(
        zip(_demo.MODELS, ("max_iter", "n_estimators", "n_estimators", "iterations"), strict=True)
    )
    return {
        name: (package, params | {counts[name]: 8}, grid)
        for name, (package, params, grid) in _demo.MODELS.items()
    }


@pytest.mark.slow
def test_demo_compares_the_models_and_draws(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(_demo, "load_digits_retrieval", digits_of_40_queries)
    monkeypatch.setattr(_demo, "MODELS", models_of_few_trees())
    figures = []
    save = Figure.savefig
    monkeypatch.setattr(
        Figure, "savefig", lambda self, *args, **kw: (figures.append(self), save(self, *args, **kw))
    )
    with joblib.parallel_config("threading"):
        main(["demo", "--picture", str(tmp_path / "ranking.png")])
    printed, data = capsys.readouterr().out, digits_of_40_queries()
    assert printed.startswith(
        f"Query-by-image retrieval over digits: {len(data.qid)} documents, 40 queries.\n"
    )
    rows = dict(ROW.findall(printed))
    assert set(rows) == {SHOWN.get(name, name) for name in (_demo.BASELINE, *_demo.MODELS)}
    assert list(rows.values()) == sorted(rows.values(), reverse=True)
    nearness = -data.data[:, data.feature_names.index("pixel_distance")]
    assert (
        rows[_demo.BASELINE]
        == f"{evaluate(data.target, nearness, qid=data.qid).mean['ndcg@10']:.4f}"
    )
    assert max(map(len, printed.replace(str(tmp_path), "").splitlines())) <= 80
    assert "CatBoostRanker ... done" in printed
    assert "left out" not in printed.lower()
    means, differences = figures[0].axes
    labels = {label.get_text().replace("\n", "") for label in means.get_yticklabels()}
    assert labels == {_demo.BASELINE, *_demo.MODELS}
    assert means.get_xlabel().startswith("ndcg@10")
    assert differences.get_xlabel().startswith("ndcg@10 minus ")
    assert " ".join(figures[0].get_suptitle().split()) in " ".join(printed.split()), "the verdict"
    assert (
        f"Picture of the models, with the best highlighted: {tmp_path / 'ranking.png'}" in printed
    )
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
        "import joblib\n"
        "from sklearn.utils import Bunch\n"
        "from skrank_metrics import _demo\n"
        "from skrank_metrics.__main__ import main\n"
        "from skrank_metrics.datasets import load_digits_retrieval\n"
        f"{inspect.getsource(digits_of_40_queries)}\n"
        f"{inspect.getsource(models_of_few_trees)}\n"
        "_demo.load_digits_retrieval = digits_of_40_queries\n"
        "_demo.MODELS = models_of_few_trees()\n"
        "with joblib.parallel_config('threading'):\n"
        "    main(['demo', '--picture', sys.argv[1]])"
    )
    picture = tmp_path / "ranking.png"
    done = subprocess.run(
        [sys.executable, "-c", code, str(picture)], capture_output=True, text=True, check=True
    )
    names = {name for name, _ in ROW.findall(done.stdout)}
    assert names == {"HistGradient...Regressor", _demo.BASELINE}
    for name, package in (("LGBM", "lightgbm"), ("XGB", "xgboost"), ("CatBoost", "catboost")):
        assert f"{name}Ranker ... left out, since {package} is not installed" in done.stdout
    assert "since matplotlib is not installed" in done.stdout
    assert not picture.exists()


@pytest.mark.slow
def test_tuning_of_the_demo():
    X, y, qid = make_ranking(30, n_features=4, noise=0.5, random_state=0)
    data = Bunch(data=np.column_stack([X[:, 1:], -X[:, 0]]), target=y, qid=qid)
    with joblib.parallel_config("threading"):
        # The distance has a negative effect.
        report = _demo._tune(Ridge(), {"positive": [True, False], "fit_intercept": [True]}, data)
    expected = cross_evaluate(
        QueryRanker(Ridge()),
        data.data,
        data.target,
        qid=data.qid,
        cv=QueryKFold(5),
        metrics=_demo.METRICS,
    )
    assert report.mean == expected.reports["QueryRanker"].mean


@pytest.mark.parametrize(
    ("arguments", "path"), [([], "ranking.png"), (["--picture", "other.png"], "other.png")]
)
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
    shown = [" ".join(row.split()) for row in rows]
    assert {"ndcg@k ndcg_score [0, 1]", "kendall_tau kendall_tau_score [-1, 1]"} <= set(shown)
    names = [row.split()[0].removesuffix("@k") for row in rows]
    assert names == sorted(names)
    assert max(map(len, [head, *rows])) <= 80
