"""Lineage on the cluster: the input rows that a selection of the answer's rows was made from.

It includes the rows that the values of window functions were computed from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import and_

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from lipstick.capture.manifest import Manifest
from lipstick.errors import CaptureError, first_line
from lipstick.stages.reading import own_sql
from rewriter.blocks import Block, Kind, topological
from rewriter.emit import SIDE, Extent
from rewriter.emit.statements import contributions_sql, extents_sql


def with_window_rows(
    spark: SparkSession,
    block: Block,
    members_view: Callable[[Block], str],
    rows_views: Mapping[str, str],
    selected: DataFrame,
) -> DataFrame:
    """Return the identities of the selected rows of a block and of those they depend on.

    That is all rows between the first and the last one that a window function reads at a selected
    row: found by counting, in the order of the window, the selected rows whose frames have begun
    and not ended. Cost: one sort per window function.
    """
    if not block.identity:
        return selected
    sql, extents = extents_sql(block, members_view, rows_views)
    rows = own_sql(spark, sql)
    names = [f"`{name}`" for name in block.identity]
    keys = selected.toDF(*(f"_s{number}" for number in range(len(names))))
    same = [rows[name].eqNullSafe(keys[f"_s{number}"]) for number, name in enumerate(names)]
    chosen = rows.join(keys, reduce(and_, same), "left_semi")
    read_rows = [_read_at(rows, chosen, extent, names) for extent in extents]
    return reduce(DataFrame.union, [selected, *read_rows]).distinct()


def _read_at(rows: DataFrame, chosen: DataFrame, extent: Extent, identity: list[str]) -> DataFrame:
    """Return the identities of the rows that one window function reads at the chosen rows."""
    partition = [F.col(f"`{name}`") for name in extent.partition]
    columns = [F.col(name) for name in identity]
    at = F.col(f"`{extent.at}`").alias("_at")
    own_events = rows.select(
        *columns, *partition, at, F.lit(0).alias("_begun"), F.lit(True).alias("_own")
    )
    ends = (F.col(f"`{extent.start}`"), 1), (F.col(f"`{extent.stop}`") + 1, -1)
    events = [
        chosen.where(end.isNotNull()).select(
            *columns,
            *partition,
            end.alias("_at"),
            F.lit(change).alias("_begun"),
            F.lit(False).alias("_own"),
        )
        for end, change in ends
    ]
    order = Window.partitionBy(*partition).orderBy("_at")
    open_ = F.sum("_begun").over(order.rangeBetween(Window.unboundedPreceding, 0))
    counted = reduce(DataFrame.union, [own_events, *events]).withColumn("_open", open_)
    return counted.where("_own AND _open > 0").select(*columns)


def lineage_tokens(
    spark: SparkSession,
    manifest: Manifest,
    rows: DataFrame,
    members_view: Callable[[Block], str],
    rows_views: Mapping[str, str],
) -> dict[str, DataFrame]:
    """Return, per relation, the tokens in the annotations of rows, each once.

    ``rows`` are the answer's, with the columns that identify them. The inputs of a scalar
    subquery are in the lineage of every row that its value may have decided or gone into; so are
    the rows that the value of a window function comes from or is decided by.
    """
    root = manifest.root
    walk = _TokenWalk(spark, members_view, rows_views)
    walk.wanted[root.name] = [_identified(rows, root.identity)]
    for block in reversed(topological(root)):
        if block.name in walk.whole:
            walk.collect(block, None)
        elif block.name in walk.wanted:
            selected = reduce(DataFrame.union, walk.wanted[block.name]).distinct()
            if block.windowed:
                selected = with_window_rows(spark, block, members_view, rows_views, selected)
            walk.collect(block, selected)
    found = walk.tokens.items()
    return {name: reduce(DataFrame.union, frames).distinct() for name, frames in found}


def select_rows(rows: DataFrame, manifest: Manifest, where: str | Column) -> DataFrame:
    """Return the rows of an answer, with the columns that identify them, that a predicate selects.

    Raises
    ------
    CaptureError
        When the predicate is not one over the answer's columns.
    """
    outputs = [output.name for output in manifest.root.outputs]
    hidden = [name for name in rows.columns if name not in outputs]
    shown = rows.select(
        *(F.col(f"`{o}`").alias(n) for o, n in zip(outputs, manifest.names, strict=True)),
        *(F.col(f"`{name}`").alias(f"_hidden{i}") for i, name in enumerate(hidden)),
        *(F.col(f"`{o}`").alias(f"_shown{i}") for i, o in enumerate(outputs)),
    )
    try:
        # Columns of ours are not among those that Spark suggests; Connect analyses here.
        shown.drop(*shown.columns[len(outputs) :]).where(where).schema  # noqa: B018
    except PySparkException as error:
        raise CaptureError(
            f"The predicate {where!r} cannot be applied to the answer's columns "
            f"({', '.join(manifest.names)}): {first_line(error)}"
        ) from error
    return shown.where(where).select(
        *(F.col(f"_hidden{i}").alias(name) for i, name in enumerate(hidden)),
        *(F.col(f"_shown{i}").alias(o) for i, o in enumerate(outputs)),
    )


@dataclass(frozen=True, slots=True)
class _TokenWalk:
    """A walk down the blocks of an answer, to the tokens in the lineage of its rows.

    Attributes
    ----------
    wanted
        The identities of the tuples of blocks that those above refer to.
    whole
        The blocks that are referred to with all of their tuples.
    """

    spark: SparkSession
    members_view: Callable[[Block], str]
    rows_views: Mapping[str, str]
    wanted: dict[str, list[DataFrame]] = field(default_factory=dict)
    tokens: dict[str, list[DataFrame]] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)

    def collect(self, block: Block, selected: DataFrame | None) -> None:
        """Collect the tokens of a block's selected tuples (None: all) and what they refer to."""
        self.whole.update(lookup.block.name for lookup in block.subqueries)
        if block.kind is Kind.UNION:
            if selected is None:
                self.whole.update(branch.name for branch in block.branches)
                return
            for number, branch in enumerate(block.branches):
                of_branch = selected.where(F.col("_branch") == number)
                columns = [F.col(f"`_{number}_{name}`").alias(name) for name in branch.identity]
                self.wanted.setdefault(branch.name, []).append(
                    _identified(
                        of_branch.select(*columns) if columns else of_branch, branch.identity
                    )
                )
            return
        sql, contributions = contributions_sql(block, self.members_view, rows=self.rows_views)
        members = own_sql(self.spark, sql)
        if block.difference is not None and not block.difference.common:
            # A row of EXCEPT ALL was made from the left side alone.
            members = members.where(F.col(SIDE) == 0)
        if selected is not None:
            members = _matching(members, selected, block.identity)
        for relation, names in contributions.tokens:
            taken = members.select(*_columns(names))
            absent = reduce(and_, (F.col(name).isNull() for name in names))
            self.tokens.setdefault(relation, []).append(taken.where(~absent))
        for reference in contributions.references:
            inner = next(b for b in block.derived if b.name == reference.block)
            pairs = list(zip(reference.columns, inner.identity, strict=True))
            referred = members.select(*(F.col(c).alias(i) for c, i in pairs)) if pairs else members
            self.wanted.setdefault(inner.name, []).append(_identified(referred, inner.identity))


