"""The versions of a row, and the statements that made them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, Row, SparkSession
from pyspark.sql import functions as F

from lipstick.errors import TrackingError
from lipstick.histories.chain import Chain
from lipstick.histories.engine import SparkReplayEngine, reading_versions
from lipstick.histories.sql_engine import rows_of_versions
from lipstick.questions.asking import question
from lipstick.questions.deletion import rows_of_keys
from lipstick.questions.keys import key_values
from lipstick.stages.reading import reading
from lipstick.tracking.views import column_of
from rewriter.statements import TableShape, rows_of
from semiring.support.door import checked


@dataclass(frozen=True, slots=True)
class RowVersion:
    """A row of a table after a statement changed it.

    Attributes
    ----------
    version
        The number of the table's version.
    statement
        The name of the statement that made it; None: the row was there when the history begins.
    change
        ``inserted``, ``updated`` or ``deleted``; ``there`` of the first version.
    old, new
        The values before and after; None: the row was not there.
    """

    version: int
    statement: str | None
    change: str
    old: Row | None
    new: Row | None


@dataclass(frozen=True, slots=True)
class CellOrigin:
    """The statement that last changed a cell.

    Attributes
    ----------
    statement
        Its name; None: the value was there when the history begins.
    version
        The number of the table's version that it made.
    """

    column: str
    value: Any
    statement: str | None
    version: int


@checked
class RowQuestions(ABC):
    """Questions about the rows of tables, asked of their versions."""

    spark: SparkSession
    engine: SparkReplayEngine
    _chains: dict[str, Chain]

    @abstractmethod
    def _name_of(self, table: str) -> str:
        """Return a table of the history by its name in lower case."""

    @abstractmethod
    def _over_tables(
        self, sql: str, view_of: Callable[[str], str | None]
    ) -> tuple[str, frozenset[str]]:
        """Return a query that reads views in place of tables, and the tables that it reads."""

    @abstractmethod
    def _key_columns(self, table: str) -> tuple[str, ...]:
        """Return the columns of a table's key."""

    @abstractmethod
    def _made_by(self, table: str) -> dict[int, str]:
        """Return by version the statement that made it."""

    @question("reading the versions of a row")
    @reading_versions()
    def rows(self, table: str, key: Any) -> list[RowVersion]:
        """Return the versions of a row, each with the statement that made it.

        Where the log of a format has the files of its commits, these are read, not the versions,
        and without Spark where this process sees them. Where Spark reads more than eight commits,
        or data frames, the first question writes what they changed, if they have less than 256 MiB
        together, and later questions look a key up there.

        Parameters
        ----------
        key
            The value of the table's key; where it has several columns, a tuple or the values by
            column.
        """
        chain = self._chains[name := self._name_of(table)]
        columns = self._key_columns(name)
        values = key_values(table, columns, key)
        rows = self.spark.table(chain.versions[chain.last])
        schema = rows.select(*map(column_of, columns)).schema
        wanted = rows_of_keys(self.spark, table, schema, [values])
        pairs = zip(columns, values, strict=True)
        key_is = reduce(
            Column.__and__, (column_of(c).eqNullSafe(F.lit(value)) for c, value in pairs)
        )
        found = self._found(chain, key_is, wanted if isinstance(wanted, pa.Table) else None)
        twice = next((number for number, rows in found.items() if len(rows) > 1), None)
        if twice is not None:
            raise TrackingError(
                f"Version {twice} of {table!r} has several rows of the key {key!r}.\n"
                "Reenact the history with a key that is unique in all versions."
            )
        return list(changed_versions(found, chain, self._made_by(name)))

    def _found(
        self, chain: Chain, selected: Column, keys: pa.Table | None = None
    ) -> dict[int, list[Row]]:
        """Return by version its selected rows.

        Parameters
        ----------
        keys
            The keys of the selected rows, where these alone select them.
        """

        def among(query: str) -> str:
            return rows_of(self.engine.named(self.engine.frame(query).where(selected)))

        found: dict[int, list[Row]] = {number: [] for number in chain.versions}
        start: int | None = chain.first
        while start is not None:
            numbers = chain.alike_from(start)
            view = rows_of_versions(self.engine, chain, numbers, among, keys)
            rows = self.engine.frame(rows_of(view))
            for since, until, *values in rows.collect():
                for number in numbers[since:until]:
                    found[number].append(Row(*rows.columns[2:])(*values))
            start = next(iter(chain.after(numbers[-1])), None)
        return found

    @question("finding the statements behind a row")
    def blame(self, table: str, key: Any) -> dict[str, CellOrigin]:
        """Return by column the statement that gave a row of the last version its value.

        Raises
        ------
        TrackingError
            When the last version has no such row.
        """
        versions = {each.version: each for each in self.rows(table, key)}
        last = list(versions.values())[-1] if versions else None
        if last is None or last.new is None:
            raise TrackingError(f"The last version of {table!r} has no row of the key {key!r}.")
        chain, cells = self._chains[name := self._name_of(table)], CellHistory()
        made_by = self._made_by(name)
        for number, shape in chain.shapes.items():
            cells.follow(shape, number, made_by.get(number))
            if number in versions:
                cells.change(versions[number])
        return cells.found

    @reading_versions()
    def since(self, table: str, condition: str) -> RowVersion | None:
        """Return the version at which a condition over a table became true.

        Versions are bisected, as by ``git bisect``: of a condition that is true more than once in
        between, one of the versions at which it became true is returned.

        Parameters
        ----------
        condition
            A query of one value, TRUE or not, over the table by any of its names.

        Returns
        -------
        The version, its statement, and the values before and after; None: it is not true of the
        last version. A condition that is true of the first version has no statement.
        """
        chain = self._chains[name := self._name_of(table)]
        numbers = list(chain.versions)
        answers: dict[int, Row] = {}

        def holds(place: int) -> bool:
            number = numbers[place]
            if number not in answers:
                answers[number] = self._ask(name, chain.versions[number], condition)
            return answers[number][0] is True

        if not holds(len(numbers) - 1):
            return None
        if holds(0):
            return RowVersion(numbers[0], None, "there", None, answers[numbers[0]])
        low, high = 0, len(numbers) - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(middle) else (middle, high)
        made_by = self._made_by(name)
        number = numbers[high]
        old, new = answers[numbers[low]], answers[number]
        return RowVersion(number, made_by.get(number), "became true", old, new)

    def _ask(self, table: str, view: str, condition: str) -> Row:
        with reading(condition, written=True):
            query, read = self._over_tables(condition, lambda name: view if name == table else None)
            answer = self.engine.spark.sql(self.engine.shown(query))
            answer.schema  # noqa: B018 - Connect analyses here
        if table not in read:
            raise TrackingError(
                f"The condition of since() does not read {table}.\n"
                f"Write a query over it, such as SELECT sum(amount) > 100 FROM {table}."
            )
        rows = answer.limit(2).collect()
        if len(rows) != 1 or len(rows[0]) != 1:
            raise TrackingError(
                "The condition of since() is a query of one row with one value, such as "
                f"SELECT sum(amount) > 100 FROM {table}."
            )
        return rows[0]


