"""The meaning of names: what Spark's catalog finds by them, however they are spelt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lipstick.tracking.views import quoted_name

Identity: TypeAlias = tuple[str, ...]
"""The catalog, schema and table that a name means; a temporary view has no catalog."""

_SESSION_CATALOG = "spark_catalog"


def identity_of(spark: SparkSession, parts: Sequence[str]) -> Identity | None:
    """Return the table or view of the catalog that a name means; None: a path, or nothing."""
    name = quoted_name(parts)
    try:
        if not spark.catalog.tableExists(name):
            return None
        found = spark.catalog.getTable(name)
    except (PySparkException, Py4JError):
        return None
    if "/" in found.name:
        return None
    full = (*([] if found.isTemporary else [str(found.catalog)]), *(found.namespace or ()))
    identity = (*full, found.name)
    return _folded(identity) if found.isTemporary else known_as(identity)


def known_as(identity: Identity) -> Identity:
    """Return the name of a table by which its catalog knows it: in lower case, or as it is."""
    return _folded(identity) if identity[0].lower() == _SESSION_CATALOG else identity


def _folded(identity: Identity) -> Identity:
    return tuple(map(str.lower, identity))


def is_table(identity: Identity | None) -> bool:
    """Return True if a name means a table or a permanent view."""
    return identity is not None and len(identity) > 2


def plain_name(parts: Iterable[str]) -> str:
    """Return a dotted name, with backticks around the parts that SQL cannot read without."""
    return ".".join(p if p.isidentifier() and p.isascii() else quoted_name([p]) for p in parts)
