"""The temporary views of a session, and what stood under their names before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from rewriter.dialect import name_parts


@dataclass(slots=True)
class _Names:
    """The names that owners share in one Spark session."""

    owners: dict[str, list[Views]] = field(default_factory=dict)
    """By name, who made a view over the one before; the last is to be seen."""
    in_force: Views | None = None
    """The owner whose frames the names stand for at the moment."""
    lock: Any = field(default_factory=RLock)
    """Held while names are resolved: an owner's may stand for its own frames meanwhile."""


_EXACT = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"
"""Moments to the microsecond, in the time zone of the session."""

_SHARED: dict[str, _Names] = {}
"""By the id of a Spark session: Python may have several objects for one."""


def _names_in(spark: SparkSession) -> _Names:
    classic = getattr(spark, "_jsparkSession", None)
    identity = spark.client._session_id if classic is None else classic.sessionUUID()
    return _SHARED.setdefault(str(identity), _Names())


def drop_once_read(frame: DataFrame, views: Iterable[str]) -> None:
    """Drop temporary views that a frame was made of, if it needs them no more.

    A classic session resolves names when a frame is made; over Spark Connect they are resolved
    each time that it runs.
    """
    if hasattr(frame, "_jdf"):
        for view in views:
            frame.sparkSession.catalog.dropTempView(view)


def same_rows(one: DataFrame, other: DataFrame) -> bool:
    """Return True if two frames have the same rows, which are few; False if that is not known."""
    if one.schema != other.schema:
        return False
    for here, there in ((one, other), (_as_texts(one), _as_texts(other))):
        with suppress(PySparkException):  # maps are not compared
            return here.exceptAll(there).isEmpty() and there.exceptAll(here).isEmpty()
    return False


