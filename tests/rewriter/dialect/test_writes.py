"""`read_write`: what a statement writes where, and the query whose answer it is."""

from pathlib import Path

import pytest

from rewriter.dialect import Into, first_word, parse, read_write
from rewriter.errors import QueryError, UnsupportedError
from tests.rewriter.cases import ERROR, EXPECTED, Case, cases, check, strays

FOLDER = Path(__file__).parent / "cases"
KINDS = (EXPECTED, ERROR)


@pytest.mark.parametrize("case", cases(FOLDER).values(), ids=str)
def test_case(case: Case) -> None:
    """The statement that writes a view instead, and the query where it stands; or an error."""
    texts = {}
    try:
        write = read_write(case.given)
    except QueryError as error:
        texts[ERROR] = f"{type(error).__name__}: {error}"
    else:
        if write is not None:
            told = f"-- {write.action.value}: {' / '.join(write.target)}"
            if write.into != Into():
                told += f"\n-- {write.into}"
            texts[EXPECTED] = f"{told}\n{write.of_view('answer')};\n{write.query}"
    check(case, texts, KINDS)


def test_no_strays() -> None:
    assert len(cases(FOLDER)) > 25
    assert not strays(FOLDER, KINDS)


def test_errors_of_the_query_are_at_its_place_in_the_text() -> None:
    """Blanks stand for what is before it."""
    write = read_write("INSERT INTO totals\n  SELECT sum(n) FROM cars FROM")
    assert write is not None
    with pytest.raises(QueryError) as caught:
        parse(write.query)
    assert caught.value.span is not None
    assert caught.value.span.line == 2


def test_text_without_end_is_left_to_spark() -> None:
    assert read_write("INSERT INTO totals SELECT 'a") is None


def test_text_that_spark_would_not_read_either() -> None:
    for text in (
        "INSERT INTO t",
        "INSERT INTO t (a",
        "INSERT INTO t (",
        "INSERT INTO t PARTITION (a =",
    ):
        with pytest.raises(UnsupportedError, match="at 1:"):
            read_write(text)


def test_first_word_comes_after_comments() -> None:
    assert first_word("-- of the night\n/* MERGE */ update t SET a = 1") == "UPDATE"
    assert [first_word(text) for text in ("", "-- nothing", "`merge`", "'")] == ["", "", "", ""]
