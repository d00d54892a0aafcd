"""How long arrays are, and which lists an answer shows."""

from __future__ import annotations

import pytest

from rewriter.analysis.conditional import conditional, fixed_length, shown_lists, varies
from tests.rewriter.lower.catalog import blocks

LISTED = "(SELECT dealer, collect_list(price) AS l, collect_set(model) AS s FROM cars GROUP BY 1)"


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        (f"SELECT dealer, size(l), array_max(s) FROM {LISTED}", 0),
        (f"SELECT dealer, sort_array(l) FROM {LISTED}", 0),
        (f"SELECT dealer, x FROM {LISTED} LATERAL VIEW OUTER explode(l) g AS x", 0),
        (f"SELECT dealer, s, size(l) FROM {LISTED}", 1),
        (f"SELECT l, s FROM {LISTED} WHERE size(l) > 1", 2),
        (f"SELECT l FROM {LISTED} UNION ALL SELECT s FROM {LISTED} UNION ALL SELECT array(1)", 2),
    ],
)
def test_lists_that_the_answer_shows(sql: str, shown: int) -> None:
    """Others are collected in an order, or in one that does not matter."""
    assert len(shown_lists(blocks(sql))) == shown


@pytest.mark.parametrize(
    ("array", "length"),
    [
        ("array(sum(price), 1)", 2),
        ("map('a', sum(price), 'b', 2)", 2),
        ("map('a', sum(price), 'a', 2)", None),
        ("sort_array(collect_list(price))", None),
        ("CASE WHEN sum(price) > 1 THEN array(1) END", None),
    ],
)
def test_rows_are_conditional_where_arrays_have_no_fixed_length(
    array: str, length: int | None
) -> None:
    names = "k, x" if array.startswith("map") else "x"
    sql = (
        f"SELECT x FROM (SELECT dealer, {array} AS a FROM cars GROUP BY dealer)"
        f" LATERAL VIEW explode(a) g AS {names}"
    )
    root = blocks(sql)
    assert fixed_length(root.generators[0].argument, root) == length
    assert varies(root) == conditional(root) == (length is None)