class CellHistory:
    """The origins of the cells of a row, followed through its versions.

    Attributes
    ----------
    found
        By column; empty while there is no row.
    """

    def __init__(self) -> None:
        self.found: dict[str, CellOrigin] = {}
        self._shape: TableShape | None = None

    def follow(self, shape: TableShape, version: int, statement: str | None) -> None:
        """Name the columns as a version does; columns that are new have NULL."""
        before, self._shape = self._shape, shape
        if before is None or not self.found or before.alike(shape):
            return
        known = before.columns_in(shape) or {}
        found = {}
        for name in shape.names:
            own = known.get(name.lower())
            origin = self.found.get(own.name) if own else None
            if origin is None:
                found[name] = CellOrigin(name, None, statement, version)
            else:
                found[name] = replace(origin, column=name)
        self.found = found

    def change(self, row: RowVersion) -> None:
        """Note the values that a version of the row has anew."""
        if row.new is None:
            self.found = {}
            return
        for column, value in row.new.asDict().items():
            known = self.found.get(column)
            if known is None or not same_values(known.value, value):
                self.found[column] = CellOrigin(column, value, row.statement, row.version)


def changed_versions(
    found: Mapping[int, Sequence[Row]], chain: Chain, made_by: Mapping[int, str]
) -> Iterator[RowVersion]:
    """Yield the versions that changed a row, of its rows by version.

    A column that was renamed, added with NULL or dropped is not a change.
    """
    old: Row | None = None
    before: TableShape | None = None
    for place, (number, rows) in enumerate(found.items()):
        new, shape = rows[0] if rows else None, chain.shapes[number]
        kept = old
        if old is not None and before is not None and not before.alike(shape):
            known = before.columns_in(shape)
            if known is not None:
                own = (known.get(name.lower()) for name in shape.names)
                values = [None if each is None else old[each.name] for each in own]
                kept = Row(*shape.names)(*values)
        if not same_values(kept, new):
            change = "updated"
            if place == 0:
                change = "there"
            elif old is None:
                change = "inserted"
            elif new is None:
                change = "deleted"
            yield RowVersion(number, made_by.get(number), change, old, new)
        old, before = new, shape


def same_values(left: Any, right: Any) -> bool:
    """Return True if two values are one, NaN with NaN too."""
    if isinstance(left, Row) and isinstance(right, Row):
        same_fields = left.asDict().keys() == right.asDict().keys()
        return same_fields and all(map(same_values, left, right))
    return left is right or left == right or (left != left and right != right)
