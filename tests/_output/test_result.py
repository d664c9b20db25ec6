import re
import sys
from dataclasses import replace
from html import escape

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold
from support.shown import Seen

from skrank_metrics import (
    QueryKFold,
    QueryRanker,
    compare,
    cross_evaluate,
    evaluate,
    ranking_scorers,
    with_qid,
)
from skrank_metrics._output.result import Note, Result, Table, Terms, text_of
from skrank_metrics.conventions import explain_difference, match_convention
from skrank_metrics.datasets import make_ranking
from skrank_metrics.model_selection import search_report
from skrank_metrics.reports import RankingReport
from skrank_metrics.splitters import audit_splits

X, Y, QID = make_ranking(40, random_state=0)
HOSTILE = "<script>alert('x')</script><b onclick=y>&\""
METRICS = [
    "ndcg@10",
    "ndcg(gain=exp2, ties=worst)@10",
    "map",
    "mrr",
    "precision(ties=worst)@5",
    "rbp(p=0.5)",
]
NAMES = [
    HOSTILE,
    "HistGradientBoostingRegressor with a learning rate of 0.05",
    "z" * 120,
    *"abcdefg",
]


def ten_reports():
    return {
        name: evaluate(Y, X[:, i].round(1), qid=QID, metrics=METRICS)
        for i, name in enumerate(NAMES)
    }


def searched():
    grid = {"estimator__alpha": np.logspace(-3, 9, 6), "estimator__fit_intercept": [True, False]}
    scoring = ranking_scorers(*METRICS)
    search = GridSearchCV(
        QueryRanker(Ridge()), grid, scoring=scoring, refit=METRICS[0], cv=QueryKFold(2)
    )
    return search_report(search.fit(X, with_qid(Y, QID)), X, Y, qid=QID, n_candidates=4)


RESULTS = {
    "report": lambda: evaluate(
        Y, X[:, 0], qid=QID, metrics=METRICS, by=np.array([HOSTILE, "long " * 30])[QID % 2]
    ),
    "one report": lambda: evaluate(Y, X[:, 0], qid=QID, metrics="map"),
    "health": lambda: evaluate(Y, X[:, 0].round(1), qid=QID, metrics=METRICS).health,
    "ten compared": lambda: compare(ten_reports()),
    "two compared": lambda: compare(list(ten_reports().values())[:2]),
    "cross-evaluation": lambda: cross_evaluate(
        dict.fromkeys(NAMES[:4], Ridge()), X, Y, qid=QID, cv=QueryKFold(2), metrics=METRICS
    ),
    "search": searched,
    "audit": lambda: audit_splits(KFold(4), X, Y, qid=np.array([f"{HOSTILE} {q}" for q in QID])),
    "difference": lambda: explain_difference(
        Y, X[:, 0].round(1), qid=QID, conventions=("sklearn", "xgboost")
    ),
    "match": lambda: match_convention(Y, X[:, 0].round(1), qid=QID, value=0.8),
}


SLOW = "ten compared", "cross-evaluation", "search"


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in RESULTS],
)
def result(request):
    return RESULTS[request.param]()


@pytest.mark.slow
def test_text_fits_80_columns(result):
    assert isinstance(result, Result)
    assert len(repr(result).splitlines()) == 1
    assert max(map(len, str(result).splitlines())) <= 80


TAGS = {"div", "table", "thead", "tbody", "tr", "th", "td"}
# Tags of a page beyond those of tables.
PAGE = {"html", "head", "meta", "title", "style", "body", "main", "h1", "p", "code", "footer"}


def spoken(section):
    """A sentence without what to call."""
    return section.sentence if isinstance(section, Note) else str(section)


def numbers(text):
    return set(re.findall(r"(?<![\w.])[-+]?\d\.\d{4}(?!\d)", text))


def test_html_holds_nothing_but_a_table_and_lines_with_every_number_of_the_text(result):
    seen = Seen(result._repr_html_())
    assert set(seen.tags) in (TAGS, {"div"}), "with or without a table"
    assert {name for name, _ in seen.attributes} <= {"style", "class", "tabindex"}
    # In HTML a table is in one piece; in text its first column may be repeated.
    assert numbers(str(result)) == numbers(re.sub(r"<[^>]*>", " ", result._repr_html_()))


