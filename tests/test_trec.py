"""Files of TREC: what they hold, trec_eval's numbers on them, and errors that name the line."""

import gzip
import io
import random
import re
import tracemalloc
from collections import defaultdict

import numpy as np
import pytest
from support.paths import DATA

from skrank_metrics.trec import evaluate_run, read_qrels, read_run

QRELS = "301 0 a 1\n301 0 b 0\n302 0 a 2\n"
RUN = "301 Q0 a 1 2.5 tag\n301 Q0 c 2 -1.25 tag\n302 Q0 a 1 3 tag\n"


def write(tmp_path, text, name="file.txt"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_columns_of_the_files():
    qrels, run = read_qrels(io.StringIO(QRELS)), read_run(io.StringIO(RUN))
    assert qrels.qid.tolist() == ["301", "301", "302"]
    assert qrels.document.tolist() == ["a", "b", "a"]
    assert qrels.label.tolist() == [1, 0, 2]
    assert (len(run), run.n_topics) == (3, 2)
    assert repr(qrels) == "<Qrels of file: 2 topics, 3 lines>"


@pytest.mark.parametrize(
    "text",
    [
        RUN,
        RUN.replace(" ", "\t\t ").replace("\n", "\r\n"),
        "\n" + RUN.replace("\n", "\n \n"),
        RUN.rstrip(),
        "\ufeff" + RUN,
        RUN.replace("2.5", "0.25e1").replace(" 3 ", " +3. "),
        RUN.replace("-1.25", "-1.25000000000000000"),
        RUN.replace("-1.25", f"-1.25{'0' * 40}"),
        "# a comment of any number of words\n" + RUN + "#",
        RUN.replace("\n", "\n # comment\n"),
        RUN.replace("\n", "\n#301 Q0 b 2 1 tag\n"),
        RUN.replace("tag\n", "tag with blanks\n", 1),
    ],
)
def test_blanks_line_ends_and_spellings_of_numbers(text, tmp_path):
    run = read_run(write(tmp_path, text))
    assert run.qid.tolist() == ["301", "301", "302"]
    assert run.document.tolist() == ["a", "c", "a"]
    assert run.score.tolist() == [2.5, -1.25, 3.0]


def test_sources(tmp_path, monkeypatch):
    packed = write(tmp_path, gzip.compress(RUN.encode()), "run.gz")
    for source in (packed, str(packed), io.BytesIO(RUN.encode()), write(tmp_path, RUN)):
        assert read_run(source).score.tolist() == [2.5, -1.25, 3.0]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(RUN.encode())))
    assert read_run("-").score.tolist() == [2.5, -1.25, 3.0]
    for source in (RUN.encode(), RUN.splitlines(), np.zeros(3), 3):
        with pytest.raises(
            TypeError,
            match=f"^path must be a path, .-. or an open file; got {type(source).__name__}",
        ):
            read_run(source)


LATIN = "302 Q0 é 9 7 tag\n".encode("latin-1")
WRONG = [
    (
        read_run,
        "1 Q0 a 1 2\n",
        ", line 1: expected 6 fields (topic Q0 document rank score tag); got '1 Q0 a 1 2'",
    ),
    (
        read_qrels,
        "1 0 b 0 x\r\n",
        ", line 1: expected 4 fields (topic iteration document label); got '1 0 b 0 x'",
    ),
    (read_run, "1 Q0 a 1 2\n1 Q0 b 1 2 my tag\n", ", line 1: expected 6 fields"),
    (read_run, "1 Q0 a 1 2 my tag\n1 Q0 b 1 2\n", ", line 2: expected 6 fields"),
    (
        read_run,
        f"{RUN}\n302 Q0 d\x00 9 7 tag\n",
        ", line 5: expected text without NUL; got '302 Q0 d",
    ),
    (
        read_run,
        f"# run\n{RUN}\n302 Q0 d 9 x tag\n",
        ", line 6: expected a number as score; got '302 Q0 d 9 x tag'",
    ),
    (
        read_run,
        "# run\n\n" + "".join(f"1 Q0 a{n} 1 1 t\n" for n in range(40_000)) + "1 Q0 a 1 x t",
        ", line 40003: expected a number as score",
    ),
    (
        read_run,
        RUN.encode() + LATIN,
        ", line 4: expected text in UTF-8; got '302 Q0 \\\\xe9 9 7 tag'",
    ),
    (read_qrels, QRELS.encode("utf-16"), ", line 1: expected text in UTF-8; got"),
    (read_run, f"# run\n{RUN}\n301 Q0 c 9 7 tag\n", " has document 'c' of query '301' twice"),
    (read_run, gzip.compress(RUN.encode())[:-12], " must be a complete gzip file"),
    (read_qrels, "# nothing\n\n", " must hold at least one line; got none, or only comments"),
    *(
        (read_qrels, text, " must hold at least one line; got none, or only comments")
        for text in ("", " \n\n", gzip.compress(b""))
    ),
]
SCORES, LABELS = ("x7", "1.2.3", ".", "nan", "-NaN", "1_0"), ("1.5", "high", "inf", "NaN", "1e17")
WRONG += [
    (
        read_run,
        f"{RUN}1 Q0 d 1 {n} t\n",
        f", line 4: expected a number as score; got '1 Q0 d 1 {n} t'",
    )
    for n in SCORES
]
WRONG += [
    (
        read_qrels,
        f"{QRELS}1 0 d {n}",
        f", line 4: expected a whole number as label; got '1 0 d {n}'",
    )
    for n in LABELS
]


