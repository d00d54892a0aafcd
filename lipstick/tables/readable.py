"""Where rows of captured relations are read, in another session than that of the capture too."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import SparkSession

from lipstick.capture.manifest import RelationRecord
from lipstick.tables.ancestry import Ancestry
from lipstick.tables.derived_rows import relation_rows
from lipstick.tracking.tracker import Tracked


def readable(
    spark: SparkSession,
    ancestry: Ancestry,
    record: RelationRecord,
    tracked: Mapping[str, Tracked],
) -> RelationRecord:
    """Return a record with a view that is there, if its rows are known to this session."""
    if spark.catalog.tableExists(record.view):
        return record
    if record.derived is not None:
        view = f"_lipstick_derived_{uuid.uuid4().hex[:8]}"
        relation_rows(spark, ancestry.derivation(record)).createOrReplaceTempView(view)
        return replace(record, view=view)
    tracked_relation = next(
        (t for t in tracked.values() if t.name.lower() == record.name.lower()), None
    )
    if tracked_relation is not None and _same(tracked_relation, record):
        return replace(record, view=tracked_relation.view)
    return record


def _same(tracked: Tracked, record: RelationRecord) -> bool:
    named = (tracked.naming.value, tracked.token) == (record.naming, record.token)
    return named and tracked.source.fingerprint == record.fingerprint