def _as_texts(frame: DataFrame) -> DataFrame:
    """Return rows as texts, which differ where the rows do; as they are if they have no texts."""
    options = {"ignoreNullFields": "false", "timestampFormat": _EXACT, "timestampNTZFormat": _EXACT}
    try:
        return frame.select(F.to_json(F.struct("*"), options))
    except PySparkException:
        return frame


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
        self._pinned: dict[str, tuple[str, bool]] = {}
        self._shared = _names_in(spark)

    def __contains__(self, name: str) -> bool:
        return name.lower() in map(str.lower, self._made)

    def __len__(self) -> int:
        return len(self._made)

    def put(self, frame: DataFrame, name: str) -> None:
        """Make a view under a name that nobody else uses, or make it anew."""
        frame.createOrReplaceTempView(f"`{name}`")
        self._made[name] = None

    def shadow(self, frame: DataFrame, name: str) -> None:
        """Make a view under a name of the user's; what it covers comes back in :meth:`drop`."""
        name = name.lower()
        first = name not in self._covered
        if first or self.is_replaced(name):
            self._covered[name] = self._keep(name)
        if first:
            self._shared.owners.setdefault(name, []).append(self)
        frame.createOrReplaceTempView(f"`{name}`")
        self._pin(frame, name, temporary=True)

    def pin(self, frame: DataFrame, name: str) -> None:
        """Remember the frame that a name of the user's, of a view or a table, stands for."""
        name = name.lower()
        if name in self._covered and self.is_replaced(name):
            self._uncover(name, self._covered.pop(name))
        self._pin(frame, name, temporary=self._is_temporary(name))

    def _pin(self, frame: DataFrame, name: str, *, temporary: bool) -> None:
        view = f"_lipstick_{self._label}_pinned_{plain_word(name)}"
        self.put(frame, view)
        self._pinned[name] = view, temporary

    def is_replaced(self, name: str) -> bool:
        """Return True if a pinned name stands for another view by now, made by the user.

        Tables are known by their files. Another owner's view that covers the name does not count:
        :meth:`in_force` puts it aside.
        """
        name = name.lower()
        if name not in self._pinned or self.is_covered(name):
            return False
        view, temporary = self._pinned[name]
        with suppress(PySparkException):  # there may be nothing of that name
            now, then = self._table(name), self._spark.table(view)
            other = not now.sameSemantics(then)
            if other and not now.sameSemantics(self._table(name)):
                other = not same_rows(now, then)  # rows with maps, of which no two plans are equal
            return other and (temporary or self._is_temporary(name))
        return False

    def is_covered(self, name: str) -> bool:
        """Return True if a pinned name stands for the view of another owner by now."""
        owners = self._shared.owners.get(name.lower())
        return name.lower() in self._pinned and bool(owners and owners[-1] is not self)

    @property
    def pinned(self) -> Mapping[str, str]:
        """Views of the frames that names stand for, by these in lower case."""
        return {name: view for name, (view, _) in self._pinned.items()}

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Let every pinned name stand for this owner's frame while Spark resolves names.

        Another thread that reads a name which several owners have sees this owner's frame
        meanwhile; owners wait for each other.
        """
        with self._shared.lock, ExitStack() as stack:
            if self._shared.in_force is not self:
                stack.callback(setattr, self._shared, "in_force", self._shared.in_force)
                for name, (view, _) in self._pinned.items():
                    if self.is_covered(name):
                        stack.enter_context(self._uncovered(name, view))
                self._shared.in_force = self
            yield

    @contextmanager
    def _uncovered(self, name: str, view: str) -> Iterator[None]:
        """Put the view of another owner, or what the user has put over that, aside for a moment."""
        catalog, above = self._spark.catalog, self._shared.owners[name][-1]
        theirs, aside = above._pinned[name][0], f"_lipstick_{self._label}_aside_{name}"
        is_view = self._is_temporary(name)
        if is_view and above.is_replaced(name):
            theirs = aside
            self._table(name).createOrReplaceTempView(f"`{theirs}`")
        self._spark.table(f"`{view}`").createOrReplaceTempView(f"`{name}`")
        try:
            yield
        finally:
            catalog.dropTempView(name)
            if is_view:
                self._spark.table(f"`{theirs}`").createOrReplaceTempView(f"`{name}`")
                catalog.dropTempView(aside)

    def drop(self) -> None:
        """Drop all views, and restore the views that they cover.

        A name that another owner, or the user, has covered in the meantime stays theirs.
        """
        for name, kept in self._covered.items():
            self._uncover(name, kept)
        for name in self._made:
            self._spark.catalog.dropTempView(name)
        self._covered.clear()
        self._made.clear()
        self._pinned.clear()

    def _uncover(self, name: str, kept: str | None) -> None:
        catalog, owners = self._spark.catalog, self._shared.owners[name]
        replaced = self.is_replaced(name)
        position = owners.index(self)
        owners.remove(self)
        if position < len(owners):
            above = owners[position]._covered
            own_view, above[name] = above[name], kept
            if own_view is not None:
                catalog.dropTempView(own_view)
        elif replaced:
            if kept is not None:
                catalog.dropTempView(kept)
        elif kept is None:
            catalog.dropTempView(name)
        else:
            self._spark.table(f"`{kept}`").createOrReplaceTempView(f"`{name}`")
            catalog.dropTempView(kept)

    def _keep(self, name: str) -> str | None:
        """Keep a temporary view under another name; None: there is none."""
        if not self._is_temporary(name):
            return None
        kept = f"_lipstick_{self._label}_covered_{plain_word(name)}"
        self._table(name).createOrReplaceTempView(f"`{kept}`")
        return kept

    def _table(self, name: str) -> DataFrame:
        return self._spark.table(quoted_name(name.split(".")))

    def _is_temporary(self, name: str) -> bool:
        return is_temporary(self._spark, name)


def is_temporary(spark: SparkSession, name: str) -> bool:
    """Return True if a name stands for a temporary view."""
    quoted = quoted_name(name_parts(name))
    return spark.catalog.tableExists(quoted) and spark.catalog.getTable(quoted).isTemporary


def plain_word(name: str) -> str:
    """Return a name as part of the name of a view, which needs no quotes."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def quoted_name(parts: Iterable[str]) -> str:
    """Return a dotted name with each of its parts in backticks."""
    return ".".join("`" + part.replace("`", "``") + "`" for part in parts)


def column_of(name: str) -> Column:
    """Return the column of a name, whatever characters are in it."""
    return F.col(quoted_name([name]))
