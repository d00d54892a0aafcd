"""Nodes and edges of a graph as data frames, and their selections, joins and counts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

from graphquery.distributed.levels import Link
from graphquery.distributed.nodes import NodeSet
from graphquery.distributed.row_edges import IMPLIED, placing
from graphquery.errors import StoreDamagedError
from graphquery.model import Port
from graphquery.spark.folder import EDGE, EdgeFrame, Folder, Frame
from semiring.base import Array

_CHUNK = 1 << 16


class GraphTables(Folder):
    """The nodes and edges of one graph as data frames, and the queries on them."""

    # -- nodes -----------------------------------------------------------------------------------

    def every(self, segments: Iterable[int]) -> Frame | None:
        """Return all nodes of some segments."""
        starts: list[int] = []
        lengths: list[int] = []
        numbers: list[int] = []
        for number in sorted(segments):
            base, end = self.levels.bases[number : number + 2].tolist()
            bounds = range(base, end, _CHUNK)
            starts += bounds
            lengths += [min(_CHUNK, end - start) for start in bounds]
            numbers += [number] * len(bounds)
        if not starts:
            return None
        chunks = self._small(
            {"segment": pa.int32(), "first": pa.int64(), "last": pa.int64()},
            [numbers, starts, (np.array(starts) + np.array(lengths) - 1)],
        )
        if len(starts) > 1:
            chunks = chunks.repartition(min(len(starts), 256))
        return chunks.select("segment", F.explode(F.sequence("first", "last")).alias("id"))

    def rows(self, nodes: NodeSet) -> Frame:
        """Return a set as rows."""
        frames = [frame for frame in (self.every(nodes.whole), nodes.frame()) if frame is not None]
        if not frames:
            return self._small({"segment": pa.int32(), "id": pa.int64()}, [[], []])
        return functools.reduce(DataFrame.union, frames)

    def of_segments(self, nodes: NodeSet, segments: frozenset[int]) -> NodeSet:
        """Return the nodes of a set in some segments."""
        levels = {self.levels.level[number] for number in segments}
        frame = nodes.frame(levels)
        rows = None if frame is None else frame.where(_in("segment", segments))
        return NodeSet(nodes.whole & segments) | self.stored(rows)

    def ids(self, nodes: Frame) -> Array:
        """Collect the ids of rows, sorted."""
        ids: Array = nodes.select("id").toArrow()["id"].to_numpy()
        return np.sort(ids)

    def to_numpy(self, counts: Frame, nodes: Frame) -> tuple[Array, Array]:
        """Collect the ids and counts of those nodes that have counts."""
        rows = counts.select("id", "value").join(nodes.select("id"), "id", "left_semi").toArrow()
        return rows["id"].to_numpy(), rows["value"].to_numpy()

    def some(self, nodes: Frame, limit: int) -> Array:
        """Collect at most `limit` ids of rows."""
        return self.ids(nodes.limit(limit))

    def count(self, nodes: NodeSet) -> int:
        """Return the number of nodes of a set, whose rows are distinct."""
        return nodes.rows + sum(self.levels.segments[n].count for n in nodes.whole)

    def distinct(self, *sets: NodeSet) -> NodeSet:
        """Return the nodes of sets, each once."""
        whole = frozenset().union(*(nodes.whole for nodes in sets))
        frames = [frame for frame in (nodes.frame() for nodes in sets) if frame is not None]
        if not frames:
            return NodeSet(whole)
        rows = functools.reduce(DataFrame.union, frames).where(~_in("segment", whole))
        return NodeSet(whole) | self.stored(rows)

    # -- edges -----------------------------------------------------------------------------------

    def edges(self, stored: Sequence[EdgeFrame], links: Iterable[Link]) -> Frame | None:
        """Return the edges of links; None if none are stored."""
        wanted = frozenset(links)
        parts = []
        for edges in stored:
            held = edges.links & wanted
            if not held:
                continue
            frame = edges.frame
            if held != edges.links:
                pairs = self.levels.paired(held)
                frame = frame.where(_in("link", (self._code(*pair) for pair in pairs)))
                remaining = edges.links - held
                beside = [each for each in remaining if self._levels_of(each) in pairs]
                if beside:
                    fewer, keep = min(
                        (held, True), (frozenset(beside), False), key=lambda item: len(item[0])
                    )
                    inside = self._is_one_of(fewer)
                    frame = frame.where(inside if keep else ~inside)
            parts.append(frame)
        return functools.reduce(DataFrame.union, parts) if parts else None

    def operands(self, edges: Frame) -> Frame:
        """Return the edges other than those to the right of `⊖`."""
        return edges.where(F.col("port") != Port.SUBTRAHEND)

    def subtrahends(self, edges: Frame) -> Frame:
        """Return the edges to the right of `⊖`."""
        return edges.where(F.col("port") == Port.SUBTRAHEND)

    def ends(self, edges: Frame, end: str) -> Frame:
        """Return the nodes at one end, `source` or `target`, each once."""
        return edges.select(
            F.col(f"{end}_segment").alias("segment"), F.col(end).alias("id")
        ).distinct()

    def at(self, edges: Frame, end: str, nodes: NodeSet, levels: Iterable[int]) -> Frame:
        """Return the edges whose `end`, on some levels, is in a set."""
        return self._joined(edges, end, nodes, set(levels), "left_semi")

    def away(self, edges: Frame, end: str, nodes: NodeSet, levels: Iterable[int]) -> Frame:
        """Return the edges whose `end`, on some levels, is not in a set."""
        return self._joined(edges, end, nodes, set(levels), "left_anti")

    def within(self, rows: Frame, nodes: NodeSet, levels: Iterable[int]) -> Frame:
        """Return the rows of nodes, on some levels, that are in a set."""
        return self._joined(rows, "", nodes, set(levels), "left_semi")

    def without(self, rows: Frame, nodes: NodeSet, levels: Iterable[int]) -> Frame:
        """Return the rows of nodes, on some levels, that are not in a set."""
        return self._joined(rows, "", nodes, set(levels), "left_anti")

    def lost(self, edges: Frame) -> Frame:
        """Return the number of edges into every node, as `lost`."""
        return self._degrees(edges, "target", "lost")

    def exhausted(self, lost: Frame, edges: Frame | None, at_once: frozenset[int]) -> Frame:
        """Return the nodes that lost all of their edges, or any edge in segments `at_once`."""
        if edges is None:
            return lost.where(_in("segment", at_once)).select("segment", "id")
        touched = lost.where(~_in("segment", at_once)).select(F.col("id").alias("target"))
        degrees = self._degrees(edges.join(touched, "target", "left_semi"), "target", "degree")
        compared = lost.join(degrees.select("id", "degree"), "id", "left")
        dead = _in("segment", at_once) | (F.col("lost") == F.col("degree"))
        return compared.where(dead).select("segment", "id")

    def counted(self, edges: Frame, counts: Frame, kinds: Mapping[str, frozenset[int]]) -> Frame:
        """Return the counts of the targets of edges from the counts of their sources; see
        `count_nodes`.

        Parameters
        ----------
        kinds
            The segments that are products (`joint`), sums (`sum`) and differences (`monus`).
        """
        right = F.col("port") == Port.SUBTRAHEND
        joint, total, monus = (_in("segment", kinds[kind]) for kind in ("joint", "sum", "monus"))
        valued = edges.join(counts.select(F.col("id").alias("source"), "value"), "source").select(
            F.col("target_segment").alias("segment"),
            F.col("target").alias("id"),
            F.when(~(monus & right), F.col("value")).alias("left"),
            F.when(monus & right, F.col("value")).alias("right"),
        )
        factors = F.collect_list(F.when(joint, F.col("left")))
        added = valued.groupBy("segment", "id").agg(
            F.aggregate(factors, F.lit(1).cast("bigint"), F.try_multiply).alias("product"),
            F.try_sum("left").alias("left"),
            F.count("left").alias("operands"),
            F.coalesce(F.try_sum("right"), F.lit(0)).alias("right"),
        )
        # Without an edge to the left operand, it is 1.
        minuend = F.when(F.col("operands") == 0, 1).otherwise(F.col("left"))
        value = (
            F.when(joint, F.col("product"))
            .when(total, F.col("left"))
            .when(monus, F.greatest(F.try_subtract(minuend, F.col("right")), F.lit(0)))
            .otherwise((F.col("left") > 0).cast("bigint"))
        )
        return added.select("segment", "id", value.cast("bigint").alias("value"))

    def leaves(self, nodes: Frame, given: Frame) -> Frame:
        """Return the counts of nodes without incoming edges: those in `given`, or 1."""
        known = nodes.join(F.broadcast(given), "id", "left")
        return known.select("segment", "id", F.coalesce("value", F.lit(1)).alias("value"))

    def numbers(self, values: Mapping[int, int]) -> Frame:
        """Return rows of `id` and `value`."""
        columns = {"id": pa.int64(), "value": pa.int64()}
        return self._small(columns, [list(values), list(values.values())])

    def all_marked(self, edges: Frame, marked: NodeSet, levels: Iterable[int]) -> Frame:
        """Return the sources whose edges all lead to a set."""
        inside = self.at(edges, "target", marked, levels)
        reached = self._degrees(inside, "source", "inside")
        degrees = self._degrees(edges, "source", "degree").select("id", "degree")
        both = reached.join(degrees, "id")
        return both.where(F.col("inside") == F.col("degree")).select("segment", "id")

    def overlay(self, edges: Frame, inwards: bool) -> Frame:
        """Turn the edges of m-nodes to inputs (`inwards`) or outputs into edges of zoomed nodes."""
        levels = self.levels
        numbers = list(levels.invocations)
        places = [levels.zoomed_of[number] for number in numbers]
        shift = [
            int(levels.bases[p] - levels.bases[n]) for n, p in zip(numbers, places, strict=True)
        ]
        zoomed = self._small(
            {"source_segment": pa.int32(), "place": pa.int32(), "shift": pa.int64()},
            [numbers, places, shift],
        )
        moved = edges.join(F.broadcast(zoomed), "source_segment")
        ends = [(F.col("place"), F.col("source") + F.col("shift"))]
        other = (F.col("target_segment"), F.col("target"))
        ends.insert(0 if inwards else 1, other)
        return self._as_edges(moved, *ends)

    def beside(
        self, nodes: Frame, invocation: Mapping[int, tuple[int, int]], inwards: bool
    ) -> Frame:
        """Return edges from nodes to their invocation's zoomed node (`inwards`), or from it to
        them.
        """
        columns = list(zip(*((n, *numbers) for n, numbers in invocation.items()), strict=True))
        zoomed = self._small(
            {"segment": pa.int32(), "place": pa.int32(), "zoomed": pa.int64()}, columns
        )
        moved = nodes.join(F.broadcast(zoomed), "segment")
        ends = [(F.col("place"), F.col("zoomed"))]
        ends.insert(0 if inwards else 1, (F.col("segment"), F.col("id")))
        return self._as_edges(moved, *ends)

    def union(self, frames: Sequence[Frame]) -> Frame:
        """Return the union of one or more frames with the same columns."""
        return functools.reduce(DataFrame.union, frames)

    def height(self, rows: Frame) -> int:
        """Return the number of rows."""
        return rows.count()

    def to_arrow(self, edges: Frame, limit: int) -> pa.Table:
        """Collect at most `limit` + 1 edges: `source`, `target`, `port`."""
        table: pa.Table = edges.select("source", "target", "port").limit(limit + 1).toArrow()
        return table

    def _as_edges(self, moved: Frame, source: Sequence[Column], target: Sequence[Column]) -> Frame:
        named = [
            source[0].alias("source_segment"),
            source[1].alias("source"),
            target[0].alias("target_segment"),
            target[1].alias("target"),
            F.lit(int(Port.OPERAND)).cast("tinyint").alias("port"),
        ]
        places = {"segment": pa.int32(), "level": pa.int64()}
        values = [list(range(len(self.levels.segments))), self.levels.level]
        edges = moved.select(*named)
        for end in ("source", "target"):
            level = self._small(places, values).toDF(f"{end}_segment", f"{end}_level")
            edges = edges.join(F.broadcast(level), f"{end}_segment")
        link = F.col("source_level") * self.levels.count + F.col("target_level")
        return edges.select(*(name.split()[0] for name in EDGE.split(", ")), link.alias("link"))

    def _degrees(self, edges: Frame, end: str, name: str) -> Frame:
        ends = edges.select(F.col(f"{end}_segment").alias("segment"), F.col(end).alias("id"))
        return ends.groupBy("segment", "id").agg(F.count(F.lit(1)).alias(name))

    def _joined(self, rows: Frame, end: str, nodes: NodeSet, levels: set[int], how: str) -> Frame:
        segment, key = (f"{end}_segment", end) if end else ("segment", "id")
        whole = _in(segment, (n for n in nodes.whole if self.levels.level[n] in levels))
        parts = nodes.frame(levels)
        wholly = rows.where(whole) if how == "left_semi" else None
        if parts is None:
            return rows.where(~whole) if wholly is None else wholly
        ids = parts.select(F.col("id").alias(key))
        some = rows.where(~whole).join(ids, key, how).select(*rows.columns)
        return some if wholly is None or not nodes.whole else wholly.union(some)

    def _is_one_of(self, links: Iterable[Link]) -> Column:
        size = len(self.levels.segments)
        code = F.col("source_segment").cast("bigint") * size + F.col("target_segment")
        return code.isin([source * size + target for source, target in sorted(links)])

    def _levels_of(self, link: Link) -> Link:
        return self.levels.level[link[0]], self.levels.level[link[1]]

    def _code(self, below: int, above: int) -> int:
        return below * self.levels.count + above


def _in(column: str, values: Iterable[int]) -> Column:
    numbers = sorted(values)
    return F.col(column).isin(numbers) if numbers else F.lit(False)


def read_edges(tables: GraphTables, path: Callable[[str], str]) -> EdgeFrame:
    """Read all edges of a graph from files, and write them by the levels that they join.

    Parameters
    ----------
    path
        Maps a file's name to its path for Spark.

    Raises
    ------
    StoreDamagedError
        Fewer edges in the files than there should be, or ordinals that are not nodes.
    """
    levels = tables.levels
    spark = tables.spark
    stored = [edges for edges in levels.edge_sets if edges.file is not None]
    implied = [edges for edges in levels.edge_sets if edges.file is None]
    columns = ["file", "row", "source", "target"]
    frames = []
    if stored:
        files = sorted({path(edges.file) for edges in stored if edges.file is not None})
        read = spark.read.schema("source BIGINT, target BIGINT").parquet(*files)
        frames.append(
            read.select("_metadata.file_path", "_metadata.row_index", "source", "target").toDF(
                *columns
            )
        )
    if implied:
        nothing = F.lit(None).cast("bigint")
        numbers = spark.range(sum(edges.count for edges in implied))
        frames.append(numbers.select(F.lit(IMPLIED), "id", nothing, nothing).toDF(*columns))
    schema = f"{EDGE}, link BIGINT, wrong BOOLEAN"
    if not frames:
        return EdgeFrame(spark.createDataFrame([], f"{EDGE}, link BIGINT"), frozenset())
    placed = functools.reduce(DataFrame.union, frames).mapInArrow(placing(levels, path), schema)
    observed = Observation()
    checked = placed.observe(
        observed, F.count(F.lit(1)).alias("rows"), F.count_if(F.col("wrong")).alias("wrong")
    ).drop("wrong")
    edges = tables.store_edges(checked, levels.links)
    counts, expected = observed.get, sum(edges.count for edges in levels.edge_sets)
    if counts["rows"] != expected:
        raise StoreDamagedError(
            f"The files have {counts['rows']:,} edges, and the graph should have {expected:,}.\nThe"
            " store is damaged: check it."
        )
    if counts["wrong"]:
        raise StoreDamagedError(
            f"{counts['wrong']:,} edges have ordinals that are not nodes.\nThe store is damaged:"
            " check it."
        )
    return edges
