import datetime
import os
import re
import stat
import sys
import threading

import numpy as np
import pytest
import sklearn
from support.shown import Seen

import skrank_metrics
from skrank_metrics import compare, evaluate, make_metric
from skrank_metrics._output.result import Result, Table
from skrank_metrics.conventions import explain_difference, match_convention

HOSTILE = "<script>alert('x')</script><img src=x onerror=y>&\""
LABELS = [1, 0, 0, 1, 0, 1]
SCORES = [2, 1, 2, 1, 2, 2]
QID = ["a", "a", "b", "b", "c", "c"]


def page_of(result, tmp_path, **options):
    result.to_html(tmp_path / "page.html", **options)
    return (tmp_path / "page.html").read_text(encoding="utf-8")


class Hostile(Result):
    def _sections(self):
        return [HOSTILE, Table((HOSTILE, HOSTILE), [(HOSTILE, 1)]), HOSTILE, "not UTF-8: a\udc80b"]


def test_page_escapes_all_that_it_shows_loads_nothing_and_forbids_scripts(tmp_path):
    html = page_of(Hostile(), tmp_path)
    assert "default-src 'none'; style-src 'unsafe-inline'" in html
    assert re.findall(r"url\(|@import|https?:", html) == []
    seen = Seen(html)
    assert seen.open == []
    assert {"script", "img"}.isdisjoint(seen.tags)
    assert seen.text.count(HOSTILE) == 6, "title twice, both heads, cell and sentence"
    assert "not UTF-8: a\\udc80b" in seen.text
    assert [
        name for name, _ in seen.attributes if name.startswith("on") or name in ("src", "href")
    ] == []


@pytest.fixture(scope="module")
def results():
    report = evaluate(
        LABELS, SCORES, qid=QID, metrics=["mrr", "dcg"], by=["x", "x", "y", "y", "y", "y"]
    )
    return {
        "report": report,
        "difference": explain_difference(LABELS, SCORES, qid=QID),
        "match": match_convention(LABELS, SCORES, qid=QID, value=0.9),
        "health": report.health,
        "inspection": report.inspect(["a", "b"]),
    }


def test_a_page_begins_with_a_heading_in_words_and_ends_with_versions(results, tmp_path):
    report = results["report"]
    text = Seen(page_of(report, tmp_path)).text
    assert text.count("mrr is 0.7500 over 3 queries") == 2, "in the window and on top"
    assert "dcg: Discounted cumulative gain" in text, "a sentence on each metric"
    versions = f"skrank_metrics {skrank_metrics.__version__}, NumPy {np.__version__}, "
    versions += f"scikit-learn {sklearn.__version__}"
    assert f"{datetime.date.today():%d %B %Y}. {versions}" in text
    assert (
        Seen(page_of(results["health"], tmp_path)).text.count("Findings about labels and scores")
        == 2
    )
    text = Seen(page_of(report, tmp_path, title=HOSTILE)).text
    start = f"{HOSTILE}{HOSTILE}3 queries"
    assert "".join(text.split()).startswith("".join(start.split()))


def test_a_page_has_the_picture_of_its_result_if_there_is_one(results, tmp_path, monkeypatch):
    for kind in ("report", "health"):
        html = page_of(results[kind], tmp_path)
        assert ("<svg" in html) == (kind == "report")
        assert html.find("<svg") < 0 or html.index("<table") < html.index("<svg"), (
            "below the first table"
        )
    with pytest.raises(TypeError, match="There is no picture of a Health"):
        results["health"].plot()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "<svg" not in page_of(results["report"], tmp_path)


def test_repr_is_one_line_and_computes_nothing(results, monkeypatch):
    for result in results.values():
        monkeypatch.setattr(type(result), "_sections", None)
        assert re.fullmatch(rf"<{type(result).__name__}: .*>", repr(result))


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_a_page_replaces_another_and_keeps_its_mode(results, tmp_path, mode):
    path = tmp_path / "page.html"
    path.write_text("before")
    path.chmod(mode)
    assert page_of(results["health"], tmp_path).startswith("<!DOCTYPE html>")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert os.listdir(tmp_path) == ["page.html"], "nothing else stays"


