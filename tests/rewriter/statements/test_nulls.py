"""The rows with NULL that Iceberg may remove where SQL keeps them."""

from __future__ import annotations

import pytest

from rewriter.statements import (
    Relations,
    TableColumn,
    TableShape,
    doubtful_removal,
    parse_statement,
    reenact,
)

SHAPE = TableShape((TableColumn("k", "INT"), TableColumn("c", "STRING")))


@pytest.mark.parametrize(
    "text", ["DELETE FROM db.t AS x WHERE {}", "INSERT INTO t REPLACE WHERE {} SELECT 1, 'x'"]
)
@pytest.mark.parametrize(
    ("condition", "in_any", "in_partitions"),
    [
        ("k = 5", None, None),
        ("k IN (1, 2) OR c LIKE 'x%'", None, None),
        ("k IS NOT NULL", None, None),
        ("NOT k <=> 5", None, None),
        ("NOT k <> 5", None, None),
        ("k <> (SELECT 1)", None, None),
        ("k < 5", None, "COALESCE(k < 5, TRUE)"),
        ("k BETWEEN 1 AND 2", None, "COALESCE(k BETWEEN 1 AND 2, TRUE)"),
        ("k <> 5", "COALESCE(k <> 5, TRUE)", "COALESCE(k <> 5, TRUE)"),
        (
            "NOT (k <> 5 OR c = 'x')",
            "NOT (k <> 5) AND COALESCE(NOT (c = 'x'), TRUE)",
            "NOT (k <> 5) AND COALESCE(NOT (c = 'x'), TRUE)",
        ),
        (
            "NOT (k >= 5 AND c NOT LIKE 'x%')",
            None,
            "COALESCE(NOT (k >= 5), TRUE) OR c LIKE 'x%'",
        ),
    ],
)
def test_conditions_that_null_may_pass(
    text: str, condition: str, in_any: str | None, in_partitions: str | None
) -> None:
    """None: where NULL passes in files, it does in SQL, or Spark decides on each row."""
    statement = parse_statement(text.format(condition))
    for partitioned, expected in ((False, in_any), (True, in_partitions)):
        removal = doubtful_removal(statement, partitioned=partitioned)
        if expected is None:
            assert removal is None
            continue
        assert removal is not None
        touched = reenact(removal, SHAPE, Relations("before")).touched
        assert touched is not None
        passes = " ".join(touched.split()).replace("( ", "(").replace(" )", ")")
        assert passes.partition(" WHERE ")[2].startswith(
            (f"{expected} AND NOT", f"({expected}) AND NOT")
        )


def test_other_statements_remove_by_rows() -> None:
    for text in ("UPDATE t SET k = 1 WHERE k <> 5", "DELETE FROM t", "INSERT INTO t SELECT 1, 'x'"):
        assert doubtful_removal(parse_statement(text), partitioned=True) is None
