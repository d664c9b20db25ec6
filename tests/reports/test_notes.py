"""Notes of a comparison about the health of some rankings: which ones, and how to see more."""

from dataclasses import replace

from support.command_line import as_command
from support.ranks import report_of_ranks

from skrank_metrics.reports.wording import findings

TIES = "Ties: 2% of the documents are tied."


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
    assert notes_of(a=[TIES], b=[]) == [
        "a has tied scores. To see more, print .reports['a'].health of this comparison."
    ]
    assert notes_of(a=[], b=[TIES], c=[TIES.replace("2%", "3%")]) == [
        "b and c have tied scores. To see more, print .reports['b'].health of this comparison."
    ]


def test_two_findings_of_a_kind_name_a_ranking_once():
    (note,) = notes_of(a=[TIES, TIES.replace("2%", "9%")], b=[])
    assert note.startswith("a has tied scores.")


def test_what_all_rankings_have_is_said_once():
    assert notes_of(a=[TIES], b=[TIES]) == [TIES]


def test_a_sentence_about_queries_stays_a_sentence():
    lost = "1 query has no judged document and is left out of mrr."
    assert notes_of(a=[lost], b=[]) == [f"a: {lost}"]


def test_the_command_line_names_a_command():
    notes, _ = as_command(notes_of, a=[TIES], b=[])
    assert notes == ["a has tied scores. To see more, run skrank-metrics evaluate for a alone."]
