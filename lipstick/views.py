"""The temporary views of a session, and what stood under their names before."""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

from pyspark.sql import DataFrame, SparkSession

_OWNERS: WeakKeyDictionary[SparkSession, dict[str, list[Views]]] = WeakKeyDictionary()
"""By Spark session and name, who made a view over the one before; the last is to be seen."""


def drop_once_read(frame: DataFrame, views: Iterable[str]) -> None:
    """Drop temporary views that a frame was made of, if it needs them no more.

    A classic session resolves names when a frame is made; over Spark Connect they are resolved
    each time that it runs.
    """
    if hasattr(frame, "_jdf"):
        for view in views:
            frame.sparkSession.catalog.dropTempView(view)


class Views:
    """Temporary views of one owner in a Spark session.

    Parameters
    ----------
    label
        Part of the names under which covered views are kept.
    """

    def __init__(self, spark: SparkSession, label: str) -> None:
        self._spark = spark
        self._label = label
        self._made: dict[str, None] = {}
        self._covered: dict[str, str | None] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._made

    def __len__(self) -> int:
        return len(self._made)

    def put(self, frame: DataFrame, name: str) -> None:
        """Make a view under a name that nobody else uses, or make it anew."""
        frame.createOrReplaceTempView(f"`{name}`")
        self._made[name] = None

    def shadow(self, frame: DataFrame, name: str) -> None:
        """Make a view under a name of the user's; what it covers comes back in :meth:`drop`."""
        name = name.lower()
        if name not in self._covered:
            self._covered[name] = self._keep(name)
            _OWNERS.setdefault(self._spark, {}).setdefault(name, []).append(self)
        frame.createOrReplaceTempView(f"`{name}`")

    def drop(self) -> None:
        """Drop all views, and bring back those that they cover.

        A name that another owner has covered in the meantime stays theirs.
        """
        for name, kept in self._covered.items():
            self._uncover(name, kept)
        for name in self._made:
            self._spark.catalog.dropTempView(name)
        self._covered.clear()
        self._made.clear()

    def _uncover(self, name: str, kept: str | None) -> None:
        catalog, owners = self._spark.catalog, _OWNERS[self._spark][name]
        place = owners.index(self)
        owners.remove(self)
        if place < len(owners):
            above = owners[place]._covered
            ours, above[name] = above[name], kept
            if ours is not None:
                catalog.dropTempView(ours)
        elif kept is None:
            catalog.dropTempView(name)
        else:
            self._spark.table(f"`{kept}`").createOrReplaceTempView(f"`{name}`")
            catalog.dropTempView(kept)

    def _keep(self, name: str) -> str | None:
        """Keep a temporary view under another name; None: there is none."""
        catalog, quoted = self._spark.catalog, f"`{name}`"
        if not (catalog.tableExists(quoted) and catalog.getTable(quoted).isTemporary):
            return None
        kept = f"_lipstick_{self._label}_covered_{name}"
        self._spark.table(quoted).createOrReplaceTempView(f"`{kept}`")
        return kept
