"""Descriptions of streaming data frames: the source, and what is done to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame

from lipstick.dataframes.jvm import analysed, elements
from lipstick.systems.streaming.prepared import TRANSPARENT, WATERMARK

if TYPE_CHECKING:
    from lipstick.dataframes.jvm import Plan

_PYTHON = "PythonDataSourceV2"
_WITHIN = "DeduplicateWithinWatermark"
_PER_ROW = (*TRANSPARENT, "Filter", "Project", WATERMARK)
LEAVES = ("StreamingRelation", "StreamingRelationV2")
"""The operators of Spark that read a source."""


@dataclass(frozen=True, slots=True)
class Described:
    """The source of a streaming data frame.

    Parameters
    ----------
    format, options
        Of the reader.
    python
        It is a data source written in Python, of a classic session.
    distinct, within
        The columns of ``dropDuplicates`` over it, and whether within the watermark.
    prepared
        The uppermost of the projections and filters between, and Spark's operator that reads the
        source; None: there are none.
    """

    format: str
    options: Mapping[str, str]
    python: bool = False
    distinct: tuple[str, ...] = ()
    within: bool = False
    prepared: tuple[Plan, Plan] | None = None


def described(frame: DataFrame) -> Described | None:
    """Return the source of a streaming data frame; None where the frame does more to it."""
    return _classic(frame) if hasattr(frame, "_jdf") else _connect(frame)


def described_leaf(leaf: Plan) -> Described:
    """Return the source of an operator of a plan that is one of :data:`LEAVES`."""
    if leaf.getClass().getSimpleName() == "StreamingRelationV2":
        options = leaf.extraOptions().asCaseSensitiveMap()
        source = leaf.source()
        python = source.isDefined() and source.get().getClass().getSimpleName() == _PYTHON
        name = str(leaf.sourceName())
        reader_options = {str(name): str(options.get(name)) for name in options.keySet()}
        return Described(name if python else name.lower(), reader_options, python)
    source = leaf.dataSource()
    pairs = elements(source.options().toSeq())
    return Described(
        str(source.className()).lower(), {str(pair._1()): str(pair._2()) for pair in pairs}
    )


def _classic(frame: DataFrame) -> Described | None:
    plan = analysed(frame)
    distinct: tuple[str, ...] = ()
    within = plan.getClass().getSimpleName() == _WITHIN
    if within or plan.getClass().getSimpleName() == "Deduplicate":
        distinct = tuple(str(key.name()) for key in elements(plan.keys()))
        plan = plan.children().apply(0)
    rows = plan
    watermarks = 0
    while (kind := plan.getClass().getSimpleName()) in _PER_ROW:
        watermarks += kind == WATERMARK
        plan = plan.children().apply(0)
    if kind not in LEAVES or watermarks > 1:
        return None
    leaf = replace(described_leaf(plan), distinct=distinct, within=within)
    if watermarks and rows.getClass().getSimpleName() == WATERMARK:
        rows = rows.children().apply(0)
    if rows.getClass().getSimpleName() in LEAVES:
        return leaf
    return replace(leaf, prepared=(rows, plan))


def _connect(frame: DataFrame) -> Described | None:
    from lipstick.dataframes.messages import relation_of

    relation: Any = relation_of(frame.sparkSession, frame)
    distinct: tuple[str, ...] = ()
    within = False
    if "deduplicate" in relation:
        within = bool(relation["deduplicate"].get("within_watermark"))
        distinct = tuple(relation["deduplicate"].get("column_names", frame.columns))
        relation = relation["deduplicate"]["input"]
    if "with_watermark" in relation:
        relation = relation["with_watermark"]["input"]
    read = relation.get("read", {})
    source = read.get("data_source")
    if not read.get("is_streaming") or source is None:
        return None
    options = dict(source.get("options", {}))
    if source.get("paths"):
        (options["path"],) = source["paths"]
    return Described(str(source.get("format", "")).lower(), options, False, distinct, within)
