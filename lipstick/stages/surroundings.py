"""The part of a session that the stages of a query need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from lipstick.tracking.local_relations import LocalRelations
from lipstick.tracking.tracker import Tracked
from rewriter import TableFunction, TokenSource, ViewText


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The relations and functions of a session, and where its queries store rows.

    Parameters
    ----------
    tracked
        The tracked relations, by name in lower case.
    tables
        The registered table functions, by name in lower case.
    local_relations
        Reads small relations into this process.
    store
        A folder that the Spark driver and this process both see.
    add_view
        Registers a frame as a temporary view that the session drops when it is closed.
    versions
        Versions of tables as queries over the versions before, by name in lower case.
    """

    spark: SparkSession
    tracked: Mapping[str, Tracked]
    tables: Mapping[str, TableFunction]
    local_relations: LocalRelations
    store: Path
    add_view: Callable[[DataFrame, str], None]
    versions: Mapping[str, ViewText] = field(default_factory=dict)

    @property
    def tokens(self) -> Mapping[str, TokenSource]:
        """By tracked relation, its view and the columns of its tokens."""
        return {each.name: each.token_source for each in self.tracked.values()}

    @property
    def streams(self) -> frozenset[str]:
        """The names of the relations that are streams."""
        return frozenset(each.name for each in self.tracked.values() if each.stream is not None)
