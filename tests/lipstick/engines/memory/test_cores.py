"""Members and groups computed here are those of the statements of a capture."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest

from lipstick.capture.manifest import Manifest
from lipstick.capture.writer import needs_rows
from lipstick.engines.memory.arrow_datasets import HeldDatasets
from lipstick.engines.memory.cores import CoreInputs, core_rows
from lipstick.engines.memory.engine import Engine
from lipstick.engines.memory.grouping import group_rows
from lipstick.errors import CaptureError, NeedsSparkError
from rewriter.bind import Environment, bind_query
from rewriter.bind.catalog import MemoryCatalog, TrackedRelation
from rewriter.blocks import Block, Core, Kind, TokenSource, topological
from rewriter.emit.statements import members_sql, rows_sql
from rewriter.errors import UnsupportedError
from rewriter.interpret import UninterpretableError
from rewriter.lower import lower_query
from semiring.errors import LipstickError
from tests.oracle.captured import blocks_of, connected, members_of
from tests.oracle.duck import loosened, to_duckdb
from tests.oracle.generator import generate
from tests.oracle.rows import Bag, assert_same_bag, from_arrow
from tests.oracle.written import schema_of

SEEDS = range(int(os.environ.get("LIPSTICK_GENERATED", "15")))
"""Generated queries; with more of them the test looks further."""

LEFT_TO_SPARK = (LipstickError, UninterpretableError, pa.ArrowException)
NAN = math.nan
ROWS = {
    "a": pa.table(
        {
            "id": pa.array([0, 1, 2, 3, 4, 5]),
            "k": pa.array([1.0, NAN, None, -0.0, 1.0, 2.5]),
            "x": pa.array([7, -7, None, 0, 4, 9], pa.int32()),
            "s": ["a", "b", None, "a", "é", ""],
        }
    ),
    "b": pa.table(
        {
            "id": pa.array([0, 1, 2, 3, 4]),
            "k": pa.array([0.0, NAN, None, 1.0, 1.0]),
            "y": pa.array([Decimal("7.00"), None, Decimal("0.00"), Decimal("4.50"), Decimal("9")]),
        }
    ),
    "none": pa.table({"id": pa.array([], pa.int64()), "k": pa.array([], pa.float64())}),
}
CATALOG = MemoryCatalog([TrackedRelation(n, tuple(t.column_names)) for n, t in ROWS.items()])
TOKENS = {name: TokenSource(name, ("id",)) for name in ROWS}


def _core(sql: str) -> Core:
    """The core of the last block of a query that has one."""
    cores = [
        block.core
        for block in topological(
            lower_query(bind_query(sql, Environment(CATALOG)).root, TOKENS, sql)
        )
    ]
    return next(core for core in reversed(cores) if core is not None)


def _tokens(sql: str, limit: int = 1_000) -> list[tuple[int, ...]]:
    """The tokens of the rows of a query's core, sorted."""
    root = lower_query(bind_query(sql, Environment(CATALOG)).root, TOKENS, sql)
    assert root.core is not None
    columns = [column for token in root.tokens for column in token.columns]
    rows = core_rows(root.core, CoreInputs(ROWS, limit)).select(columns).to_pylist()
    return sorted(tuple(row.values()) for row in rows)


@pytest.mark.parametrize(
    ("sql", "tokens"),
    [
        (
            "SELECT a.id, b.id FROM a JOIN b ON a.k = b.k",
            [(0, 3), (0, 4), (1, 1), (3, 0), (4, 3), (4, 4)],
        ),
        ("SELECT a.id, b.id FROM a JOIN b ON a.x = b.y", [(0, 0), (3, 2), (5, 4)]),
        ("SELECT a.id, b.id FROM a JOIN b ON a.x > b.y AND b.y > 4.5", [(5, 0)]),
        ("SELECT a.id, b.id FROM a JOIN b ON a.x % 3 = 1 AND b.id = 0", [(0, 0), (4, 0)]),
        ("SELECT a.id, b.id FROM a, b WHERE a.s = 'é' AND b.k <=> NULL", [(4, 2)]),
        ("SELECT a.id, none.id FROM a JOIN none ON a.k = none.k", []),
        ("SELECT id FROM a WHERE s = 'a' OR x IS NULL", [(0,), (2,), (3,)]),
        ("SELECT id FROM a WHERE false", []),
    ],
)
def test_joins_and_conditions(sql: str, tokens: list[tuple[int, ...]]) -> None:
    assert _tokens(sql) == tokens


@pytest.mark.parametrize(
    ("sql", "tokens"),
    [
        (
            "SELECT id, e FROM a LATERAL VIEW explode(array(x, id)) AS e WHERE e > 6",
            [(0, 0), (5, 0)],
        ),
        (
            "SELECT id, e FROM a LATERAL VIEW OUTER"
            " posexplode(IF(id < 1, array(7, 8), NULL)) AS p, e WHERE id < 2",
            [(0, 0), (0, 1), (1, None)],
        ),
        ("SELECT id FROM a LATERAL VIEW explode(map(s, x)) AS k, v WHERE s = 'é'", [(4, 0)]),
    ],
)
def test_generators(sql: str, tokens: list[tuple[int | None, ...]]) -> None:
    """Elements are identified by their rows and places."""
    root = lower_query(bind_query(sql, Environment(CATALOG)).root, TOKENS, sql)
    core = root.core
    assert core is not None
    rows = core_rows(core, CoreInputs(ROWS, 100))
    places = [n for n, each in core.select if each in [g.place for g in core.generators]]
    columns = [*(column for token in root.tokens for column in token.columns), *places]
    assert [tuple(row.values()) for row in rows.select(columns).to_pylist()] == tokens


