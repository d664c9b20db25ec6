"""Notes of a comparison about the health of some rankings: which ones, and how to see more."""

from dataclasses import replace

from skrank_metrics.decisions.wording import findings
from support.ranks import report_of_ranks

from skrank_metrics import compare, evaluate

TIES = "2% of the queries have tied scores."


def reports_with(**sentences):
    report = report_of_ranks([1, 2])
    found = {}
    for name, own in sentences.items():
        found[name] = replace(report)
        found[name].__dict__["health"] = replace(report.health, findings=tuple(own))
    return found


def notes_of(**sentences):
    return list(findings(reports_with(**sentences)))


def test_what_some_rankings_have():
    assert notes_of(a=[TIES], b=[]) == ["a has tied scores; see the report of a."]
    others = TIES.replace("2%", "3%")
    expected = ["b and c have tied scores; see the report of b."]
    assert notes_of(a=[], b=[TIES], c=[others]) == expected
    assert notes_of(a=[], b=[TIES, others], c=[others]) == expected, "each is named once"


def test_what_all_rankings_have_is_said_once():
    assert notes_of(a=[TIES], b=[TIES]) == [TIES]


def test_a_sentence_about_queries_stays_a_sentence():
    lost = "1 query has no judged document and is left out of mrr."
    assert notes_of(a=[lost], b=[]) == [f"a: {lost}"]


def test_the_margin_is_said_if_all_rankings_are_better():
    y = [1, 0] * 20
    qid = [query for query in range(20) for _ in range(2)]
    board = evaluate(y, {"old": [1, 2] * 20, "new": [2, 1] * 20}, qid=qid, metrics="mrr")
    note = "Margin of mrr: losses below 0.02 do not matter."
    compared = compare(board, baseline="old", margin=0.02)
    assert compared.verdict.startswith("Ship new. With 95% confidence, new is better than old.")
    assert note in compared.notes()
    assert not any(note.startswith("Margin") for note in compare(board, baseline="old").notes())
