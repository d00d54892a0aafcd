"""Tables as they would be, and what becomes of the relations that queries read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from lipstick.dataframes.arrow import arrow_rows
from lipstick.errors import StatementError
from lipstick.histories.changes import new_values, row_codes
from lipstick.histories.differences import few_rows, paired_changes
from lipstick.stages.reading import own_sql, reading
from lipstick.tables.hypothesis import UpdatedRows
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
        if tracked.naming is not Naming.KEY:
            rows = own_sql(spark, hypothetical(bags))
            source = Source(rows, tracked.source.description, None, ())
            return self._history.engine.named(name_rows(tracked.name, source, "*", True).frame)
        key = list(tracked.token)
        gone, came = (self._history.engine.held(view or "") for view in (bags.gone, bags.came))
        if bags.came is None:
            if gone is None:
                gone = arrow_rows(spark.table(bags.gone or "").select(*map(column_of, key)))
            keys = gone.select(key)
            return keys.take(pa.array(np.unique(row_codes(keys), return_index=True)[1]))
        view = partial(self._with_keys, bags, key)
        update = None if gone is None or came is None else new_values(gone, came, key)
        if update is not None:
            return UpdatedRows(view, update)
        self._check_keys(table, bags, key)
        return view()

    def _with_keys(self, bags: Bags, key: Sequence[str]) -> str:
        """Return a view of the rows of a table that has a key."""
        frame = own_sql(self._history.spark, hypothetical(bags, key))
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
