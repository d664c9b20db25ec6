import re
import subprocess
import sys

import pytest

from skrank_metrics import _demo
from skrank_metrics.__main__ import main
from skrank_metrics._table import conventions_table, metrics_page, metrics_table

ROW = re.compile(r"^(\S.*?) +(0\.\d{4}) \+- 0\.\d{4} +(0\.\d{4}) \+- 0\.\d{4} +(0\.\d{4}) \+- 0\.\d{4}$", re.MULTILINE)


def test_demo_compares_the_models_and_draws(tmp_path, capsys):
    main(["demo", "--picture", str(tmp_path / "ranking.png")])
    printed = capsys.readouterr().out
    rows = {name: float(ndcg) for name, ndcg, _, _ in ROW.findall(printed)}
    assert set(rows) == {"baseline: nearest pixels", "HistGradientBoostingRegressor", *_demo.BOOSTERS}
    assert min(rows, key=rows.get) == "baseline: nearest pixels"
    assert "[4/4] CatBoostRanker ... best depth=" in printed
    assert "Left out" not in printed
    assert (tmp_path / "ranking.png").read_bytes().startswith(b"\x89PNG")


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
    assert {name for name, *_ in ROW.findall(done.stdout)} == {
        "baseline: nearest pixels",
        "HistGradientBoostingRegressor",
    }
    for left_out in ("LGBMRanker, as lightgbm", "XGBRanker, as xgboost", "CatBoostRanker, as catboost", "matplotlib"):
        assert f"{left_out} is not installed" in done.stdout
    assert not picture.exists()


@pytest.mark.parametrize(
    ("options", "printed"),
    [([], metrics_table), (["--page"], metrics_page), (["--conventions"], conventions_table)],
)
def test_metrics_prints_what_the_documents_hold(options, printed, capsys):
    main(["metrics", *options])
    assert capsys.readouterr().out == printed() + "\n"


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
