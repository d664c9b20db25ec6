import pytest

from skrank_metrics._input.formats import format_of, line_of_row


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.pq", "parquet"),
        ("A.PARQUET", "parquet"),
        ("a.b.Csv.gz", "csv"),
        ("a.tsv", "tsv"),
        ("a.feather", "arrow"),
        ("a.parquet.gz", None),  # pyarrow does not unpack these
        ("a.gz", None),
        ("csv", None),
    ],
)
def test_formats_by_endings(name, expected):
    assert format_of(name) == expected


def test_the_line_of_a_row_counts_the_header_blank_lines_and_lines_in_cells():
    text = b'a,b\n\n1,"x\ny"\n2,z\n'
    assert [line_of_row(text, ",", row) for row in (0, 1)] == [3, 5]


def test_without_a_reader_for_long_cells_lines_are_those_of_rows():
    assert line_of_row(b"a\n" + b"x" * 200_000 + b"\n1\n", ",", 1) == 3
