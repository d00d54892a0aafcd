"""Tables as they would be, and what becomes of the relations that queries read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lipstick.errors import StatementError
from lipstick.histories.differences import few_rows
from lipstick.stages.reading import own_sql, reading
from lipstick.tables.comparison import keyed, paired, with_change
from lipstick.tracking.source import Source
from lipstick.tracking.tracker import Naming, Tracked, name_rows
from lipstick.tracking.views import column_of, quoted_name
from rewriter.statements import ROWS, Bags, hypothetical, over_rows, rows_of
from semiring.support.door import checked

if TYPE_CHECKING:
    from lipstick.histories.history import TableHistory
    from lipstick.tables.hypothesis import Fate


@checked
class HypotheticalTables:
    """The tables of a history as they would be.

    Made by :meth:`TableHistory.what_if`.
    """

    def __init__(self, history: TableHistory, states: Mapping[str, Bags]) -> None:
        self._history = history
        self._states = states

    def table(self, name: str) -> DataFrame:
        """Return the rows of a table."""
        bags = self._states[self._history._name_of(name)]
        return own_sql(self._history.spark, hypothetical(bags))

    def changes(self, name: str) -> DataFrame:
        """Return the rows that would be others: ``_change``, ``old``, ``new``.

        ``_change`` is changed, deleted or added. Rows are matched by the table's key, if it has
        one, else they are deleted or added.
        """
        table = self._history._name_of(name)
        bags, spark = self._states[table], self._history.spark
        key = self._history._keys[table]
        names = [] if key == "*" else [key] if isinstance(key, str) else list(key)
        return paired_changes(spark, bags, names)

    def fate(self, tracked: Tracked) -> Fate | None:
        """Return what becomes of the tracked last version of a table; None: nothing.

        Raises
        ------
        StatementError
            When two rows would have one key.
        """
        table = self._history._table_of(tracked.name)
        assert table is not None
        bags, spark = self._states[table], self._history.spark
        if not bags.changed:
            return None
        if tracked.naming is Naming.KEY:
            key = [column_of(column) for column in tracked.token]
            if bags.came is None:
                assert bags.gone is not None
                gone: pa.Table = spark.table(bags.gone).select(*key).distinct().toArrow()
                return gone
            self._check_keys(table, bags, tracked.token)
            frame = own_sql(spark, hypothetical(bags, tracked.token))
        else:
            source = Source(
                own_sql(spark, hypothetical(bags)), tracked.source.description, None, ()
            )
            frame = name_rows(tracked.name, source, "*", True).frame
        return self._history.engine.named(frame)

    def _check_keys(self, table: str, bags: Bags, key: Sequence[str]) -> None:
        """Check that no row that came has the key of another.

        Raises
        ------
        StatementError
        """
        assert bags.came is not None
        history = self._history
        chain, engine = history._chains[history._name_of(table)], history.engine
        expressions = over_rows([quoted_name([ROWS, column]) for column in key], ROWS)
        keys = engine.keys([(rows_of(bags.came), ROWS, expressions)])
        if keys is None:
            return
        near = history.known.near(table, chain, chain.last, expressions, keys)
        rows = hypothetical(Bags(engine.view(near), bags.gone, bags.came), key)
        names = ", ".join(quoted_name([column]) for column in key)
        query = f"SELECT {names} FROM ({rows}) GROUP BY {names} HAVING count(*) > 1"
        with reading(query, accepted=True):
            twice = engine.store(query)
        if twice is not None:
            found = few_rows(engine.frame(rows_of(twice)), 1).to_pylist()
            shown = ", ".join(repr(found[0][column]) for column in key)
            raise StatementError(
                f"Two rows of {table} would have the key {shown}.\nReenact the history with "
                "a key that stays unique, or key='*'."
            )


def paired_changes(spark: SparkSession, bags: Bags, key: Sequence[str]) -> DataFrame:
    """Return the rows of a table that are changed, deleted or added: ``_change``, ``old``, ``new``.

    Parameters
    ----------
    key
        The columns by which rows are paired; empty: rows are deleted or added.
    """
    real = spark.table(bags.real)
    sides = []
    for view, side in ((bags.gone, "old"), (bags.came, "new")):
        rows = real.limit(0) if view is None else spark.table(view)
        keys = [column_of(column) for column in key] or [F.lit(side)]
        sides.append(keyed(rows, side, [column_of(c) for c in rows.columns], keys))
    return with_change(paired(*sides), F.lit(False))
