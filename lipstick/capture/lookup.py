"""Values by reference: member columns that a capture left in the tracked sources."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from lipstick.capture.manifest import RelationRecord
from lipstick.dataframes.arrow import arrow_rows, frame_of_arrow
from lipstick.errors import CaptureError, SourceChangedError
from lipstick.stages.reading import own_sql
from lipstick.tracking.formats.probe import check_readable
from lipstick.tracking.source import fingerprint
from lipstick.tracking.views import plain_word
from rewriter.blocks import Block, core_relations
from rewriter.emit.statements import lookup_sql

POSITION = "_position"


def source_rows(spark: SparkSession, record: RelationRecord) -> DataFrame:
    """Return the rows of a captured relation, from its source.

    Raises
    ------
    SourceChangedError
        When its files are others than when the query was captured, or a version of a table that
        it reads is gone.
    """
    for version in record.versions:
        check_readable(spark, record.name, version)
    rows = spark.table(record.view)
    # The rows of a derived relation are kept beside its capture, and never change.
    pinned = record.derived is None and record.fingerprint
    if pinned and fingerprint(spark, rows) != record.fingerprint:
        raise SourceChangedError(
            f"The source of {record.name!r} ({record.description}) changed since the capture, "
            "and this question reads it.\nCapture the query again; questions by keys of rows that "
            "took part in it are answered from a capture with copied values."
        )
    return rows


class ValueLookup:
    """Computes member columns anew, for the members asked for alone.

    The tracked relations must be tracked in this SparkSession by the session that saved the
    capture, and their files unchanged.
    """

    def __init__(self, spark: SparkSession, relations: Mapping[str, RelationRecord]) -> None:
        self._spark = spark
        self._relations = relations

    def __call__(self, block: Block, columns: Sequence[str], tokens: pa.Table) -> pa.Table:
        """Return member columns, row for row with their tokens.

        Parameters
        ----------
        tokens
            The token columns of the members, named as members store them.

        Raises
        ------
        CaptureError
            When a source is not there any more, or a token is not in it.
        SourceChangedError
            When its files changed.
        """
        self._check(block)
        numbered = tokens.append_column(POSITION, pa.array(np.arange(tokens.num_rows)))
        wanted = frame_of_arrow(self._spark, numbered)
        view = self._view(wanted, "wanted")
        narrowed = {}
        for token in block.tokens:
            record = self._relations[token.relation]
            rows = self._spark.table(record.view)
            match = [
                rows[f"`{its}`"].eqNullSafe(wanted[f"`{column}`"])
                for its, column in zip(record.token, token.columns, strict=True)
            ]
            few = rows.join(wanted, reduce(and_, match), "left_semi")
            narrowed[token.alias] = self._view(few, token.alias)
        members = arrow_rows(own_sql(self._spark, lookup_sql(block, columns, view, narrowed)))
        if members.num_rows != tokens.num_rows:
            raise CaptureError(
                f"{tokens.num_rows} members of block {block.name} were looked up in the sources "
                f"and {members.num_rows} found.\nThe sources are not those of the capture; save it "
                "again, or with values='copy'."
            )
        return members.sort_by(POSITION).select(list(columns))

    def _check(self, block: Block) -> None:
        assert block.core is not None
        for name in {scan.relation for scan in core_relations(block.core)}:
            record = self._relations[name]
            if not self._spark.catalog.tableExists(record.view):
                raise CaptureError(
                    f"Values of {name!r} were captured by reference, and the source is not tracked "
                    "in this SparkSession any more.\nUse the session that saved the capture, or "
                    "save with values='copy'."
                )
            source_rows(self._spark, record)

    def _view(self, frame: DataFrame, name: str) -> str:
        view = f"_lipstick_lookup_{uuid.uuid4().hex[:8]}_{plain_word(name)}"
        frame.createOrReplaceTempView(view)
        return view
