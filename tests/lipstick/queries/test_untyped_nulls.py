"""NULLs of no type: they take the type of what they are united with, in captures too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.oracle.small import Oracles, oracles, small

PHONES = small(
    "p",
    "id int, customer int, kind string, phone string",
    [(1, 1, "home", "1"), (2, 1, "work", "0"), (3, 2, "work", "0"), (4, 2, "home", "23")],
)
MADE = {
    "distinct": "SELECT DISTINCT customer, {0} AS x FROM p",
    "group": "SELECT customer, max({0}) AS x FROM p GROUP BY customer",
    "union": "SELECT customer, {0} AS x FROM p WHERE id = 1 UNION SELECT customer, {0} FROM p",
}


@pytest.fixture(scope="module")
def on(spark: SparkSession) -> Iterator[Oracles]:
    with oracles(spark, PHONES) as both:
        yield both


@pytest.mark.many(10)
@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize(
    ("nulls", "values"),
    [
        ("NULL", "phone"),
        ("NULL", "id"),
        ("NULL", "DATE'2024-01-01'"),
        ("array()", "array(phone)"),
        ("named_struct('a', NULL)", "named_struct('a', phone)"),
    ],
)
def test_a_union_with_values(on: Oracles, made: str, nulls: str, values: str) -> None:
    nothing = MADE[made].format(nulls)
    both = f"{nothing} UNION SELECT customer, {values} FROM p"
    on.hold(both, {"p": [1]}, {"p": [2, 3]}, {"p": [3, 4]}, offline=False)
    largest = f"SELECT customer, max(x) AS x FROM ({both}) GROUP BY customer"
    on.hold(largest, {"p": [2]}, {"p": [3, 4]}, offline=False)


def test_one_column_for_each_kind(on: Oracles) -> None:
    """As people turn rows into columns."""
    on.hold(
        "SELECT customer, max(home) AS home, max(work) AS work, max(other) AS other FROM ("
        "SELECT customer, phone AS home, NULL AS work, NULL AS other FROM p WHERE kind = 'home' "
        "UNION SELECT customer, NULL, phone, NULL FROM p WHERE kind = 'work' "
        "UNION SELECT customer, NULL, NULL, phone FROM p WHERE kind = 'mobile') GROUP BY customer",
        {"p": [1]},
        {"p": [2, 3]},
    )
