"""Plans over streams as plans over all rows that the streams have delivered so far."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from lipstick.dataframes.jvm import (
    Plan,
    analysed,
    changed,
    described,
    elements,
    frame_of,
    kind,
    texts,
    with_parameters,
)
from lipstick.dataframes.leaves import catalog_parts
from lipstick.tracking.views import quoted_name
from semiring.errors import LipstickError

_FILES = ("csv", "json", "orc", "parquet", "text")
_OUTPUT = 1
"""The position of the columns among the parameters of a leaf."""
_STREAMS = ("StreamingRelation", "StreamingRelationV2")
_WATERMARK = "EventTimeWatermark"


def as_batch(spark: SparkSession, frame: DataFrame) -> Plan:
    """Return the plan of a frame with streams of tables and files read as batches.

    Raises
    ------
    LipstickError
        It reads a stream of something else.
    """
    plan = analysed(frame)
    if not frame.isStreaming:
        return plan
    nodes = described(plan)
    places = [n for n, node in enumerate(nodes) if kind(node) in (*_STREAMS, _WATERMARK)]
    batch = changed(spark, plan, nodes, places, lambda node: _batch(spark, node))
    result = frame_of(spark, batch)
    if result.isStreaming:
        raise LipstickError("it reads a stream in a subquery")
    return analysed(result)


def _batch(spark: SparkSession, node: Plan) -> Plan:
    if node.getClass().getSimpleName() == _WATERMARK:
        return node.children().apply(0)
    leaf = analysed(_rows(spark, node))
    while leaf.getClass().getSimpleName() in ("SubqueryAlias", "View", "Project"):
        leaf = leaf.children().apply(0)
    output = node.output()
    if [str(a.name()) for a in elements(leaf.output())] != [
        str(a.name()) for a in elements(output)
    ]:
        raise LipstickError("its stream has other columns than the table or files that it reads")
    return with_parameters(spark, leaf, {_OUTPUT: output})


def _rows(spark: SparkSession, stream: Plan) -> DataFrame:
    """Return the rows of the table or files that a stream reads."""
    if stream.getClass().getSimpleName() == "StreamingRelationV2":
        parts = catalog_parts(stream)
        if parts is None:
            raise _refusal(str(stream.sourceName()))
        return spark.table(quoted_name(parts))
    source = stream.dataSource()
    if source.catalogTable().isDefined():
        return spark.table(str(source.catalogTable().get().identifier().quotedString()))
    name = str(source.className()).lower()
    if name not in _FILES:
        raise _refusal(name)
    options = texts(source.options())
    path = options.pop("path", None)
    schema: Any = source.userSpecifiedSchema()
    reader = spark.read.format(name).options(**options)
    if schema.isDefined():
        reader._jreader.schema(schema.get())
    return reader.load(path)


def _refusal(name: str) -> LipstickError:
    return LipstickError(f"it reads a stream of {name}, whose rows are not stored")
