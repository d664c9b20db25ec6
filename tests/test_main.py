import re
import subprocess
import sys

import pytest

from skrank_metrics import _demo, compare, evaluate
from skrank_metrics.__main__ import main
from skrank_metrics.datasets import make_ranking
from skrank_metrics.metrics._registry import REGISTRY

# The last group is the second line of a name.
ROW = re.compile(
    r"^(\d)  (\S.*?) +(0\.\d{4})  \[0\.\d{4}, 0\.\d{4}\]  0\.\d{4}  0\.\d{4}  (.*)(?:\n   (\w+)$)?", re.MULTILINE
)


def names_of(rows):
    """Names in one line, class names without the blank of a line break."""
    return [f"{name} {rest}".strip().replace("Boosting Reg", "BoostingReg") for _, name, *_, rest in rows]


@pytest.mark.slow
def test_demo_compares_the_models_and_draws(tmp_path, capsys):
    main(["demo", "--picture", str(tmp_path / "ranking.png")])
    printed = capsys.readouterr().out
    rows = ROW.findall(printed)
    names = names_of(rows)
    assert set(names) == {_demo.BASELINE, "HistGradientBoostingRegressor", *_demo.BOOSTERS}
    assert names[-1] == _demo.BASELINE
    assert [float(ndcg) for *_, ndcg, _, _ in rows] == sorted((float(ndcg) for *_, ndcg, _, _ in rows), reverse=True)
    differs_from = {int(number): others for number, *_, others, _ in rows}
    assert "5" in differs_from[1]  # the best from the baseline, and the other way round
    assert "1" in differs_from[5]
    assert "2" not in differs_from[1]
    assert max(map(len, printed.replace(str(tmp_path), "").splitlines())) <= 80
    assert "[4/4] CatBoostRanker ... best depth=" in printed
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
        "from skrank_metrics.__main__ import main\n"
        "main(['demo', '--picture', sys.argv[1]])"
    )
    picture = tmp_path / "ranking.png"
    done = subprocess.run([sys.executable, "-c", code, str(picture)], capture_output=True, text=True, check=True)
    assert names_of(ROW.findall(done.stdout)) == ["HistGradientBoostingRegressor", _demo.BASELINE]
    for left_out in ("LGBMRanker, as lightgbm", "XGBRanker, as xgboost", "CatBoostRanker, as catboost", "matplotlib"):
        assert f"{left_out} is not installed" in done.stdout
    assert not picture.exists()


def test_each_mean_of_the_table_is_in_the_column_of_its_metric():
    X, y, qid = make_ranking(40, random_state=0)
    reports = {f"model {i}": evaluate(y, X[:, i], qid=qid, metrics=_demo.COMPUTED) for i in range(3)}
    printed = _demo._format(reports, compare(reports, "ndcg@10", random_state=0))
    lines = [re.sub(r"\[.*?\]", "", line).split() for line in printed.splitlines()]
    (heads,) = [line for line in lines if "map" in line]
    assert heads[:5] == ["out", "of", "fold", "ndcg@10", "95%"]
    assert heads[6:8] == ["map", "mrr"]
    for number, (name, report) in enumerate(reports.items(), start=1):
        shown = [f"{report.mean[metric]:.4f}" for metric in ("ndcg@10", "map", "mrr")]
        assert [str(number), *name.split(), *shown] in [line[:6] for line in lines]


def test_metrics_lists_name_function_and_range(capsys):
    main(["metrics"])
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["name", "function", "range"]
    assert len(rows) == len(REGISTRY)
    assert "ndcg@k ndcg_score [0, 1]" in [" ".join(row.split()) for row in rows]
    assert "kendall_tau kendall_tau_score [-1, 1]" in [" ".join(row.split()) for row in rows]
    assert max(map(len, [head, *rows])) <= 80


def test_a_picture_that_cannot_be_drawn_is_noticed_first(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["demo", "--picture", "/no/such/folder/ranking.png"])
    assert "must lie in a folder that exists" in capsys.readouterr().err


def test_help_is_for_people(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    assert "demo" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="2"):
        main([])
