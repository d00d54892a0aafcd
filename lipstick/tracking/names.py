"""The meaning of names: what Spark's catalog finds by them, however they are spelt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lipstick.tracking.views import quoted_name

if TYPE_CHECKING:
    from lipstick.tracking.tracker import Tracked

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
    folds = found.isTemporary or found.catalog == _SESSION_CATALOG
    return tuple(map(str.lower, identity)) if folds else identity


def is_table(identity: Identity | None) -> bool:
    """Return True if a name means a table or a permanent view."""
    return identity is not None and len(identity) > 2


def plain_name(parts: Iterable[str]) -> str:
    """Return a dotted name, with backticks around the parts that SQL cannot read without."""
    return ".".join(p if p.isidentifier() and p.isascii() else quoted_name([p]) for p in parts)


def relation_of(
    spark: SparkSession, parts: Sequence[str], tracked: Mapping[str, Tracked]
) -> Tracked | None:
    """Return the tracked relation that a name means: by its own name, or by that of its table.

    None: none is found by the name in the catalog.

    Parameters
    ----------
    tracked
        The relations of a session, by name in lower case.
    """
    own = tracked.get(".".join(parts).lower())
    if own is not None and not own.called_as_its_table:
        return own
    identity = identity_of(spark, parts)
    if own is not None and identity in (None, own.source.identity):
        return own
    return relation_of_table(identity, tracked)


def relation_of_table(identity: Identity | None, tracked: Mapping[str, Tracked]) -> Tracked | None:
    """Return the tracked relation of a table of the catalog; None: it is not tracked.

    Of several versions that are tracked it is the current one, else the last that was tracked.
    Versions that were asked for, and earlier ones of histories, ``orders@0``, are not meant by the
    name of their table.
    """
    if not is_table(identity):
        return None
    named = (t for name, t in tracked.items() if "@" not in name and not t.source.stays)
    found = [each for each in named if each.source.identity == identity]
    if len(found) > 1 and (table := found[0].source.version) is not None:
        now = table.current()
        found.sort(key=lambda each: each.source.versions[0].version == now)
    return found[-1] if found else None