@pytest.mark.parametrize(("read", "text", "message"), WRONG, ids=range(len(WRONG)))
def test_errors_name_file_line_and_expectation(read, text, message, tmp_path):
    path = write(tmp_path, text)
    with path.open("rb") as file:
        for source in (path, file):
            with pytest.raises(ValueError, match=re.escape(f"{path}{message}")):
                read(source)


def test_fields_end_at_blanks_as_in_c():
    # Of the control characters, C's isspace and trec_eval know only those from tab to carriage return.
    run = read_run(
        io.StringIO("301\tQ0\x0bd\x1b1\x0c1 2.5 tag\n301 Q0 d\x1c1\x85\u20282 2 -1.25 tag\n")
    )
    assert run.document.tolist() == ["d\x1b1", "d\x1c1\x85\u20282"]
    assert run.score.tolist() == [2.5, -1.25]


def test_one_long_id_takes_no_more_memory_than_its_length(tmp_path):
    rows = [f"{row // 100} Q0 d{row} 1 {row}.5 t\n" for row in range(10_000)]
    path = write(
        tmp_path,
        "".join([*rows, f"100 Q0 {'d' * 20_000} 1 1.5 t\n", f"{'7' * 20_000} Q0 d1 1 1.5 t\n"]),
    )
    tracemalloc.start()
    run = read_run(path)
    assert (run.document[-2], run.qid[-1]) == ("d" * 20_000, "7" * 20_000)
    assert tracemalloc.get_traced_memory()[1] < 10e6
    tracemalloc.stop()


def numbers():
    rng = random.Random(0)
    for _ in range(3000):
        digits = rng.randrange(1, 17)
        yield f"{rng.choice(['', '-', '+'])}{rng.randrange(10**digits)}.{rng.randrange(10 ** rng.randrange(1, 6))}"
        yield f"{rng.choice(['', '-'])}{abs(rng.gauss(0, 100)):.{rng.randrange(10)}f}"
    yield from (
        "0",
        "-0",
        "007",
        "5.",
        ".5",
        "999999999999999",
        "0.00000000000001",
        "1e400",
        "-inf",
    )


def test_numbers_are_rounded_as_by_python():
    spelled = [number for number in numbers() if any(map(str.isdigit, number)) or "inf" in number]
    short = [
        number
        for number in spelled
        if len(number.lstrip("+-")) <= 15 and "e" not in number and "i" not in number
    ]
    assert len(short) > 3000
    for some in (short, spelled):
        run = read_run(
            io.StringIO("".join(f"1 Q0 d{row} 0 {number} t\n" for row, number in enumerate(some)))
        )
        assert run.score.tolist() == list(map(float, some))


def test_lines_may_have_comments_and_tags_of_several_words_between_them():
    rng = random.Random(1)
    rows = [
        (f"t{row // 7}", "d" * rng.randrange(1, 30) + str(row), str(rng.random())[:9])
        for row in range(200)
    ]
    text = "".join(f"{topic} Q0 {document} 1 {score} tag\n" for topic, document, score in rows)
    mixed = text.replace("\nt3 ", "\n# comment\n\nt3 ").replace("tag\nt9 ", "tag more\nt9 ")
    for lines in (text, mixed):
        run = read_run(io.StringIO(lines))
        assert run.qid.tolist() == [topic for topic, _, _ in rows]
        assert run.document.tolist() == [document for _, document, _ in rows]
        assert run.score.tolist() == [float(score) for _, _, score in rows]


