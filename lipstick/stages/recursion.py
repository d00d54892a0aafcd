"""The levels of recursive queries: computed one after the other as data, or counted.

Where a level is made by selecting, projecting and joining rows of the level before and of tracked
relations, each of its rows has one derivation, and its annotation is the product of the tokens of
all levels. The rows are computed level by level, by a statement that is the same for all levels;
this process adds to each row the tokens of the row before it. Queries read the result as they read
a relation, however deep the recursion goes. Other recursions are unfolded into a union of levels.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T
from pyspark.sql.types import StructType

from lipstick.dataframes.arrow import arrow_rows, frame_of_arrow, with_nullable_columns
from lipstick.errors import NeedsSparkError, UnsupportedError
from lipstick.stages.reading import own_sql
from lipstick.stages.surroundings import Surroundings
from rewriter import Recursion, lower_query
from rewriter.algebra import Iterated
from rewriter.algebra.leaves import LEVEL_ROW, LEVEL_VIEW
from rewriter.blocks import TokenSource
from rewriter.emit.statements import BEFORE, LevelDerivations, derivations, plain_sql, potential_sql

if TYPE_CHECKING:
    from lipstick.capture.local_rows import Relations

_ADVICE = "Store the recursion's answer in a relation and track it."
MOST_UNFOLDED = 32
"""The default limit of the levels that a recursion is unfolded into: each is a join."""
_MOST_TOKENS = 300_000_000
"""The tokens of all derivations of a recursion, at most."""
_READABLE = (
    T.NumericType,
    T.StringType,
    T.BinaryType,
    T.BooleanType,
    T.DateType,
    T.TimestampType,
    T.TimestampNTZType,
)


@dataclass(frozen=True, slots=True)
class Recursions:
    """The recursions of one query over the relations of its surroundings."""

    around: Surroundings
    sql: str

    def computed(self, recursion: Recursion) -> Iterated | None:
        """Compute the rows of a recursion, and return their view; None for one to be unfolded.

        Raises
        ------
        UnsupportedError
            The recursion has more levels, rows or tokens than it may have, or levels of different
            types.
        """
        around, streams = self.around, self.around.streams
        statements = []
        for relation in (recursion.levels[0], recursion.step):
            assert relation is not None
            block = lower_query(relation, around.tokens, self.sql)
            statement = derivations(block, LEVEL_VIEW)
            if statement is None or any(name in streams for name, _ in statement.tokens):
                return None
            statements.append(statement)
        relations = around.local_relations.of(around.tracked.values())
        iteration = _Iteration(around.spark, recursion, self.sql, relations, *statements)
        rows = iteration.rows()
        if rows is None:
            return None
        table, schema = rows
        number = uuid.uuid4().hex[:8]
        name = f"_lipstick_recursion_{number}"
        path = around.store / "recursions" / f"{number}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, path)
        around.add_view(around.spark.read.schema(schema).parquet(str(path)), name)
        return Iterated(name, iteration.columns, LEVEL_ROW, tuple(iteration.tokens))

    def depth(self, recursion: Recursion) -> int:
        """Return the last of the levels of a recursion that may have tuples.

        Raises
        ------
        UnsupportedError
            The last level is not empty, or not after every deletion, or levels have different
            types.
        """
        return _depth(_Levels(self.around.spark, recursion, self.around.tokens, self.sql))


class _Iteration:
    """The rows of a recursion, computed level by level.

    ``first`` and ``step`` compute the first level, and any other from the level before it. Where
    the rows of all relations are in this process, steps are computed here.
    """

    def __init__(
        self,
        spark: SparkSession,
        recursion: Recursion,
        sql: str,
        relations: Relations,
        first: LevelDerivations,
        step: LevelDerivations,
    ) -> None:
        self._spark = spark
        self._recursion = recursion
        self._sql = sql
        self._view = f"{LEVEL_VIEW}_{uuid.uuid4().hex[:8]}"
        self._first = first
        self._step = step
        count = len(recursion.levels[0].attributes)
        self.columns = tuple(f"c{number}" for number in range(count))
        self.tokens: list[tuple[str, tuple[str, ...]]] = []
        self._at_hand = self._tables(relations)
        self._schema: StructType | None = None

    def _tables(self, relations: Relations) -> Mapping[str, pa.Table] | None:
        """Return the relations that a step joins, where it is computed in this process."""
        from lipstick.capture.local_rows import computes_alike
        from lipstick.engines.memory.cores import scanned_views
        from lipstick.engines.route import if_here

        core = self._step.core
        if core is None or not computes_alike(self._spark):
            return None
        views = if_here(lambda: set(scanned_views(core)) - {LEVEL_VIEW}, NeedsSparkError)
        if views is None:
            return None
        return relations(views) if views else {}

    def rows(self) -> tuple[pa.Table, StructType] | None:
        """Return all rows with their tokens, and their schema; None for types kept by Spark alone.

        Raises
        ------
        UnsupportedError
            The recursion has more levels, rows or tokens than it may have.
        """
        frame = own_sql(self._spark, self._first.sql)
        fields = frame.schema.fields
        if not all(_is_readable(field.dataType) for field in fields):
            return None
        schema = StructType()
        for name, field in zip(self._names(0, self._first), fields, strict=True):
            schema.add(name, field.dataType)
        level = self._level(arrow_rows(frame), 0, self._first, None)
        levels = [level]
        number, total = 0, level.num_rows
        try:
            while level.num_rows:
                number += 1
                self._check(number, total, level)
                start = total - level.num_rows
                before = level.select(self.columns)
                positions = pa.array(np.arange(start, total, dtype=np.int64))
                rows = self._next(before.append_column(LEVEL_ROW, positions), schema)
                level = self._level(rows, number, self._step, (level, start))
                total += level.num_rows
                if level.num_rows:
                    self._extend(schema, number)
                    levels.append(level)
        finally:
            self._spark.catalog.dropTempView(self._view)
        # The first levels have no tokens of later ones, whatever relations promise of their keys.
        levels = [with_nullable_columns(level) for level in levels]
        table = pa.concat_tables(levels, promote_options="default")
        table = table.append_column(LEVEL_ROW, pa.array(np.arange(total, dtype=np.int64)))
        schema.add(LEVEL_ROW, T.LongType())
        return table, schema

    def _next(self, before: pa.Table, schema: StructType) -> pa.Table:
        """Return the rows of the level after one, whose columns have the types of the first."""
        if self._schema is None:
            self._schema = self._from_spark(before).schema
            self._check_types(schema, self._schema)
        if self._at_hand is not None:
            from lipstick.engines.route import if_here

            rows = if_here(partial(self._joined, before, self._schema))
            if rows is not None:
                return rows
            self._at_hand = None
        return arrow_rows(self._from_spark(before))

    def _joined(self, before: pa.Table, schema: StructType) -> pa.Table:
        """Return the rows of the next level, computed in this process."""
        from lipstick.capture.local_rows import MOST_PAIRS, arrow_schema, as_spark_has
        from lipstick.engines.memory.cores import CoreInputs, core_rows

        assert self._step.core is not None
        inputs = CoreInputs({**(self._at_hand or {}), LEVEL_VIEW: before}, MOST_PAIRS)
        return as_spark_has(core_rows(self._step.core, inputs), arrow_schema(schema))

    def _from_spark(self, before: pa.Table) -> DataFrame:
        frame_of_arrow(self._spark, before).createOrReplaceTempView(self._view)
        return own_sql(self._spark, self._step.sql.replace(f"`{LEVEL_VIEW}`", f"`{self._view}`"))

    def _extend(self, schema: StructType, number: int) -> None:
        """Add the tokens of a level to a schema."""
        assert self._schema is not None
        kinds = [field.dataType for field in self._schema.fields[:-1]]
        for name, kind in zip(self._names(number, self._step), kinds, strict=True):
            if name not in self.columns:
                schema.add(name, kind)

    def _names(self, number: int, statement: LevelDerivations) -> list[str]:
        """Return the names of the columns and tokens of a level."""
        names = list(self.columns)
        for place, (_, size) in enumerate(statement.tokens):
            names += [f"_t{number}_{place}_{part}" for part in range(size)]
        return names

    def _level(
        self,
        rows: pa.Table,
        number: int,
        statement: LevelDerivations,
        before: tuple[pa.Table, int] | None,
    ) -> pa.Table:
        """Return the rows of a level in the order of their derivations, with all their tokens."""
        names = self._names(number, statement)
        if before is None:
            return _in_order(rows.rename_columns(names))
        rows = _in_order(rows.rename_columns([*names, BEFORE]))
        level, start = before
        places = pc.subtract(rows[BEFORE], start)
        rows = rows.drop_columns([BEFORE])
        if rows.num_rows:
            tokens = level.drop_columns(list(self.columns)).take(places)
            for name, column in zip(tokens.column_names, tokens.columns, strict=True):
                rows = rows.append_column(name, column)
            self._add_tokens(number, statement)
        return rows

    def _add_tokens(self, number: int, statement: LevelDerivations) -> None:
        for place, (relation, size) in enumerate(statement.tokens):
            parts = tuple(f"_t{number}_{place}_{part}" for part in range(size))
            self.tokens.append((relation, parts))

    def _check(self, number: int, total: int, level: pa.Table) -> None:
        """Refuse another level, or one more row or token, where Spark does or memory may end."""
        name = self._recursion.name
        if number == 1:
            self._add_tokens(0, self._first)
        most = self._recursion.most
        if most is None:
            most = int(self._conf("cteRecursionLevelLimit", "100"))
        if most != -1 and number > most:
            problem = f"{name} does not end within {most} levels"
            advice = "If it ends, say within how many: MAX RECURSION LEVEL n after its name."
            raise self._refusal(problem, advice)
        limit = int(self._conf("cteRecursionRowLimit", "1000000"))
        if limit != -1 and total > limit:
            advice = "Set spark.sql.cteRecursionRowLimit to more."
            raise self._refusal(f"{name} has more than {limit} rows", advice)
        if level.num_rows * level.num_columns > _MOST_TOKENS:
            raise self._refusal(f"{name} has more than {_MOST_TOKENS} tokens", _ADVICE)

    def _conf(self, name: str, default: str) -> str:
        value: str = self._spark.conf.get(f"spark.sql.{name}", default) or default
        return value

    def _check_types(self, schema: StructType, following: StructType) -> None:
        for name, field in zip(self.columns, following.fields, strict=False):
            first, next_ = schema[name].dataType.simpleString(), field.dataType.simpleString()
            if first != next_:
                raise self._refusal(*_of_other_types(self._recursion.name, first, next_))

    def _refusal(self, problem: str, advice: str) -> UnsupportedError:
        return UnsupportedError(
            f"{problem}, which is not supported", advice, self._sql, self._recursion.span
        )


def _is_readable(kind: T.DataType) -> bool:
    """Return True if values of a type come back from a file as they went in."""
    if isinstance(kind, T.ArrayType):
        return _is_readable(kind.elementType)
    if isinstance(kind, T.StructType):
        return all(_is_readable(field.dataType) for field in kind.fields)
    if isinstance(kind, T.StringType):
        return kind.simpleString() == "string"
    return isinstance(kind, _READABLE)


def _in_order(rows: pa.Table) -> pa.Table:
    """Return rows sorted by their tokens first and by what else has an order."""
    keys = [
        name
        for name, kind in zip(reversed(rows.column_names), reversed(rows.schema.types), strict=True)
        if not pa.types.is_nested(kind)
    ]
    return rows.sort_by([(name, "ascending") for name in keys]) if keys else rows


def _of_other_types(name: str, first: str, second: str) -> tuple[str, str]:
    problem = f"{name} begins and goes on with columns of types {first} and {second}"
    return problem, "Cast the column in the recursive query."


def _depth(levels: _Levels) -> int:
    """Return the last level that may have tuples, by doubling and halving."""
    low, high = 0, 1
    while high < levels.last and not levels.is_empty(high):
        low, high = high, min(2 * high, levels.last)
    if high >= levels.last and not levels.is_empty(levels.last):
        raise levels.refusal(
            f"{levels.recursion.name} does not end within {levels.last} levels, or would not after "
            "some deletion",
            "If it ends, say within how many: MAX RECURSION LEVEL n after its name.",
        )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if levels.is_empty(middle) else (middle, high)
    if low:
        levels.check_types()
    return low


@dataclass(frozen=True, eq=False)
class _Levels:
    """The levels of an unfolded recursion, run one at a time."""

    spark: SparkSession
    recursion: Recursion
    tokens: Mapping[str, TokenSource]
    sql: str

    @property
    def last(self) -> int:
        return len(self.recursion.levels) - 1

    def is_empty(self, level: int) -> bool:
        """Return True if a level has no tuples, whatever is deleted."""
        sql = potential_sql(lower_query(self.recursion.levels[level], self.tokens, self.sql))
        if sql is None:
            raise self.refusal(f"recursion of {self.recursion.name} over aggregated values")
        return own_sql(self.spark, sql).head() is None

    def check_types(self) -> None:
        """Refuse a level whose columns differ in type from the first level's."""
        first, second = (
            own_sql(self.spark, plain_sql(lower_query(level, self.tokens, self.sql))).schema
            for level in self.recursion.levels[:2]
        )
        for field, other in zip(first, second, strict=True):
            kinds = field.dataType.simpleString(), other.dataType.simpleString()
            if kinds[0] != kinds[1]:
                raise self.refusal(*_of_other_types(self.recursion.name, *kinds))

    def refusal(self, problem: str, advice: str = _ADVICE) -> UnsupportedError:
        return UnsupportedError(
            f"{problem}, which is not supported", advice, self.sql, self.recursion.span
        )
