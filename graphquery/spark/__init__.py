"""Sets of nodes and edges as Spark data frames: the distributed engine's only use of Spark.

The operations themselves are in :mod:`graphquery.distributed`, which does not import Spark. This
package runs both on a classic session and over Spark Connect: no JVM internals, no RDDs. Nodes are
rows of `segment` (int) and `id` (bigint, the id that the engine in memory gives them); edges are
rows of both for either end, a `port`, and the `link` they are partitioned by, which gives the
levels of their ends.
"""

from __future__ import annotations

from graphquery.spark.folder import EdgeFrame, Frame, Session
from graphquery.spark.tables import GraphTables, read_edges

__all__ = ["EdgeFrame", "Frame", "GraphTables", "Session", "read_edges"]