# Measures of trec_eval that are spelled in another way here.
OTHER_NAMES = {
    "gm_map": "map(average=geometric)",
    "gm_bpref": "bpref(average=geometric)",
    "set_P": "precision(divisor=retrieved)",
    "set_recall": "recall",
    "set_F": "f1(divisor=retrieved)",
}


@pytest.mark.parametrize("score_type", ["float32", "float64"])
def test_trec_evals_own_test_run(score_type):
    folder = DATA / "trec_eval"
    if not folder.is_dir():
        pytest.skip(
            f"trec_eval's test run is not in {folder}; SKRANK_TEST_DATA can say where it is"
        )
    figures = defaultdict(dict)
    for line in (folder / "out.test.aq").read_text().splitlines():
        measure, topic, value = line.split()
        figures[measure][topic] = value
    known = ("P_", "recall_", "success_", "ndcg_cut_", "map_cut_")
    names = [name for name in figures if name.startswith(known)] + [
        "map",
        "Rprec",
        "recip_rank",
        "ndcg",
        "bpref",
    ]
    assert len(names) == 44
    ours = {name: name for name in names} | OTHER_NAMES
    run = read_run(folder / "results.test", score_type=score_type)
    report = evaluate_run(folder / "qrels.test", run, [*ours.values()])
    for name, own in ours.items():
        found = dict(zip(report.qid.tolist(), report.per_query[own], strict=True)) | {
            "all": report.mean[own]
        }
        # Geometric means are there for all topics only.
        assert {
            topic: f"{value:.4f}" for topic, value in found.items() if topic in figures[name]
        } == figures[name]


def test_topics_whose_labels_are_all_negative_count_as_0():
    # trec_eval -c divides by the number of topics in the judgments.
    qrels, run = "1 0 a -1\n1 0 b -1\n2 0 b 1\n2 0 a 0\n", "2 Q0 b 1 2 t\n2 Q0 a 2 1 t\n"
    every = evaluate_run(io.StringIO(qrels), io.StringIO(run), ["map", "bpref", "P_1"])
    assert every.qid.tolist() == ["1", "2"]
    assert every.mean == {"map": (1 + 0) / 2, "bpref": (1 + 0) / 2, "P_1": (1 + 0) / 2}
    assert (
        evaluate_run(io.StringIO(qrels), io.StringIO(run), "map", missing="skip").mean["map"] == 1
    )


@pytest.mark.option("trec.read_run.score_type", "evaluate_run.convention")
def test_scores_are_compared_in_float32_or_float64():
    def mrr(text, metric="mrr", *, score_type=None, **options):
        run = read_run(io.StringIO(text), score_type=score_type)
        return evaluate_run(io.StringIO("1 0 a 1"), run, metric, **options).mean[metric]

    run = "1 Q0 a 1 1.000000002 t\n1 Q0 b 2 1.000000001 t"
    assert mrr(run) == mrr(run, score_type="float32") == 1 / 2, (
        "in float32 they tie, and the last id comes first"
    )
    assert mrr(run, convention="sklearn") == mrr(run, score_type="float64") == 1
    in_float32 = mrr(run, "mrr(ties=worst)", convention="sklearn", score_type="float32")
    assert in_float32 == 1 / 2
    large = "1 Q0 a 1 1e300 t\n1 Q0 b 2 2e300 t\n1 Q0 c 3 1e30 t"
    assert mrr(large) == mrr(large, convention="sklearn") == 1 / 2, (
        "infinite in float32, and thus tied"
    )
    assert mrr(large, "mrr(ties=best)") == 1
    with pytest.raises(ValueError, match="score_type must be one of"):
        mrr(run, score_type="float16")


def test_a_blank_in_an_id_does_not_make_the_rank_a_score(tmp_path):
    path = write(tmp_path, "1 Q0 b 1 3 tag\n1 Q0 my doc 2 2.5 tag\n")
    with pytest.raises(
        ValueError, match=r"line 2: expected 6 fields .*, with blanks only in the tag"
    ):
        read_run(path)


def test_a_rank_may_be_anything_if_no_field_moved(tmp_path):
    path = write(tmp_path, "1 Q0 a 1 3 a tag\n1 Q0 b -1.0 2 a tag\n1 Q0 c none 1 tag\n")
    run = read_run(path)
    assert run.document.tolist() == ["a", "b", "c"]
    assert run.score.tolist() == [3, 2, 1]
