"""A drawn history held: every version, and versions without rows and with other statements."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

import duckdb
import pyarrow as pa
import pytest

from lipstick.errors import StatementError
from lipstick.histories.chain import Chain, HistoryStep
from lipstick.histories.changes import lifetimes
from lipstick.histories.lookups import KnownRows
from lipstick.histories.replay import Replay
from lipstick.histories.sql_engine import Concerned, are_as_expected
from lipstick.tracking.formats.versions import COMMIT, MORE
from rewriter.statements import (
    Bags,
    Relations,
    Statement,
    TableColumn,
    TableShape,
    difference,
    hypothetical,
    keys_of,
    parse_statement,
    reenact,
    rows_of,
    source_query,
)
from tests.oracle.histories.draw import (
    NAMES,
    SOURCES,
    TARGETS,
    TYPES,
    Drawn,
    DrawnHistory,
    Row,
    draw,
    quoted,
    renamed,
    statement,
)
from tests.oracle.histories.really import AmbiguousMergeError, Tables, transpiled

_SPARK = {"INTEGER": "INT", "VARCHAR": "STRING"}


@dataclass
class HeldHistories:
    """What was held: statements and questions by what became of them, and changed answers."""

    statements: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)


class DuckEngine:
    """Runs the queries of a replay in a database of DuckDB."""

    def __init__(self, database: duckdb.DuckDBPyConnection) -> None:
        self._database = database
        self._made = 0

    def view(self, query: str) -> str:
        return self._make("VIEW", query)

    def renew(self) -> None:
        """There are no settings, and what is found stays."""

    def shown(self, query: str) -> str:
        return query

    def store(self, query: str, *, few: bool = False) -> str | None:
        name = self._make("TABLE", query)
        [(count,)] = self._database.execute(f'SELECT count(*) FROM "{name}"').fetchall()
        return name if count else None

    def differences(self, left: str, right: str) -> tuple[str | None, str | None]:
        return self.store(difference(left, right)), self.store(difference(right, left))

    def compared(self, left: str, right: str) -> tuple[str, str | None, str | None]:
        return self.view(left), *self.differences(left, right)

    def keys(self, queries: Sequence[tuple[str, str, Sequence[str]]]) -> str | None:
        return self.store(keys_of(queries))

    def is_held(self, query: str) -> bool:
        """Return True at times: whether a query is computed first changes no answer."""
        return self._made % 2 == 0

    def literals(self, view: str) -> list[list[str | None] | None]:
        columns = list(zip(*self.rows(f"SELECT * FROM {view}"), strict=True))
        if any(isinstance(value, str) for column in columns for value in column):
            return []
        return [[None if v is None else str(v) for v in set(column)] for column in columns]

    def held(self, view: str) -> pa.Table | None:
        return self._database.execute(f'SELECT * FROM "{view}"').fetch_arrow_table()

    def shape(self, query: str) -> TableShape:
        described = self._database.execute(f"DESCRIBE {self._written(query)}").fetchall()
        return TableShape(
            tuple(TableColumn(row[0], _SPARK.get(row[1], row[1])) for row in described)
        )

    def count_here(self, query: str) -> int | None:
        """Return the number of rows, every other time."""
        return len(self.rows(query)) if self._made % 2 else None

    def lifetimes(
        self,
        chain: Chain,
        numbers: Sequence[int],
        select: Callable[[str], str],
        keys: pa.Table | None = None,
    ) -> str | None:
        """Return rows of versions, by changes with rows that were written again; None: at times."""
        if self._made % 3 == 0:
            return None
        rows = {n: self.rows(select(rows_of(chain.versions[n]))) for n in numbers}
        signed = [(1, numbers[0], *row) for row in rows[numbers[0]]]
        for before, after in pairwise(numbers):
            kept = list((Counter(rows[before]) & Counter(rows[after])).elements())
            again = kept[: len(kept) // 2]
            for more, one, other in ((-1, before, after), (1, after, before)):
                alone = (Counter(rows[one]) - Counter(rows[other])).elements()
                signed += [(more, after, *row) for row in (*alone, *again)]
        empty = self._database.execute(
            f"SELECT 0 AS {MORE}, 0 AS {COMMIT}, * FROM {chain.versions[numbers[0]]} LIMIT 0"
        ).fetch_arrow_table()
        columns = zip(*signed, strict=True) if signed else [[]] * empty.num_columns
        changes = pa.table(
            [pa.array(c, f.type) for c, f in zip(columns, empty.schema, strict=True)],
            schema=empty.schema,
        )
        found = lifetimes(changes, numbers)
        assert found is not None
        self._database.register("_found", found)
        return self._make("TABLE", "SELECT * FROM _found")

    def rows(self, query: str) -> list[Row]:
        return self._database.execute(self._written(query)).fetchall()

    def _make(self, kind: str, query: str) -> str:
        self._made += 1
        name = f"_made_{self._made}"
        self._database.execute(f"CREATE TEMP {kind} {name} AS {self._written(query)}")
        return name

    def _written(self, query: str) -> str:
        query = re.sub(r"(?i)monotonically_increasing_id\(\)", "ROW_NUMBER() OVER ()", query)
        return transpiled(query)


def check_history(seed: int, held: HeldHistories, questions: int = 4) -> None:
    """Hold the history of a seed.

    Raises
    ------
    AssertionError
        For a version that differs from the one that really was, or really would be.
    """
    drawn, columns = draw(seed), NAMES[seed % len(NAMES)]
    statements = tuple(renamed(each, columns) for each in drawn.statements)
    named = DrawnHistory(drawn.tables, statements, columns)
    check_drawn(named, Random(seed * 7919 + 1), held, questions)


def check_drawn(drawn: DrawnHistory, random: Random, held: HeldHistories, questions: int) -> None:
    """Hold a history, and as many random questions about it; see :func:`check_history`."""
    tables = Tables(drawn.tables, drawn.columns)
    table_shape = shape_of(drawn)
    engine = DuckEngine(tables.database)
    chains = {name: {0: _copy(tables, name, 0)} for name in TARGETS}
    events: list[HistoryStep] = []
    kept: list[Drawn] = []
    for each in drawn.statements:
        parsed = parse_statement(each.text)
        before = {name: list(versions.values())[-1] for name, versions in chains.items()}
        views = {**before, **{name: name for name in SOURCES}}
        source = source_query(parsed, views)
        shape = None if source is None else engine.shape(source)
        written = reenact(parsed, table_shape, Relations(before[each.table], views), shape)
        try:
            tables.run(each)
        except AmbiguousMergeError:
            assert written.ambiguous is not None
            assert engine.rows(written.ambiguous), each.text
            held.statements["ambiguous"] += 1
            continue
        if written.ambiguous is not None:
            assert not engine.rows(written.ambiguous), each.text
        after = Counter(tables.rows(each.table))
        assert Counter(engine.rows(written.rows)) == after, each.text
        if written.touched is not None:
            touched = engine.store(written.touched) or engine.view(written.touched)
            over = Relations(touched, views)
            became = engine.rows(reenact(parsed, table_shape, over, shape).rows)
            rest = Counter(engine.rows(f"SELECT * FROM {before[each.table]}"))
            rest.subtract(engine.rows(f"SELECT * FROM {touched}"))
            rest.update(became)
            assert +rest == after, each.text
            assert min(rest.values(), default=0) >= 0, each.text
            held.statements["by touched rows"] += 1
        held.statements["held"] += 1
        version = len(chains[each.table])
        chains[each.table][version] = _copy(tables, each.table, version)
        events.append(HistoryStep(f"e{len(kept)}", parsed, each.table, version))
        kept.append(each)
    history = DrawnHistory(drawn.tables, tuple(kept), drawn.columns)
    known = KnownRows(engine)
    for _ in range(questions if kept else 0):
        _ask(random, history, engine, chains, events, held, known)


def _ask(
    random: Random,
    drawn: DrawnHistory,
    engine: DuckEngine,
    chains: Mapping[str, Mapping[int, str]],
    events: list[HistoryStep],
    held: HeldHistories,
    known: KnownRows,
) -> None:
    rate = random.choice([0.0, 0.2, 0.5])
    gone = {
        name: [row for row in rows if random.random() < rate]
        for name, rows in drawn.tables.items()
        if random.random() < 0.6
    }
    left = {
        name: list((Counter(rows) - Counter(gone.get(name, ()))).elements())
        for name, rows in drawn.tables.items()
    }
    changed = [event for event in events if random.random() < 0.2]
    undone = frozenset(event.name for event in changed if random.random() < 0.6)
    others: dict[str, Drawn] = {}
    for event in changed:
        if event.name not in undone:
            other = next(s for s in iter(lambda: statement(random), None) if s.table == event.table)
            others[event.name] = renamed(other, drawn.columns)
    replaced: dict[str, Statement] = {n: parse_statement(s.text) for n, s in others.items()}
    columns, shape = drawn.columns, shape_of(drawn)
    bases = {name: _less(engine, name, gone.get(name, []), columns) for name in SOURCES}
    begins = {name: _less(engine, chains[name][0], gone.get(name, []), columns) for name in TARGETS}
    typed = {
        name: Chain(versions, dict.fromkeys(versions, shape)) for name, versions in chains.items()
    }
    really = Tables(left, columns)
    fails = None
    for event, each in zip(events, drawn.statements, strict=True):
        try:
            if event.name not in undone:
                really.run(others.get(event.name, each))
        except AmbiguousMergeError:
            fails = event.name
            break

    def look_up(step: HistoryStep, concerned: Concerned) -> None:
        rows = concerned()
        same = rows is not None and are_as_expected(engine, rows)
        for each in rows or ():
            each.checked.update([step.name] if same else [])
        held.asked["looked up" if same else "compared whole"] += 1

    key = {name: [columns[0]] for name in typed}
    replay = Replay(engine, typed, events, bases, known, {}, begins, undone, replaced, look_up, key)
    if fails is not None:
        with pytest.raises(StatementError, match=repr(fails)):
            replay.run()
        held.asked["fails"] += 1
        return
    states = replay.run()
    for name, bags in states.items():
        new, old = engine.rows(hypothetical(bags)), engine.rows(f"SELECT * FROM {bags.real}")
        assert Counter(new) == Counter(really.rows(name)), name
        held.asked["changed" if Counter(new) != Counter(old) else "same"] += 1


def shape_of(drawn: DrawnHistory) -> TableShape:
    """Return the columns of each table."""
    return TableShape(tuple(map(TableColumn, drawn.columns, TYPES)))


def _less(engine: DuckEngine, real: str, gone: list[Row], columns: tuple[str, ...]) -> Bags:
    if not gone:
        return Bags(real)
    values = ", ".join(
        "(" + ", ".join("NULL" if v is None else repr(v) for v in row) + ")" for row in gone
    )
    casts = ", ".join(
        f"CAST({place} AS {kind}) AS {quoted(name)}"
        for place, name, kind in zip("kabc", columns, TYPES, strict=True)
    )
    return Bags(real, engine.store(f"SELECT {casts} FROM (VALUES {values}) AS v(k, a, b, c)"))


def _copy(tables: Tables, name: str, version: int) -> str:
    tables.database.execute(f"CREATE TABLE {name}_{version} AS FROM {name}")
    return f"{name}_{version}"
