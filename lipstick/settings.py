"""Settings of a session by which Spark reads a text otherwise than it is read here."""

from __future__ import annotations

from pyspark.sql import SparkSession

from lipstick.errors import UnsupportedError

_READ_AS = {
    "spark.sql.groupByOrdinal": ("true", "integers in GROUP BY are places in the select list"),
    "spark.sql.orderByOrdinal": ("true", "integers in ORDER BY are places in the select list"),
    "spark.sql.legacy.parser.havingWithoutGroupByAsWhere": ("false", "HAVING makes a grouping"),
}
"""By setting the value that texts are read by, and what it means."""


def check_settings(spark: SparkSession, query: str) -> None:
    """Refuse a query where a setting gives it another meaning than it would be read to have.

    Raises
    ------
    UnsupportedError
        With the setting, and the value that it must have.
    """
    for name, (expected, meaning) in _READ_AS.items():
        if str(spark.conf.get(name, expected)).lower() != expected:
            raise UnsupportedError(
                f"queries are not understood where {name} is not {expected}",
                f"Set it to {expected}, by which {meaning}, and write the query accordingly.",
                query,
            )
