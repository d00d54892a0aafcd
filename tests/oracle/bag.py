"""The bag oracle: dropping the annotation gives the rows of the query run plainly.

Counting at all ones, summed over equal rows, is a row's multiplicity; potential rows count 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.oracle.plain import Engine
from tests.oracle.rows import (
    Bag,
    OrderKey,
    Row,
    assert_ordered,
    assert_same_bag,
    assert_same_schema,
    bag_of,
    from_spark,
)

PROVENANCE = "_prov"
VALUE = "_value"
_COUNTED = 100_000


def check_bag(
    ls: Any,
    q: Any,
    sql: str,
    plain: Engine,
    *,
    grouping: bool = False,
    order: Sequence[OrderKey] = (),
    capture: Path | None = None,
) -> None:
    """Hold a query against its plain run.

    Parameters
    ----------
    ls, q
        A lipstick session and the annotated frame it made of ``sql``.
    plain
        An engine over the same relations, without lipstick.
    grouping
        Whether the outermost operator groups (GROUP BY, DISTINCT, UNION, an aggregate without
        GROUP BY): then every row is annotated with a δ or with 1, which count 1.
    order
        The ORDER BY of the statement, checked on ``q.df``.
    capture
        A folder that does not exist yet: the capture is saved there, opened without Spark, and
        its answer compared too.

    Raises
    ------
    AssertionError
        With the statement and the rows that are missing or unexpected.
    """
    from lipstick import open as open_capture
    from lipstick import semirings

    expected = plain.answer(sql)
    answer = from_spark(q.df)
    assert_same_schema(expected, answer, f"q.df\n{sql}")
    assert_same_bag(expected, answer, f"q.df\n{sql}")
    assert_ordered(answer, order, f"q.df\n{sql}")
    annotated = from_spark(q.plan.annotated).without(PROVENANCE)
    assert_same_schema(expected, annotated, f"q.plan.annotated without {PROVENANCE}\n{sql}")
    assert_same_bag(expected, annotated, f"q.plan.annotated without {PROVENANCE}\n{sql}")
    counted = from_spark(q.algebra.evaluate(semirings.Counting()))
    check_counting(expected, counted, sql, grouping=grouping)
    if capture is not None:
        q.save(str(capture))
        saved = bag_of(open_capture(str(capture)).df)
        assert_same_bag(expected, saved, f"the saved capture\n{sql}")


def check_counting(expected: Bag, counted: Bag, sql: str, *, grouping: bool = False) -> None:
    """Hold Counting at all ones against the multiplicity of every row."""
    if counted.columns[-1] != VALUE:
        raise AssertionError(
            f"the last column of q.algebra.evaluate is {VALUE}, not {counted.columns[-1]}"
        )
    rows: list[Row] = []
    for row in counted.rows:
        value = _natural(row[-1], sql)
        if grouping and value > 1:
            raise AssertionError(f"a group counts δ = 1, not {value}: {row!r}\n{sql}")
        if value + len(rows) > _COUNTED:
            raise AssertionError(f"counting gives more than {_COUNTED} rows: {row!r}\n{sql}")
        rows += [row[:-1]] * value
    by_counting = Bag(counted.columns[:-1], counted.types[:-1], tuple(rows))
    assert_same_bag(expected, by_counting, f"multiplicities by Counting at all ones\n{sql}")


def _natural(value: Any, sql: str) -> int:
    if isinstance(value, bool) or value is None or value != value:
        raise AssertionError(f"{VALUE} is {value!r}, not a natural number\n{sql}")
    if value != int(value) or value < 0:
        raise AssertionError(f"{VALUE} is {value!r}, not a natural number\n{sql}")
    return int(value)