def test_a_new_page_has_the_usual_mode(results, tmp_path):
    (tmp_path / "usual").touch()
    page_of(results["health"], tmp_path)
    assert (tmp_path / "page.html").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_new_page_cannot_be_read_by_others_before_it_has_the_mode_of_the_old_one(
    results, tmp_path, monkeypatch
):
    seen = []
    chmod = os.chmod

    def look(path, mode):
        seen.append(stat.S_IMODE(os.stat(path).st_mode))
        chmod(path, mode)

    (tmp_path / "page.html").touch()
    monkeypatch.setattr(os, "chmod", look)
    results["health"].to_html(tmp_path / "page.html")
    assert seen == [0o600]


def test_a_pipe_is_written_to_and_stays(results, tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    found = []
    reader = threading.Thread(
        target=lambda: found.append(path.read_text(encoding="utf-8")), daemon=True
    )
    reader.start()
    results["health"].to_html(path)
    reader.join(timeout=10)
    assert found[0].startswith("<!DOCTYPE html>")
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_link_stays_a_link(results, tmp_path):
    (tmp_path / "link.html").symlink_to(tmp_path / "page.html")
    results["health"].to_html(str(tmp_path / "link.html"))
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "page.html").is_file()


@pytest.mark.parametrize("path", ["missing/page.html", "folder", "folder/"])
def test_a_path_that_cannot_be_written_is_named_and_stays(results, tmp_path, path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(
        OSError, match=r"path must be a writable file: .*" + re.escape(path)
    ) as caught:
        results["health"].to_html(f"{tmp_path}/{path}")
    assert caught.value.filename == f"{tmp_path}/{path}"
    assert [file.name for file in tmp_path.rglob("*")] == ["folder"]


def test_a_file_that_must_not_be_written_stays(results, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("before")
    path.chmod(stat.S_IREAD)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everything
    with pytest.raises(PermissionError, match=r"page\.html"):
        results["health"].to_html(path)
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["page.html"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_nothing_is_left_of_a_file_that_was_not_finished(results, tmp_path, monkeypatch, error):
    def failing(*_, **__):
        raise error

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(type(error)):
        results["health"].to_html(tmp_path / "page.html")
    assert os.listdir(tmp_path) == []


def explained(page):
    """What a page says about words, by the words."""
    sentences = re.findall('<p class="note">([^<]*)</p>', page)
    return {word: text for word, colon, text in (one.partition(": ") for one in sentences) if colon}


def test_pages_say_what_the_columns_mean(tmp_path):
    labels = [1, 0] * 9
    qid = [number // 2 for number in range(18)]
    scores = {"good": [2, 1] * 9, "bad": [1, 2] * 9}
    report = evaluate(labels, scores["good"], qid=qid, metrics="mrr")
    heads = {"mean", "95% interval", "undefined queries", "mrr"}
    assert heads <= explained(page_of(report, tmp_path)).keys()
    found = evaluate(labels, scores, qid=qid, metrics="mrr")
    heads = {"minus good", "95% interval", "status", "mrr"}
    assert heads <= explained(page_of(found, tmp_path)).keys()
    against = compare(found, baseline="bad")
    meaning = "The mean minus that of the ranking in the head."
    assert explained(page_of(against, tmp_path))["minus bad"] == meaning
    assert meaning not in str(against), "on pages only"


def first_label(labels):
    """Label of the first document."""
    return labels[0]


def test_a_page_explains_own_metrics_by_their_docstring(tmp_path):
    metrics = [make_metric(first_label), make_metric(lambda labels: 1.0, name="one")]
    text = Seen(page_of(evaluate([[1, 0]], [[2, 1]], metrics=metrics), tmp_path)).text
    assert "first_label: Label of the first document." in text
    assert "one: " not in text


def test_the_page_of_a_gate_has_the_queries_that_lose_most(tmp_path):
    scores = {"old": [2, 1] * 9, "new": [*[1, 2] * 2, *[2, 1] * 7]}
    qid = [f"query {number // 2}" for number in range(18)]
    found = evaluate([1, 0] * 9, scores, qid=qid, metrics="mrr")
    text = Seen(page_of(compare(found, baseline="old", margin=0.1), tmp_path)).text
    assert "Queries on which new loses most against old, by mrr" in text
    assert "query 00.50001.0000-0.5000query 10.50001.0000-0.5000" in text
    assert "loses most" not in Seen(page_of(found, tmp_path)).text