def _matching(members: DataFrame, selected: DataFrame, identity: Sequence[str]) -> DataFrame:
    if not identity:
        return members.join(selected, how="cross")
    named = selected.toDF(*(f"_k{i}" for i in range(len(identity))))
    match = [F.col(f"`{name}`").eqNullSafe(F.col(f"_k{i}")) for i, name in enumerate(identity)]
    return members.join(named, reduce(and_, match), "left_semi")


def _identified(rows: DataFrame, identity: Sequence[str]) -> DataFrame:
    """Return the identities of rows; one row of a placeholder where tuples have none."""
    if identity:
        return rows.select(*_columns(identity))
    return rows.limit(1).select(F.lit(1).alias("_any"))


def _columns(names: Sequence[str]) -> list[Column]:
    return [F.col(f"`{name}`") for name in names]


def lineage_rows(
    spark: SparkSession,
    tokens: Mapping[str, DataFrame],
    sources: Mapping[str, tuple[str, tuple[str, ...], tuple[str, ...]]],
) -> dict[str, DataFrame]:
    """Return the rows that tokens name; ``sources`` gives view, token and own columns."""
    rows_by_relation = {}
    for relation, frame in tokens.items():
        view, token, columns = sources[relation]
        named = frame.toDF(*(f"_k{i}" for i in range(len(token))))
        rows = spark.table(view)
        match = [rows[f"`{name}`"].eqNullSafe(named[f"_k{i}"]) for i, name in enumerate(token)]
        rows_by_relation[relation] = rows.join(named, match, "left_semi").select(*_columns(columns))
    return rows_by_relation
