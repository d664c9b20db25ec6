"""Names of any length leave results and errors short."""

import pytest

from skrank_metrics import compare, evaluate

LONG = "n" * 20_000
LABELS = [1, 0, 0, 1]
QID = [1, 1, 2, 2]
GOOD = evaluate(LABELS, [2, 1, 1, 2], qid=QID, metrics="mrr")
POOR = evaluate(LABELS, [1, 2, 2, 1], qid=QID, metrics="mrr")
# Cut names of 240 characters are in tables, sentences and their styles several times.
MOST = 10_000


def test_results_with_long_names_are_short(tmp_path):
    found = compare({LONG: GOOD, "poor": POOR})
    found.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    for text in (str(found), found._repr_html_(), page.partition("<body>")[2].partition("<svg")[0]):
        assert "nnn..." in text
        assert len(text) < MOST


def test_errors_with_long_names_are_short():
    wrong = {
        "baseline must be": lambda: compare({"good": GOOD, "poor": POOR}, baseline=LONG),
        "baseline must be one of": lambda: compare({LONG: GOOD, "poor": POOR}, baseline="x"),
        "reports must hold": lambda: compare({"good": GOOD, LONG: 3}),
        "y_score": lambda: evaluate(LABELS, {LONG: [1]}, qid=QID),
    }
    for message, call in wrong.items():
        with pytest.raises((TypeError, ValueError), match=message) as raised:
            call()
        assert len(str(raised.value)) < 500