def test_page_has_every_number_and_sentence_and_no_script(result, tmp_path):
    result.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    words = re.sub(r"<figure.*?</figure>", "", page, flags=re.DOTALL)
    assert set(Seen(words).tags) <= PAGE | TAGS
    assert {
        name
        for name, _ in Seen(page).attributes
        if name.startswith("on") or name in ("src", "href")
    } == set()
    assert numbers(str(result)) <= numbers(re.sub(r"<[^>]*>", " ", page))
    assert all(
        isinstance(section, Table) or escape(spoken(section)) in page for section in result._whole()
    )
    assert "More: " not in page


def test_frames_of_both_libraries_agree(result):
    pandas = result.to_frame()
    polars = result.to_frame("polars")
    columns = list(pandas) if pandas.index.name is None else [pandas.index.name, *pandas]
    assert polars.columns == columns
    assert polars.height == len(pandas) > 0


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frame_without_the_library(monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        ImportError,
        match=f"to_frame needs {library}: pip install {library}, or read the attributes",
    ):
        RESULTS["one report"]().to_frame(library)


def test_sentences_are_wrapped_and_not_cut():
    sentence = "Significantly different: " + ", ".join(f"model-{i}" for i in range(40)) + "y" * 200
    lines = text_of([sentence]).splitlines()
    assert max(map(len, lines)) <= 80
    assert "".join(lines).replace(" ", "") == sentence.replace(" ", "")


FINDINGS = [f"Finding {number}." for number in range(1, 7)]


@pytest.fixture
def report_with(monkeypatch):
    """Makes a report with a number of findings."""

    def make(n_findings):
        report = evaluate([1, 0, 0, 1], [2, 1, 2, 1], qid=["a", "a", "b", "b"], metrics="mrr")
        health = replace(report.health, findings=tuple(FINDINGS[:n_findings]))
        monkeypatch.setattr(RankingReport, "health", health)
        return replace(report)  # the first one keeps its own health

    return make


@pytest.mark.parametrize("n_findings", range(7))
def test_a_print_has_at_most_four_notes_and_says_where_the_others_are(n_findings, report_with):
    report = report_with(n_findings)
    more = "pass two rankings to compare them; intervals of single ones cannot do that"
    further = {5: ".health has 1 more finding", 6: ".health has 2 more findings"}
    shown = FINDINGS[: min(n_findings, 4)]
    assert str(report).splitlines()[3:] == [*shown, f"More: {further.get(n_findings, more)}"]
    assert all(finding in str(report.health) for finding in FINDINGS[:n_findings])


def test_a_comparison_has_four_notes_and_details_all(report_with):
    comparison = compare({"one": report_with(6), "other": report_with(6)})
    assert str(comparison).count("Finding") < len(FINDINGS)
    assert all(finding in str(comparison.details()) for finding in FINDINGS)


def test_markdown_has_tables_and_sentences_without_calls():
    class Plain(Result):
        def _sections(self):
            return [
                "Ship new|er.",
                Terms([("Ship", "a (better)")], 11),
                Table(("", "mean"), [("a*b", 0.5), ("c", None)], "2 runs"),
                Note("c has tied scores", "see .reports"),
                Note("", "More: .details()"),
            ]

    assert Plain().to_markdown().splitlines() == [
        "**Ship new\\|er.**",
        "",
        "- **Ship**: a (better)",
        "",
        "| 2 runs | mean |",
        "|---|--:|",
        "| a\\*b | 0.5000 |",
        "| c |  |",
        "",
        "- c has tied scores.",
    ]
    assert str(Plain()).splitlines() == [
        "Ship new|er.",
        "Ship         a (better)",
        "",
        "2 runs",
        "       mean",
        "a*b  0.5000",
        "c",
        "c has tied scores; see .reports.",
        "More: .details()",
    ]
