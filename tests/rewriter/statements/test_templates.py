"""Queries over views are written once, whichever names the views have."""

from __future__ import annotations

import pytest

from rewriter.statements import Bags, Relations, parse_statement, reenact
from rewriter.statements.deltas import hypothetical, keys_of, union_all, within
from rewriter.statements.model import TableColumn, TableShape
from rewriter.statements.templates import for_all_views

A, B, C, D = (f"_lipstick_replay_{letter * 12}" for letter in "abcd")


def test_texts_have_the_names_that_they_are_written_for() -> None:
    for first, second in ((A, B), (C, D), (B, A), (D, D)):
        bags = Bags(first, None, second)
        assert hypothetical(bags).split() == (
            f"SELECT * FROM ( SELECT * FROM `{first}` ) AS _lipstick_rows "
            f"UNION ALL SELECT * FROM `{second}`".split()
        )
        both = [f"SELECT * FROM `{first}`", f"SELECT 1 AS a FROM `{second}`"]
        assert union_all(both) == union_all.__wrapped__(both)  # type: ignore[attr-defined]
        queries = [(both[0], "t", ["t.k", "t.l"])]
        assert keys_of(queries) == keys_of.__wrapped__(queries)  # type: ignore[attr-defined]
        arguments = (both[0], "t", ["t.k", "t.l"], second, (["1", None], None))
        assert within(*arguments) == within.__wrapped__(*arguments)  # type: ignore[attr-defined]


def test_statements_with_the_same_text_are_told_apart() -> None:
    """A statement in which a moment is a literal has the text of the one with the function."""
    shape = TableShape((TableColumn("k", "int"), TableColumn("v", "int")))
    for text in ("UPDATE t SET v = 1", "UPDATE t SET v = 2 WHERE k = 1"):
        statement = parse_statement(text)
        for view in (A, B):
            written = reenact(statement, shape, Relations(view))
            assert written == reenact.__wrapped__(  # type: ignore[attr-defined]
                statement, shape, Relations(view)
            )
            assert written.touched is not None
            assert view in written.touched


def test_a_function_is_called_once_for_all_names() -> None:
    calls = list[str]()

    @for_all_views
    def write(view: str, number: int = 1) -> tuple[str, None, int]:
        calls.append(view)
        if number < 0:
            raise ValueError(view)
        return f"{view} {number}", None, number

    assert write(A) == (f"{A} 1", None, 1)
    assert write(B) == (f"{B} 1", None, 1)
    assert write(B, 2) == write(B, number=2) == (f"{B} 2", None, 2)
    assert calls == [A, B, B]
    for _ in range(2):
        with pytest.raises(ValueError, match=A):
            write(A, -1)
    assert len(calls) == 5