def test_three_relations_are_joined_along_their_equalities() -> None:
    sql = "SELECT a.id FROM a, b AS c, b WHERE a.id = b.id AND b.k = c.k AND c.id = 3"
    assert _tokens(sql, limit=40) == [(3, 3, 3), (4, 3, 4)]


def test_branches_of_a_union_have_the_type_that_holds_them_all() -> None:
    core = _core("SELECT x AS v FROM a UNION ALL SELECT y FROM b UNION ALL SELECT NULL FROM b")
    table = core_rows(core, CoreInputs(ROWS, 1_000))
    kinds = set(table.schema.types)
    assert table.num_rows == 16
    assert pa.decimal128(12, 2) in kinds or pa.decimal128(13, 2) in kinds


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a.id FROM a CROSS JOIN b",
        "SELECT id FROM a WHERE rand() < 0.5",
        "SELECT id FROM a WHERE soundex(s) = 'A000'",
        "SELECT id, e FROM a LATERAL VIEW stack(2, x, id) AS e",
    ],
)
def test_what_is_left_to_spark(sql: str) -> None:
    with pytest.raises((NeedsSparkError, UninterpretableError)):
        core_rows(_core(sql), CoreInputs(ROWS, 29))


def test_a_condition_that_fails_is_left_to_spark() -> None:
    with pytest.raises(CaptureError, match="fails"):
        core_rows(_core("SELECT id FROM a WHERE 1 / x > 0"), CoreInputs(ROWS, 1_000))


def test_generated_queries() -> None:
    """Whatever is computed here is what the statements of a capture give."""
    compared = {"members": 0, "rows": 0}
    for seed in SEEDS:
        case = generate(seed)
        try:
            root = blocks_of(case.sql, case.database)
        except UnsupportedError:
            continue
        tables = {relation.name: relation.data for relation in case.database.relations.values()}
        with connected(case.database) as connection, suppress(duckdb.Error):
            for name, expected, actual, what in _datasets(connection, case.sql, root, tables):
                _assert_same(expected, actual, f"seed {seed}, {what}: {case.sql}")
                compared[name] += 1
    assert min(compared.values()) > len(SEEDS)


def _datasets(
    connection: duckdb.DuckDBPyConnection, sql: str, root: Block, tables: Mapping[str, pa.Table]
) -> Iterator[tuple[str, pa.Table, pa.Table, str]]:
    """Yield what a capture would have, and what is computed here, where it is."""
    held, rows, members = HeldDatasets(), dict[str, str](), dict[str, pa.Table]()
    names = tuple(output.name for output in root.outputs)
    engine = Engine(held, Manifest(sql, names, schema_of(names), "copy", root, {}))
    for block in topological(root):
        if block.core is not None:
            expected = _made(connection, members_of(block), members_sql(block, members_of))
            computed_here = _members(block, CoreInputs(tables, 1_000_000, members))
            members[block.name] = expected  # as its semi joins leave it
            held.hold(block, "members", expected if computed_here is None else computed_here)
            if computed_here is not None and not _has_semis(block.core):
                yield "members", expected, computed_here, f"members of {block.name}"
        if needs_rows(block):
            statement = rows_sql(block, members_of, rows)
            rows[block.name] = f"rows_{block.name}"
            expected = _made(connection, rows[block.name], statement)
            computed_here = _groups(engine, block)
            held.hold(block, "rows", expected if computed_here is None else computed_here)
            if computed_here is not None:
                yield "rows", expected, computed_here, f"groups of {block.name}"


def _has_semis(core: Core) -> bool:
    """Return True if semi joins leave out rows of a core, or of a core that it reads."""
    below = (
        getattr(source, "branches", (getattr(source, "core", None),)) for source in core.sources
    )
    return bool(core.semis) or any(_has_semis(c) for cores in below for c in cores if c is not None)


def _made(connection: duckdb.DuckDBPyConnection, name: str, statement: str) -> pa.Table:
    connection.execute(f'CREATE TABLE "{name}" AS {to_duckdb(statement)}')
    return connection.execute(f'FROM "{name}"').fetch_arrow_table()


def _members(block: Block, inputs: CoreInputs) -> pa.Table | None:
    assert block.core is not None
    try:
        return core_rows(block.core, inputs)
    except LEFT_TO_SPARK:
        return None


def _groups(engine: Engine, block: Block) -> pa.Table | None:
    if block.kind is not Kind.GROUP:
        return None
    try:
        return group_rows(engine.members(block))
    except LEFT_TO_SPARK:
        return None


def _assert_same(expected: pa.Table, actual: pa.Table, what: str) -> None:
    assert set(expected.column_names) == set(actual.column_names), what
    shown = actual.select(expected.column_names)
    its, actual_bag = (loosened(from_arrow(table)) for table in (expected, shown))
    assert_same_bag(its, Bag(actual_bag.columns, its.types, actual_bag.rows), what)
