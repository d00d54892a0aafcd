"""The versions of a row, and the statements that made them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby, pairwise
from typing import Any, Final

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from lipstick.errors import TrackingError
from lipstick.histories.chain import Chain
from lipstick.histories.differences import bytes_read
from lipstick.histories.engine import SparkReplayEngine
from lipstick.questions.asking import question
from lipstick.tracking.formats.versions import COMMIT, MORE
from lipstick.tracking.views import column_of
from rewriter.statements import TableShape, over_relations
from semiring.door import checked

_VERSION: Final = "_lipstick_version"
_FEW_VERSIONS: Final = 8
"""Commits up to which each question reads their files."""
_FEW_BYTES: Final = 2**28
"""Bytes of the files of commits up to which their changes are written."""
_NESTED: Final = ("array", "geo", "map", "struct", "variant")
"""Types whose equal values may differ in what they are made of."""


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

    def __init__(self) -> None:
        self._changes: dict[str, tuple[int, list[DataFrame]]] = {}

    @abstractmethod
    def name_of(self, table: str) -> str:
        """Return a table of the history by its name in lower case."""

    @abstractmethod
    def chain(self, table: str) -> Chain:
        """Return the versions of a table."""

    @abstractmethod
    def key_columns(self, table: str) -> tuple[str, ...]:
        """Return the columns of a table's key."""

    @abstractmethod
    def made_by(self, table: str) -> dict[int, str]:
        """Return by version the statement that made it."""

    @question("reading the versions of a row")
    def rows(self, table: str, key: Any) -> list[RowVersion]:
        """Return the versions of a row, each with the statement that made it.

        Where the log of a format has the files of its commits, these are read, not the versions.
        After more than eight commits, or data frames, the first question writes what they changed,
        if they have less than 256 MiB together, and later questions look a key up there.

        Parameters
        ----------
        key
            The value of the table's key; a tuple where it has several columns.
        """
        name, chain = self.name_of(table), self.chain(table)
        columns = self.key_columns(name)
        values = key if isinstance(key, tuple) else (key,)
        if len(values) != len(columns):
            raise TrackingError(
                f"A key of {table!r} has {len(columns)} values ({', '.join(columns)}), "
                f"not {len(values)}."
            )
        pairs = zip(columns, values, strict=True)
        key_is = reduce(
            Column.__and__, (column_of(c).eqNullSafe(F.lit(value)) for c, value in pairs)
        )
        found = self._followed(name, key_is) or self._read(chain, key_is)
        twice = next((number for number, rows in found.items() if len(rows) > 1), None)
        if twice is not None:
            raise TrackingError(
                f"Version {twice} of {table!r} has several rows of the key {key!r}.\n"
                "Reenact the history with a key that is unique in all versions."
            )
        return list(changed_versions(found, chain, self.made_by(name)))

    def _followed(self, table: str, selected: Column) -> dict[int, list[Row]] | None:
        """Return by version its rows, from the first version and what commits changed.

        None: the format does not say what they changed.
        """
        chain = self.chain(table)
        changes = self._changes_of(table, chain)
        if changes is None:
            return None
        first = self.spark.table(chain.versions[chain.first])
        rows, own = first.where(selected).collect(), Row(*first.columns)
        commits: dict[int, list[Row]] = {}
        for row in (row for frame in changes for row in frame.where(selected).collect()):
            commits.setdefault(row[COMMIT], []).append(row)
        if commits.keys() - chain.versions.keys():
            return None
        found = {}
        for number in chain.versions:
            for *values, more, _ in sorted(commits.get(number, ()), key=lambda row: row[MORE]):
                row = own(*values)
                rows += [row] * more
                for _ in range(-more):
                    places = (n for n, each in enumerate(rows) if same_values(each, row))
                    if (place := next(places, None)) is None:
                        return None
                    del rows[place]
            found[number] = rows.copy()
        return found

    def _changes_of(self, table: str, chain: Chain) -> list[DataFrame] | None:
        """Return what the commits of a table changed; of many, the changes are written once."""
        last, written = self._changes.get(table, (chain.first, []))
        if last == chain.last:
            return written
        commits = len(chain.after(last))
        new = (
            self._between(chain, last)
            if chain.table is None
            else chain.table.changes(last, chain.last)
        )
        if new is None:
            return None
        nested = any(field.dataType.simpleString().startswith(_NESTED) for field in new.schema)
        few = not nested and commits > _FEW_VERSIONS
        if not few or not 0 < self._size(new, chain, commits) <= _FEW_BYTES:
            return None if chain.table is None else [*written, new]
        written = [*written, self.spark.table(self.engine.written(_without_copies(new)))]
        self._changes[table] = chain.last, written
        return written

    def _between(self, chain: Chain, last: int) -> DataFrame | None:
        """Return the rows of each data frame and, taken away, the rows of the one before it.

        None: they are few, and are read as they are, or have different columns.
        """
        numbers = chain.after(last)
        if len(numbers) <= _FEW_VERSIONS:
            return None
        frames = {number: self.spark.table(chain.versions[number]) for number in (last, *numbers)}
        if len({frame.schema.json() for frame in frames.values()}) > 1:
            return None
        signed = (
            frames[number].select("*", F.lit(more).alias(MORE), F.lit(after).alias(COMMIT))
            for before, after in pairwise(frames)
            for number, more in ((before, -1), (after, 1))
        )
        return reduce(DataFrame.unionAll, signed)

    def _size(self, changes: DataFrame, chain: Chain, commits: int) -> int:
        """Return the bytes of changes; at most, as Iceberg does not say, of a table each commit."""
        table_bytes = bytes_read(self.spark.table(chain.versions[chain.last]))
        return min(bytes_read(changes), table_bytes * commits)

    def _read(self, chain: Chain, selected: Column) -> dict[int, list[Row]]:
        """Return the rows of each version; versions with the same columns are read together."""
        found: dict[int, list[Row]] = {number: [] for number in chain.versions}
        frames = {number: self.spark.table(view) for number, view in chain.versions.items()}
        for _, numbers in groupby(frames, lambda number: frames[number].schema.json()):
            rows = (frames[n].where(selected).withColumn(_VERSION, F.lit(n)) for n in numbers)
            for *values, number in (union := reduce(DataFrame.unionAll, rows)).collect():
                found[number].append(Row(*union.columns[:-1])(*values))
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
        chain, cells = self.chain(table), CellHistory()
        made_by = self.made_by(self.name_of(table))
        for number, shape in chain.shapes.items():
            cells.follow(shape, number, made_by.get(number))
            if number in versions:
                cells.change(versions[number])
        return cells.found

    def since(self, table: str, condition: str) -> RowVersion | None:
        """Return the version at which a condition over a table became true.

        Versions are bisected, as by ``git bisect``: of a condition that is true more than once in
        between, one of the versions at which it became true is returned.

        Parameters
        ----------
        condition
            A query of one value, TRUE or not, over the table by its name.

        Returns
        -------
        The version, its statement, and the values before and after; None: it is not true of the
        last version. A condition that is true of the first version has no statement.
        """
        name, chain = self.name_of(table), self.chain(table)
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
        made_by = self.made_by(name)
        number = numbers[high]
        old, new = answers[numbers[low]], answers[number]
        return RowVersion(number, made_by.get(number), "became true", old, new)

    def _ask(self, table: str, view: str, condition: str) -> Row:
        spark = self.spark
        rows = spark.sql(over_relations(condition, {table: view})).limit(2).collect()
        if len(rows) != 1 or len(rows[0]) != 1:
            raise TrackingError(
                "The condition of since() is a query of one row with one value, such as "
                f"SELECT sum(amount) > 100 FROM {table}."
            )
        return rows[0]


def _without_copies(changes: DataFrame) -> DataFrame:
    """Return changes without the rows that a commit wrote again as they were.

    Zeros of either sign, and letters that a collation equates, are different.
    """
    keys, values = [], []
    for number, (name, kind) in enumerate(changes.drop(MORE).dtypes):
        exact = kind in ("float", "double") or kind.startswith("string collate")
        key = column_of(name).cast("string") if exact else column_of(name)
        keys.append(key.alias(f"_lipstick_{number}"))
        values.append(F.first(column_of(name)).alias(name))
    groups = changes.groupBy(*keys).agg(*values, F.sum(MORE).alias(MORE))
    return groups.select(*map(column_of, changes.columns)).where(F.col(MORE) != 0)


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
