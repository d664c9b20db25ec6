"""What results print, word by word: one file per situation in the folder prints.

Set SKRANK_WRITE_PRINTS=1 to write the files again, and read what changed.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeRegressor

from skrank_metrics import (
    QueryKFold,
    QueryRanker,
    QueryShuffleSplit,
    compare,
    cross_evaluate,
    evaluate,
    make_ranking_scorer,
    with_qid,
)
from skrank_metrics.__main__ import main
from skrank_metrics.datasets import make_ranking
from skrank_metrics.model_selection import search_report
from skrank_metrics.reports import RankingReport

FOLDER = Path(__file__).parent / "prints"
# Means minus that of the first ranking, and standard deviations of the differences.
FIVE = {
    "b": (0, 0),
    "d": (-0.002, 0.06),
    "a": (-0.004, 0.07),
    "e": (-0.02, 0.08),
    "c": (-0.135, 0.12),
}
SEVEN = {
    "prod": (0, 0),
    "large": (0.0164, 0.09),
    "tuned": (0.006, 0.09),
    "distilled": (0.001, 0.03),
    "fast": (-0.003, 0.12),
    "quantized": (-0.0045, 0.02),
    "pruned": (-0.015, 0.08),
}


def reports_of(rankings, n=300, seed=0, metric="ndcg@10", **columns):
    """Reports of rankings whose differences from the first have given means and standard deviations."""
    random = np.random.default_rng(seed)
    base = random.beta(6, 4, n) * 0.8 + 0.1
    reports = {}
    for name, (mean, spread) in rankings.items():
        noise = random.normal(size=n)
        noise = (noise - noise.mean()) / noise.std()
        values = np.clip(base + mean + spread * noise, 0, 1)
        own = {metric: values, **{key: column[name] for key, column in columns.items()}}
        reports[name] = RankingReport.from_frame({"qid": np.arange(n), **own})
    return reports


def with_columns(reports, **columns):
    """Reports with further columns, such as groups."""
    return {
        name: RankingReport.from_frame(report.to_frame().reset_index().assign(**columns))
        for name, report in reports.items()
    }


def chosen(rankings, *names):
    return {name: rankings[name] for name in names}


def one_is_better():
    X, y, qid = make_ranking(300, random_state=0)
    good = X[:, 0] + X[:, 1]
    return evaluate(y, {"a": good, "c": (good / 4).round()}, qid=qid, metrics="ndcg@10")


def too_close():
    return compare(reports_of(chosen(FIVE, "b", "a")))


def two_metrics_disagree():
    reports = reports_of({"bm25": (0, 0), "dense": (-0.0231, 0.1)})
    random = np.random.default_rng(7)
    base = random.beta(5, 4, 300)
    recall = {"bm25": base - 0.0262, "dense": base + random.normal(0, 0.1, 300)}
    means = {"bm25": base * 0.9, "dense": base * 0.89}
    for name, report in reports.items():
        frame = report.to_frame().reset_index()
        frame["recall@100"] = np.clip(recall[name], 0, 1)
        frame["map"] = np.clip(means[name], 0, 1)
        reports[name] = RankingReport.from_frame(frame)
    return compare(reports)


def five_models():
    return compare(reports_of(FIVE))


def many_models():
    rankings = {f"m{number:02}": (-0.004 * number, 0.1) for number in range(1, 37)}
    rankings["m01"] = (0, 0)
    reports = reports_of(rankings, 400)
    return compare({"m01": reports["m01"], **reports, "m02": reports["m01"]})


def baseline_without_margin():
    rankings = {"prod": (0, 0), "new": (0.0044, 0.06), "blend": (0.0025, 0.04)}
    return compare(
        reports_of(rankings | {"noisy": (-0.0158, 0.07), "old": (-0.13, 0.15)}), baseline="prod"
    )


def baseline_with_margin():
    return compare(reports_of(SEVEN, 800), baseline="prod", margin=0.01)


def only_challengers():
    """The verdicts on each of several rankings if it is the only one."""
    reports = reports_of(SEVEN, 800)
    texts = []
    for name in list(SEVEN)[1:]:
        found = compare(chosen(reports, "prod", name), baseline="prod", margin=0.01)
        texts.append(str(found).partition("\n\n")[0])
    return "\n".join(texts)


def two_guards():
    reports = reports_of({"prod": (0, 0), "new": (0.0121, 0.06)}, 600)
    others = reports_of({"prod": (0, 0), "new": (-0.0034, 0.15)}, 600, seed=1, metric="mrr")
    for name, report in reports.items():
        frame = report.to_frame().reset_index()
        frame["mrr"] = others[name].per_query["mrr"]
        reports[name] = RankingReport.from_frame(frame)
    return compare(reports, baseline="prod", margin={"ndcg@10": 0.005, "mrr": 0.01})


def several_baselines():
    rankings = {"prod": (0, 0), "new": (0.0044, 0.06), "blend": (0.0025, 0.04)}
    rankings |= {"noisy": (-0.0158, 0.07), "bm25": (-0.13, 0.15)}
    return compare(reports_of(rankings), baseline=["prod", "bm25"], margin=0.01)


def smaller_is_better():
    rankings = {"prod": (0, 0), "new": (-0.0058, 0.03), "old": (0.0019, 0.035)}
    return compare(reports_of(rankings, metric="fall_out@10"), baseline="prod", margin=0.005)


def out_of_fold():
    X, y, qid = make_ranking(120, random_state=1)
    return cross_evaluate(
        {"ridge": QueryRanker(Ridge()), "strict": QueryRanker(Ridge(3e3))},
        X,
        y,
        qid=qid,
        cv=QueryKFold(5, shuffle=True, random_state=0),
        metrics="ndcg@10",
    )


def one_split():
    X, y, qid = make_ranking(120, random_state=1)
    models = {
        "tree": QueryRanker(DecisionTreeRegressor(max_depth=4, random_state=0)),
        "ridge": QueryRanker(Ridge()),
    }
    cv = QueryShuffleSplit(1, test_size=0.5, random_state=0)
    return cross_evaluate(models, X, y, qid=qid, cv=cv, metrics="ndcg@10")


def few_queries():
    values = {"new": [0.9, 0.8, 0.7, 0.6, 0.5], "prod": [0.9, 0.7, 0.5, 0.6, 0.3]}
    return compare(
        {
            name: RankingReport.from_frame({"qid": range(5), "ndcg@10": own})
            for name, own in values.items()
        }
    )


def skewed():
    random = np.random.default_rng(0)
    base = random.uniform(0.4, 0.7, 20)
    gain = random.uniform(0.03, 0.06, 20)
    gain[:2] = -0.12
    values = {"prod": base, "new": base + gain}
    return compare(
        {
            name: RankingReport.from_frame({"qid": range(20), "ndcg@10": own})
            for name, own in values.items()
        }
    )


def grouped():
    random = np.random.default_rng(3)
    users = np.repeat(np.arange(60), 5)
    base = random.beta(6, 4, 300)
    effects = np.repeat(random.normal(0.001, 0.06, 60), 5)
    values = {"new": base, "prod": base - effects}
    return compare(
        {
            name: RankingReport.from_frame(
                {"qid": np.arange(300), "group": users, "ndcg@10": np.clip(own, 0, 1)}
            )
            for name, own in values.items()
        }
    )


def sliced(n_slices, n, **options):
    random = np.random.default_rng(5)
    slices = random.integers(0, n_slices, n)
    base = random.beta(6, 4, n) * 0.8 + 0.1
    effects = np.full(n_slices, 0.02)
    effects[-1] = -0.06
    own = base + effects[slices] + random.normal(0, 0.09, n)
    names = [f"t{number:02}" for number in range(n_slices)]
    if n_slices == 4:
        names = ["DE", "FR", "IT", "US"]
    by = np.array(names)[slices]
    values = {"prod": base, "new": np.clip(own, 0, 1)}
    reports = {
        name: RankingReport.from_frame({"qid": np.arange(n), "by": by, "ndcg@10": column})
        for name, column in values.items()
    }
    return compare(reports, **options)


def slices():
    return sliced(4, 900, baseline="prod", margin=0.01)


def many_slices():
    return sliced(40, 3000, baseline="prod", margin=0.01)


def slices_without_a_baseline():
    return sliced(4, 900)


def slices_of_three():
    reports = with_columns(
        reports_of(chosen(FIVE, "b", "d", "e")), by=np.array(["head", "tail"])[np.arange(300) % 2]
    )
    return compare(reports)


def searched():
    X, y, qid = make_ranking(100, random_state=2)
    grid = {
        "estimator__alpha": [1.0, 300.0, 1e3, 3e3, 1e4, 1e6],
        "estimator__fit_intercept": [True],
    }
    search = GridSearchCV(
        QueryRanker(Ridge()), grid, scoring=make_ranking_scorer("ndcg@10"), cv=QueryKFold(5)
    )
    return search_report(search.fit(X, with_qid(y, qid)), X, y, qid=qid)


def details():
    return five_models().details()


def markdown():
    return two_guards().to_markdown()


def unbounded():
    random = np.random.default_rng(0)
    base = 900 + random.gamma(2, 900, 40)
    values = {"one": base, "two": base + random.normal(60, 300, 40)}
    return compare(
        {
            name: RankingReport.from_frame({"qid": range(40), "dcg": own})
            for name, own in values.items()
        },
        baseline="one",
        margin=50,
    )


def unbounded_with_few_queries():
    values = {"one": [3.0, 2.0, 5.0], "two": [3.5, 2.0, 5.0]}
    return compare(
        {
            name: RankingReport.from_frame({"qid": range(3), "dcg": own})
            for name, own in values.items()
        }
    )


def medians():
    X, y, qid = make_ranking(50, random_state=0)
    return evaluate(y, {"a": X[:, 0], "b": X[:, 1]}, qid=qid, metrics="map(average=median)")


def weighted():
    reports = with_columns(reports_of(chosen(FIVE, "b", "e")), weight=1 + np.arange(300) % 3)
    return compare(reports)


def the_same():
    reports = reports_of({"b": (0, 0)})
    return compare({"one": reports["b"], "other": reports["b"]})


def margin_beyond_all_losses():
    return compare(reports_of(chosen(FIVE, "b", "a")), baseline="b", margin=0.95)


SITUATIONS = {
    "01_one_is_better": one_is_better,
    "02_too_close": too_close,
    "03_two_metrics_disagree": two_metrics_disagree,
    "04_five_models": five_models,
    "05_many_models": many_models,
    "06_baseline_without_margin": baseline_without_margin,
    "07_baseline_with_margin": baseline_with_margin,
    "07_only_challengers": only_challengers,
    "08_two_guards": two_guards,
    "09_several_baselines": several_baselines,
    "10_smaller_is_better": smaller_is_better,
    "11_out_of_fold": out_of_fold,
    "11_one_split": one_split,
    "12_few_queries": few_queries,
    "13_skewed": skewed,
    "14_grouped": grouped,
    "15_slices": slices,
    "15_many_slices": many_slices,
    "16_searched": searched,
    "18_details": details,
    "18_markdown": markdown,
    "19_slices_without_a_baseline": slices_without_a_baseline,
    "19_slices_of_three": slices_of_three,
    "20_unbounded": unbounded,
    "20_unbounded_with_few_queries": unbounded_with_few_queries,
    "21_medians": medians,
    "22_weighted": weighted,
    "23_the_same": the_same,
    "24_margin_beyond_all_losses": margin_beyond_all_losses,
}
# Words that only statisticians know, or that were used for something else.
NEVER = (
    *("family", "hold together", "told apart", "regret", "significant", "null", "reject"),
    *("power", "bootstrap", "effective", "permutation", "Tukey", "Student"),
)


def check(name, text):
    """Compare a print with its file."""
    path = FOLDER / f"{name}.txt"
    if os.environ.get("SKRANK_WRITE_PRINTS"):
        path.write_text(text + "\n", encoding="utf-8")
    assert text + "\n" == path.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", SITUATIONS)
def test_results_print_what_the_files_say(name):
    text = str(SITUATIONS[name]())
    check(name, text)
    if name.startswith("18"):
        return
    assert max(map(len, text.splitlines())) <= 80
    assert not [word for word in NEVER if word in text]


# Runs of 50 queries in files of TREC.
def write_files():
    random = np.random.default_rng(0)
    judged, old, new, ties = [], [], [], []
    for query in range(301, 351):
        for document in range(20):
            label = int(random.random() < 0.2)
            if random.random() < 0.7:
                judged.append(f"{query} 0 d{document:02} {label}")
            score = label + random.normal(0, 0.8)
            tied = round(score) if query % 2 else score
            if query != 333:
                old.append(f"{query} Q0 d{document:02} 1 {score:.4f} old")
                ties.append(f"{query} Q0 d{document:02} 1 {tied:.4f} ties")
                new.append(f"{query} Q0 d{document:02} 1 {score + random.normal(0, 0.3):.4f} new")
    Path("qrels.txt").write_text("\n".join(judged) + "\n")
    Path("prod.txt").write_text("\n".join(old) + "\n")
    Path("tied.txt").write_text("\n".join(ties) + "\n")
    Path("new.txt").write_text("\n".join(new) + "\n")


COMMANDS = {
    "17_one_run": "evaluate qrels.txt tied.txt ndcg@10 map",
    "18_gate": "compare qrels.txt prod.txt new.txt ndcg@10 --margin 0.02",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_print_what_the_files_say(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_files()
    try:
        main(COMMANDS[name].split())
    except SystemExit:
        assert name == "18_gate"
    check(name, capsys.readouterr().out.rstrip("\n"))
