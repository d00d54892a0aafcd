"""Members that are columns of one relation, written without Spark."""

from __future__ import annotations

import pyarrow as pa
import pytest

from lipstick.capture.files import projected
from rewriter.bind import bind
from rewriter.blocks import Core, TokenSource, topological
from rewriter.catalog import MemoryCatalog, TrackedRelation
from rewriter.lower import lower

CATALOG = MemoryCatalog([TrackedRelation("t", ("Id", "g", "n")), TrackedRelation("u", ("Id",))])
TOKENS = {name: TokenSource(f"view_{name}", ("row",)) for name in ("t", "u")}
TABLE = pa.table({"Id": [7, 8], "g": ["a", None], "n": [1, 2], "row": [0, 1]})


def _core(sql: str) -> Core:
    """The core of the innermost block of a query."""
    core = topological(lower(bind(sql, CATALOG).root, TOKENS, sql))[0].core
    assert core is not None
    return core


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT g, id FROM t", {"row": [0, 1], "g": ["a", None], "id": [7, 8]}),
        ("SELECT g, sum(n) AS s FROM t GROUP BY g", {"row": [0, 1], "g": ["a", None], "n": [1, 2]}),
        ("SELECT count(*) AS c FROM t", {"row": [0, 1]}),
    ],
)
def test_columns_of_a_relation(sql: str, expected: dict[str, list[object]]) -> None:
    core = _core(sql)
    names = [name for name, _ in core.select]
    found = projected(core, names, {"view_t": TABLE})
    assert found is not None
    assert found.column_names == names
    assert sorted(map(str, found.to_pydict().values())) == sorted(map(str, expected.values()))
    assert projected(core, names, {}) is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM t WHERE n > 1",
        "SELECT n + 1 AS m FROM t",
        "SELECT t.id FROM t JOIN u ON t.id = u.id",
        "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id)",
        "SELECT id, x FROM t LATERAL VIEW explode(array(n)) e AS x",
        "SELECT id FROM t UNION ALL SELECT id FROM u",
    ],
)
def test_all_else_is_for_spark(sql: str) -> None:
    root = lower(bind(sql, CATALOG).root, TOKENS, sql)
    assert root.core is not None
    names = [name for name, _ in root.core.select]
    tables = {"view_t": TABLE, "view_u": TABLE.select(["Id", "row"])}
    assert projected(root.core, names, tables) is None
