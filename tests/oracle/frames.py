"""Random programs of data frame calls, replayable from a seed.

``python -m tests.oracle.frames SEED`` prints the database and the program of a seed.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from tests.oracle.database import Database
from tests.oracle.expressions import INTEGERS, Column, Term, predicate, scalar, stable
from tests.oracle.queries.databases import random_database

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Frames: TypeAlias = "Mapping[str, DataFrame]"
Call: TypeAlias = "Callable[[DataFrame, Frames], DataFrame]"

_SIZE: Final = 600
"""So many rows a join may have."""
_DAYS: Final = 1_000
_KINDS: Final = {"decimal": "decimal", "char": "string"}
_JOINED: Final = ("int", "string", "window")
_WINDOWS: Final = (
    "window({}, '2 days')",
    "window({}, '3 days', '1 day')",
    "window({}, '2 days', '2 days', '30 hours')",
    "session_window({}, '1 day')",
    "session_window({}, '36 hours')",
)


@dataclass(frozen=True, slots=True)
class Program:
    """A data frame made of a relation by calls, one after the other.

    ``calls`` are what :meth:`build` does; ``lines`` say it, a line for each.
    """

    relation: str
    calls: tuple[Call, ...]
    lines: tuple[str, ...]
    columns: tuple[Column, ...]
    size: float

    def build(self, frames: Frames) -> DataFrame:
        """Return the data frame over relations."""
        frame = frames[self.relation]
        for call in self.calls:
            frame = call(frame, frames)
        return frame

    def then(self, line: str, call: Call, columns: Sequence[Column], size: float = 0.0) -> Program:
        """Return the program with one more call."""
        calls, lines = (*self.calls, call), (*self.lines, line)
        return Program(self.relation, calls, lines, tuple(columns), size or self.size)

    def __str__(self) -> str:
        return "\n  ".join([self.relation, *self.lines])


def generate(seed: int) -> tuple[Database, Program]:
    """Return a database and a program over it."""
    rng = random.Random(seed)
    database = random_database(rng)
    if rng.random() < 0.4:
        length = rng.choice((3, 5))
        database = database.padded(c=length, g=rng.choice((length, length, 4)))
    return database, _Drawn(rng, database).program(rng.choice((3, 4, 5, 6)))


class _Drawn:
    """Draws a program; columns have names of their own, by which calls refer to them."""

    def __init__(self, rng: random.Random, database: Database) -> None:
        self._rng = rng
        self._database = database
        self._names = 0

    def program(self, length: int) -> Program:
        """Return a program of about so many calls."""
        program = self._relation()
        steps = (
            self._filtered,
            self._filtered,
            self._computed,
            self._chosen,
            self._joined,
            self._joined,
            self._grouped,
            self._grouped,
            self._distinct,
            self._combined,
            self._numbered,
            self._windowed,
            self._windowed,
            self._exploded,
            self._filled,
            self._pivoted,
        )
        for _ in range(length):
            program = self._rng.choice(steps)(program)
        return self._limited(program) if self._rng.random() < 0.2 else program

    def _fresh(self) -> str:
        self._names += 1
        return f"c{self._names}"

    def _relation(self) -> Program:
        """Return some columns of a relation, under fresh names."""
        relation = self._rng.choice(list(self._database.relations.values()))
        names = {name: self._fresh() for name in relation.data.column_names}
        columns = []
        for item in relation.schema.split(", "):
            name, kind = item.split(" ")
            kind = _KINDS.get(kind.split("(")[0], kind)
            columns.append(Column(names[name], Term(names[name], kind)))
        program = Program(relation.name, (), (), tuple(columns), float(relation.data.num_rows))
        return program.then(
            f".withColumnsRenamed({names})", lambda f, _: f.withColumnsRenamed(names), columns
        )

    def _filtered(self, program: Program) -> Program:
        test = predicate(self._rng, program.columns, 1).sql
        return program.then(f".where({test!r})", lambda f, _: f.where(test), program.columns)

    def _computed(self, program: Program) -> Program:
        name = self._fresh()
        chosen = self._rng.choice(program.columns).term
        if chosen.kind == "window":
            field = self._rng.choice(("start", "end"))
            term = chosen.derived(f"CAST({chosen.sql}.{field} AS DATE)", kind="date")
        else:
            term = scalar(self._rng, program.columns, chosen.kind)

        def call(frame: DataFrame, _: Frames) -> DataFrame:
            from pyspark.sql import functions as f

            return frame.withColumn(name, f.expr(term.sql))

        columns = (*program.columns, Column(name, term).referred(name))
        return program.then(f".withColumn({name!r}, expr({term.sql!r}))", call, columns)

    def _chosen(self, program: Program) -> Program:
        chosen = self._rng.sample(program.columns, self._rng.randint(1, len(program.columns)))
        names = [column.name for column in chosen]
        if self._rng.random() < 0.3 and len(names) < len(program.columns):
            kept = [column for column in program.columns if column not in chosen]
            return program.then(f".drop(*{names})", lambda f, _: f.drop(*names), kept)
        return program.then(f".select({names})", lambda f, _: f.select(names), chosen)

    def _joined(self, program: Program) -> Program:
        other = self.program(self._rng.choice((0, 0, 1, 2)))
        pairs = [
            (left, right)
            for left in program.columns
            for right in other.columns
            if left.term.kind == right.term.kind in _JOINED
            and not (left.term.unstable or right.term.unstable)
        ]
        if not pairs or program.size * other.size / 5 > _SIZE:
            return program
        left, right = self._rng.choice(pairs)
        how = self._rng.choice(
            ("inner", "inner", "left", "right", "full", "left_semi", "left_anti", "on", "less")
        )
        columns = program.columns if how.startswith("left_") else (*program.columns, *other.columns)
        size = program.size * other.size / 5 + program.size + other.size

        def call(frame: DataFrame, frames: Frames) -> DataFrame:
            to = other.build(frames)
            if how == "on":
                return frame.join(to.withColumnRenamed(right.name, left.name), left.name)
            if how == "less":
                return frame.join(to, frame[left.name] < to[right.name])
            return frame.join(to, frame[left.name] == to[right.name], how)

        if how == "on":
            rest = [c for c in program.columns if c is not left]
            columns = (left, *rest, *(c for c in other.columns if c is not right))
        text = str(other).replace("\n", "\n    ")
        return program.then(
            f".join({how}, {left.name}, {right.name},\n    {text})", call, columns, size
        )

    def _grouped(self, program: Program) -> Program:
        keys = [c for c in program.columns if not c.term.unstable]
        numbers = [c for c in program.columns if c.term.kind in INTEGERS]
        if not keys:
            return program
        by = self._rng.sample(keys, min(len(keys), self._rng.choice((1, 1, 2))))
        names = [column.name for column in by]
        calls = [(self._fresh(), "count(*)", Term("", "bigint", 1e4))]
        for word in self._rng.sample(("sum", "min", "max", "count_if", "collect"), 2):
            value = self._rng.choice(numbers) if numbers else None
            if word == "count_if":
                test = predicate(self._rng, program.columns, 0).sql
                calls.append((self._fresh(), f"count_if({test})", Term("", "bigint", 1e4)))
            elif value is not None and word == "collect":
                text = f"size(collect_set({value.name}))"
                calls.append((self._fresh(), text, Term("", "int", 1e3)))
            elif value is not None:
                made_of = Term("", "bigint", value.term.bound * 100)
                calls.append((self._fresh(), f"{word}({value.name})", made_of))

        def call(frame: DataFrame, _: Frames) -> DataFrame:
            from pyspark.sql import functions as f

            return frame.groupBy(*names).agg(*(f.expr(sql).alias(n) for n, sql, _ in calls))

        columns = [*by, *(Column(n, term).referred(n) for n, _, term in calls)]
        listed = ", ".join(f"{sql} as {n}" for n, sql, _ in calls)
        return program.then(f".groupBy({names}).agg({listed})", call, columns, program.size / 2)

    def _distinct(self, program: Program) -> Program:
        return program.then(".distinct()", lambda f, _: f.distinct(), program.columns)

    def _combined(self, program: Program) -> Program:
        """Return a set operation of one column with another program's."""
        other = self.program(self._rng.choice((0, 1)))
        pairs = [
            (left, right)
            for left in program.columns
            for right in other.columns
            if left.term.kind == right.term.kind
        ]
        if not pairs:
            return program
        left, right = self._rng.choice(pairs)
        word = self._rng.choice(("union", "subtract", "intersect", "exceptAll", "intersectAll"))

        def call(frame: DataFrame, frames: Frames) -> DataFrame:
            to = other.build(frames).select(right.name)
            combine: Callable[[Any], DataFrame] = getattr(frame.select(left.name), word)
            return combine(to)

        text = str(other).replace("\n", "\n    ")
        line = f".select({left.name!r}).{word}({right.name},\n    {text})"
        return program.then(line, call, [left], program.size + other.size)

    def _numbered(self, program: Program) -> Program:
        """Return a column of a window: rows that agree on all columns are equal."""
        terms = stable(program.columns)
        if not terms or len(terms) < len(program.columns):
            return program
        name, by = self._fresh(), self._rng.choice(program.columns).name
        order = [column.name for column in program.columns]
        word = self._rng.choice(("row_number()", "rank()", "sum(1)", f"lag({by})"))
        kind = self._rng.choice(program.columns) if word.startswith("lag") else None

        def call(frame: DataFrame, _: Frames) -> DataFrame:
            from pyspark.sql import Window
            from pyspark.sql import functions as f

            return frame.withColumn(name, f.expr(word).over(Window.partitionBy(by).orderBy(*order)))

        term_of_key = next(c.term for c in program.columns if c.name == by)
        term = Term(name, "bigint", 1e4) if kind is None else term_of_key
        column = Column(name, term).referred(name)
        line = f".withColumn({name!r}, {word} over (partition by {by} order by {order}))"
        return program.then(line, call, (*program.columns, column))

    def _windowed(self, program: Program) -> Program:
        """Return a column of time windows, or groups by one."""
        times = [c.name for c in program.columns if c.term.kind in ("date", "window")]
        numbers = [c for c in program.columns if c.term.kind == "int" and c.term.bound <= _DAYS]
        times += [f"DATE_ADD(DATE '2020-01-01', {c.name})" for c in numbers]
        if not times or program.size * 2 > _SIZE:
            return program
        name = self._fresh()
        sql = self._rng.choice(_WINDOWS).format(self._rng.choice(times))
        column = Column(name, Term(name, "window"))
        grouped = self._rng.random() < 0.4
        by = [c for c in program.columns if not c.term.unstable and c.term.kind != "window"]
        by = self._rng.sample(by, min(len(by), self._rng.choice((0, 1))))
        names, count = [c.name for c in by], self._fresh()

        def call(frame: DataFrame, _: Frames) -> DataFrame:
            from pyspark.sql import functions as f

            if grouped:
                groups = frame.groupBy(f.expr(sql).alias(name), *names)
                return groups.agg(f.count("*").alias(count))
            return frame.withColumn(name, f.expr(sql))

        if grouped:
            counted = Column(count, Term(count, "bigint", 1e4))
            line = f".groupBy(expr({sql!r}).alias({name!r}), *{names}).agg(count as {count})"
            return program.then(line, call, [column, *by, counted], program.size)
        line = f".withColumn({name!r}, expr({sql!r}))"
        return program.then(line, call, (*program.columns, column), program.size * 2)

    def _exploded(self, program: Program) -> Program:
        numbers = [c for c in program.columns if c.term.kind == "int"]
        if len(numbers) < 2 or program.size * 2 > _SIZE:
            return program
        first, other = self._rng.sample(numbers, 2)
        name = self._fresh()

        def call(frame: DataFrame, _: Frames) -> DataFrame:
            from pyspark.sql import functions as f

            return frame.select("*", f.explode(f.array(first.name, other.name)).alias(name))

        column = Column(name, first.term.derived(name, other.term))
        line = f".select('*', explode(array({first.name}, {other.name})) as {name})"
        return program.then(line, call, (*program.columns, column), program.size * 2)

    def _filled(self, program: Program) -> Program:
        numbers = [c.name for c in program.columns if c.term.kind == "int"]
        if not numbers:
            return program
        if self._rng.random() < 0.5:
            return program.then(
                f".na.fill(0, {numbers})", lambda f, _: f.na.fill(0, numbers), program.columns
            )
        names = self._rng.choice([numbers, [c.name for c in program.columns]])
        least = self._rng.randint(1, len(names))
        return program.then(
            f".dropna(thresh={least}, subset={names})",
            lambda f, _: f.dropna(thresh=least, subset=names),
            program.columns,
        )

    def _pivoted(self, program: Program) -> Program:
        keys = stable(program.columns)
        numbers = [c for c in program.columns if c.term.kind in INTEGERS]
        if not keys or not numbers:
            return program
        by, of = self._rng.choice(program.columns), self._rng.choice(numbers)
        value = self._rng.choice(numbers)
        if by is of or by.term.unstable:
            return program

        def call(frame: DataFrame, _: Frames) -> DataFrame:
            from pyspark.sql import functions as f

            values = frame.groupBy(f.expr(key)).pivot(of.name, [1, 2]).agg(f.sum(value.name))
            return values.toDF(by.name, *names)

        key = self._rng.choice([by.name, f"coalesce({by.name}, {by.name})"])
        names = [self._fresh(), self._fresh()]
        columns = [by, *(Column(n, Term(n, "bigint", value.term.bound * 100)) for n in names)]
        line = (
            f".groupBy(expr({key!r})).pivot({of.name!r}, [1, 2]).sum({value.name!r}).toDF(*{names})"
        )
        return program.then(line, call, columns, program.size / 2)

    def _limited(self, program: Program) -> Program:
        if len(stable(program.columns)) < len(program.columns):
            return program
        names = [column.name for column in program.columns]
        return program.then(
            f".orderBy({names}).limit(3)", lambda f, _: f.orderBy(*names).limit(3), program.columns
        )


def main(arguments: Sequence[str]) -> None:
    """Print the database and the program of each seed given."""
    for argument in arguments:
        database, program = generate(int(argument))
        print(database, program, sep="\n\n")


if __name__ == "__main__":
    main(sys.argv[1:])
