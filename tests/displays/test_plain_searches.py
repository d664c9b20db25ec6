"""Pictures of random searches and audits: candidates, curves, maps and folds against loops over their results."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from support.pictures import plain, row_names, tick_texts, widths, written

from skrank_metrics import ranking_scorers
from skrank_metrics.displays import CVResultsDisplay, GridDisplay, style
from skrank_metrics.splitters import audit_splits

METRICS = ["mrr", "ndcg@10"]
# Values of parameters, with their texts: numbers of two types, and values that have no order.
VALUES = {
    "est__alpha": {10.0: "10", 0.25: "0.25", 3: "3"},
    "est__solver": {"svd": "svd", None: "None", "lsqr": "lsqr"},
    "est__tol": {0.001: "0.001", 0.5: "0.5"},
}


def text_of(name, value):
    return VALUES[name].get(value, "None")


def random_names(random, seed):
    """One to three parameters, in random order."""
    names = random.permutation([*VALUES])
    return names[: seed % 3 + 1].tolist()


class Search:
    """A fitted search with random candidates, some of which failed in a fold or lack a parameter."""

    def __init__(self, random, names):
        n = int(random.integers(6, 16))
        self.params = []
        for number in range(n):
            candidate = {}
            for name in names:
                values = [*VALUES[name]]
                draw = random.integers(len(values))
                candidate[name] = values[draw]
            if number and len(names) > 1 and random.random() < 0.2:
                candidate.pop(names[0])
            self.params.append(candidate)
        # Of each parameter, all values are there.
        for number in range(3):
            candidate = {}
            for name in names:
                values = [*VALUES[name]]
                candidate[name] = values[number % len(values)]
            self.params[number] = candidate
        # The first ones may lack a parameter, as those of a list of grids can.
        self.params.sort(key=len)
        self.folds = {}
        found = {"params": self.params}
        for metric in METRICS:
            scores = random.random((n, 3)).round(3)
            scores[random.random(n) < 0.3, 1] = np.nan
            scores[3] = 0.5
            self.folds[metric] = scores
            found[f"mean_test_{metric}"] = scores.mean(axis=1)
            for fold in range(3):
                found[f"split{fold}_test_{metric}"] = scores[:, fold]
        scoring = ranking_scorers(*METRICS)
        self.search = GridSearchCV(Ridge(), {"alpha": [1]}, scoring=scoring, refit="ndcg@10")
        self.search.cv_results_ = found
        self.search.scorer_ = scoring

    def whole(self, metric):
        """Candidates with a score in every fold, the best first."""
        means = self.folds[metric].mean(axis=1)
        rows = np.flatnonzero(~np.isnan(means)).tolist()
        return sorted(rows, key=lambda row: -means[row])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_candidates_are_drawn_as_the_results_of_the_search(seed):
    random = np.random.default_rng([seed, 1])
    names = random_names(random, seed)
    search = Search(random, names)
    metric = [None, "mrr"][seed // 2]
    shown = metric or "ndcg@10"
    rows = search.whole(shown)
    ax = CVResultsDisplay.from_result(search.search, metric=metric).ax_
    rows = rows[:10]
    labels = []
    for row in rows:
        parts = []
        for name, value in search.params[row].items():
            short = name.removeprefix("est__")
            parts.append(f"{short}={text_of(name, value)}")
        params = ", ".join(parts)
        labels.append(f"#{row + 1} {params}")
    assert row_names(ax) == labels
    scores = search.folds[shown]
    means = [scores[row].mean() for row in rows]
    assert written(ax) == [f"{mean:.4f}" for mean in means]
    for place, (row, text) in enumerate(zip(rows, ax.texts, strict=True)):
        folds = ax.lines[2 * place]
        mean = ax.lines[2 * place + 1]
        assert folds.get_xdata().tolist() == scores[row].tolist()
        assert mean.get_xdata().tolist() == pytest.approx([means[place]])
        colour = style.LIGHT.soft if place else style.LIGHT.best
        assert mean.get_color() == text.get_color() == colour
    label = f"{shown}, mean and each of 3 folds"
    n = len(search.params)
    if len(labels) < n:
        label += f", best {len(labels)} of {n} candidates"
    assert plain(ax.get_xlabel()) == label


def texts_by_value(candidates, name):
    """Texts of the values of a parameter: numbers by size, others in the order of the candidates."""
    values = [candidate.get(name) for candidate in candidates]
    if name != "est__solver" and None not in values:
        values.sort()
    return list(dict.fromkeys(text_of(name, value) for value in values))


def best_by_value(search, metric, names):
    """The best candidate for each combination of values that has one."""
    best = {}
    for row in search.whole(metric):
        params = search.params[row]
        values = [text_of(name, params.get(name)) for name in names]
        best.setdefault(tuple(values), row)
    return best


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_scores_over_parameters_are_the_best_of_the_search(seed):
    random = np.random.default_rng([seed, 2])
    names = random_names(random, seed)
    search = Search(random, names)
    metric = [None, "mrr"][seed % 2]
    shown = metric or "ndcg@10"
    chosen = None
    if len(names) > 2 or seed >= 4:
        chosen = names[seed % 2 :][:2]
    # A name that is given twice is one parameter.
    params = None if chosen is None else [*chosen, chosen[0]]
    ax = GridDisplay.from_result(search.search, params=params, metric=metric).ax_
    names = chosen or list(dict.fromkeys(name for one in search.params for name in one))
    best = best_by_value(search, shown, names)
    folds_of_rows = search.folds[shown]
    means = {values: folds_of_rows[row].mean() for values, row in best.items()}
    texts = [texts_by_value(search.params, name) for name in names]
    short = [name.removeprefix("est__") for name in names]
    assert tick_texts(ax.xaxis) == texts[-1]
    first = next(iter(best))
    if len(names) == 2:
        check_map(ax, texts, means, first)
        assert ax.get_ylabel() == short[0]
        label = plain(ax.get_xlabel())
        assert label == f"{short[1]} {shown}, mean over folds"
        return
    *folds, curve, mark = ax.lines
    expected = [means.get((text,), np.nan) for text in texts[0]]
    np.testing.assert_allclose(curve.get_ydata(), expected)
    for number, fold in enumerate(folds):
        by_value = {value: folds_of_rows[row, number] for (value,), row in best.items()}
        scores = [by_value.get(text, np.nan) for text in texts[0]]
        np.testing.assert_array_equal(fold.get_ydata(), scores)
    place_of_best = texts[0].index(first[0])
    assert mark.get_xdata().tolist() == [place_of_best]
    assert mark.get_ydata().tolist() == pytest.approx([means[first]])
    assert mark.get_color() == ax.texts[0].get_color() == style.LIGHT.best
    assert written(ax) == [f"{means[first]:.4f}"]
    assert ax.get_xlabel() == short[0]
    assert plain(ax.get_ylabel()) == f"{shown}, mean and each fold"


def check_map(ax, texts, means, best):
    """Each cell has the mean of its values, and the best of all is bold."""
    rows, columns = texts
    assert tick_texts(ax.yaxis) == rows
    cells = {}
    for text in ax.texts:
        column, row = text.xy
        cells[rows[int(row)], columns[int(column)]] = text
    expected = {values: f"{mean:.4f}" for values, mean in means.items()}
    assert {values: plain(text.get_text()) for values, text in cells.items()} == expected
    bold = [values for values, text in cells.items() if text.get_weight() == "bold"]
    assert bold == [best]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_folds_are_drawn_as_their_audit(seed):
    random = np.random.default_rng([seed, 3])
    n = 60
    qid = random.integers(0, 12, n)
    y = random.integers(0, 2, n)
    unit = [qid, np.arange(n), qid // 2][seed % 3]
    splits = []
    for _ in range(seed + 1):
        is_tested = random.random(n) < 0.4
        side = is_tested[unit]
        side[0] = not side[-1]
        splits.append((~side, side))
    groups = qid // 3 if seed % 2 else None
    report = audit_splits(splits, None, y, qid=qid, groups=groups)
    display = report.plot()
    frame = report.to_frame()
    kinds = [name for name in frame if name.startswith(("leaking", "cut"))]
    leaks = frame[kinds].sum(axis=1).tolist()
    names = []
    for fold, number in enumerate(leaks):
        name = f"fold {fold}"
        if number:
            name += f": {number} leak"
        if number > 1:
            name += "s"
        names.append(name)
    assert row_names(display.ax_) == names
    look = style.LIGHT
    colours = [label.get_color() for label in display.ax_.get_yticklabels()]
    assert colours == [look.alarm if number else look.ink for number in leaks]
    queries, documents, shares = display.axes_
    assert widths(queries) == [*frame["queries"], *frame["leaking"]]
    assert widths(documents) == frame["documents"].tolist()
    assert widths(shares) == frame["share_relevant"].tolist()
    assert written(shares) == [f"{share:.1%}" for share in frame["share_relevant"]]
    n_leaking = sum(number > 0 for number in leaks)
    found = "no leaks"
    if n_leaking:
        noun = "folds" if len(splits) > 1 else "fold"
        found = f"leaks in {n_leaking} of {len(splits)} {noun}"
    title = plain(display.figure_.get_suptitle())
    assert title == f"an iterable of (train, test): {found}"
