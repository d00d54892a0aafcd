"""The lineage of columns of sixty queries, written by hand: nothing that a query has not."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from lipstick.questions.where.origins import lineage_of_columns
from rewriter.analysis.column_lineage import SourceColumn
from tests.oracle.cells import database
from tests.oracle.database import Database, Relation
from tests.oracle.written import write_capture, written

_ROWS = {
    "r": [{"id": 0, "k": 1, "b": 5}, {"id": 1, "k": 1, "b": 9}, {"id": 2, "k": 2, "b": None}],
    "s": [{"id": 1, "e": 100, "f": 2, "g": 1}, {"id": 2, "e": 200, "f": 9, "g": 1}],
}

# Of each query the columns in order, and what decides its rows. A column is the columns that it is
# a copy of (`r.b`), computed from (`+r.b`), aggregated from (`#r.b`) or chosen by (`?r.b`), and
# those of its windows (`%r.k`).
_QUERIES: list[tuple[str, str, str]] = [
    # projections
    ("SELECT b FROM r", "r.b", ""),
    ("SELECT b + k FROM r", "+r.b +r.k", ""),
    ("SELECT 7 FROM r", "", ""),
    ("SELECT coalesce(b, k) FROM r", "r.b r.k ?r.b ?r.k", ""),
    ("SELECT CASE WHEN k > 1 THEN b ELSE id END FROM r", "r.b r.id ?r.k", ""),
    ("SELECT b, k FROM r", "r.b | r.k", ""),
    ("SELECT v FROM (SELECT b + 1 AS v, k FROM r) AS t", "+r.b", ""),
    ("WITH t AS (SELECT k AS x FROM r) SELECT x FROM t", "r.k", ""),
    # conditions
    ("SELECT b FROM r WHERE k > 1", "r.b", "FILTER r.k"),
    ("SELECT b FROM r WHERE k > 1 AND id < 2", "r.b", "FILTER r.id r.k"),
    ("SELECT b FROM r WHERE k > 1 OR b > 2", "r.b", "FILTER r.b r.k"),
    ("SELECT v FROM (SELECT b AS v, k FROM r WHERE id > 0) WHERE k > 1", "r.b", "FILTER r.id r.k"),
    # joins
    ("SELECT b, e FROM r JOIN s ON r.k = s.id", "r.b | s.e", "JOIN r.k s.id"),
    ("SELECT b, e FROM r JOIN s ON r.k < s.id", "r.b | s.e", "JOIN r.k s.id"),
    ("SELECT b FROM r, s WHERE r.k = s.id AND f > 1", "r.b", "JOIN r.k s.id; FILTER s.f"),
    ("SELECT b, e FROM r CROSS JOIN s", "r.b | s.e", ""),
    ("SELECT b, e FROM r LEFT JOIN s ON r.k = s.id", "r.b | s.e", "JOIN r.k s.id"),
    ("SELECT b, e FROM r RIGHT JOIN s ON r.k = s.id", "r.b | s.e", "JOIN r.k s.id"),
    ("SELECT b, e FROM r FULL JOIN s ON r.k = s.id", "r.b | s.e", "JOIN r.k s.id"),
    ("SELECT b, e FROM r FULL JOIN s ON r.id = s.id", "r.b | s.e", "JOIN r.id s.id"),
    (
        "SELECT b, e FROM r LEFT JOIN s ON r.k = s.id WHERE r.b > 1",
        "r.b | s.e",
        "JOIN r.k s.id; FILTER r.b",
    ),
    (
        "SELECT b FROM r LEFT JOIN s ON r.k = s.id WHERE s.e IS NULL",
        "r.b",
        "JOIN r.k s.id; FILTER s.e",
    ),
    ("SELECT b FROM r LEFT SEMI JOIN s ON r.k = s.id", "r.b", "JOIN r.k s.id"),
    ("SELECT b FROM r LEFT ANTI JOIN s ON r.k = s.id", "r.b", "JOIN r.k s.id"),
    (
        "SELECT b FROM r LEFT SEMI JOIN s ON r.k = s.id AND s.g = 1",
        "r.b",
        "JOIN r.k s.id; FILTER s.g",
    ),
    (
        "SELECT a.b, c.b FROM r AS a JOIN r AS c ON a.k = c.id",
        "r.b | r.b",
        "JOIN r.id r.k",
    ),
    (
        "SELECT b, s.e FROM r JOIN s ON r.k = s.id LEFT JOIN s AS t ON t.f = r.b",
        "r.b | s.e",
        "JOIN r.b r.k s.f s.id",
    ),
    # subqueries
    ("SELECT b FROM r WHERE k IN (SELECT id FROM s)", "r.b", "JOIN r.k s.id"),
    (
        "SELECT b FROM r WHERE k IN (SELECT id FROM s WHERE g = 1)",
        "r.b",
        "JOIN r.k s.id; FILTER s.g",
    ),
    ("SELECT b FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.id = r.k)", "r.b", "JOIN r.k s.id"),
    ("SELECT b FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.id = r.k)", "r.b", "JOIN r.k s.id"),
    (
        "SELECT b FROM r WHERE k IN (SELECT g FROM s GROUP BY g HAVING count(*) > 1)",
        "r.b",
        "JOIN r.k s.g; GROUP_BY s.g",
    ),
    (
        "SELECT b, (SELECT max(e) FROM s WHERE s.id = r.k) FROM r",
        "r.b | s.e",
        "JOIN r.k s.id",
    ),
    (
        "SELECT b, (SELECT sum(e) FROM s WHERE s.id = r.k) FROM r",
        "r.b | #s.e",
        "JOIN r.k s.id",
    ),
    ("SELECT b, (SELECT sum(e) FROM s) FROM r", "r.b | #s.e", ""),
    ("SELECT b FROM r WHERE b > (SELECT avg(e) FROM s)", "r.b", "FILTER r.b s.e"),
    # groups
    ("SELECT k, sum(b) FROM r GROUP BY k", "r.k | #r.b", "GROUP_BY r.k"),
    ("SELECT count(*) FROM r", "", ""),
    ("SELECT sum(b) FROM r WHERE k = 1", "#r.b", "FILTER r.k"),
    ("SELECT k, max(b) FROM r GROUP BY k", "r.k | r.b", "GROUP_BY r.k"),
    ("SELECT k, sum(b) + 1 FROM r GROUP BY k", "r.k | #r.b", "GROUP_BY r.k"),
    (
        "SELECT k, sum(b) FROM r GROUP BY k HAVING sum(id) > 1",
        "r.k | #r.b",
        "GROUP_BY r.k; FILTER r.id",
    ),
    ("SELECT sum(b) FROM r GROUP BY k, id", "#r.b", "GROUP_BY r.id r.k"),
    ("SELECT DISTINCT b FROM r", "r.b", "GROUP_BY r.b"),
    ("SELECT count(DISTINCT b) FROM r", "#r.b", ""),
    ("SELECT max_by(b, k) FROM r", "r.b ?r.k", ""),
    ("SELECT first(b) FROM r", "r.b", ""),
    ("SELECT listagg(CAST(b AS STRING), ',') FROM r", "#r.b", ""),
    ("SELECT array_agg(b)[0] FROM r", "#r.b", ""),
    ("SELECT sum(b) FILTER (WHERE k > 1) FROM r", "#r.b ?r.k", ""),
    (
        "SELECT v FROM (SELECT k, sum(b) AS v FROM r GROUP BY k) AS t WHERE v > 3",
        "#r.b",
        "GROUP_BY r.k; FILTER r.b",
    ),
    (
        "SELECT b, v FROM r JOIN (SELECT id, sum(e) AS v FROM s GROUP BY id) AS t ON r.k = t.id",
        "r.b | #s.e",
        "JOIN r.k s.id; GROUP_BY s.id",
    ),
    (
        "SELECT b, v FROM r LEFT JOIN (SELECT id, sum(e) AS v FROM s GROUP BY id) AS t "
        "ON r.k = t.id",
        "r.b | #s.e",
        "JOIN r.k s.id; GROUP_BY s.id",
    ),
    (
        "SELECT g, sum(b) FROM r LEFT JOIN s ON r.k = s.id GROUP BY g",
        "s.g | #r.b",
        "JOIN r.k s.id; GROUP_BY s.g",
    ),
    # set operations
    ("SELECT k FROM r UNION ALL SELECT e FROM s", "r.k s.e", ""),
    ("SELECT k FROM r UNION SELECT e FROM s", "r.k s.e", "GROUP_BY r.k s.e"),
    ("SELECT k FROM r EXCEPT SELECT id FROM s", "r.k", "GROUP_BY r.k; JOIN r.k s.id"),
    # orders
    ("SELECT b FROM r ORDER BY k", "r.b", ""),
    ("SELECT b FROM r ORDER BY id LIMIT 1", "r.b", "SORT r.id"),
    # windows
    ("SELECT b, sum(b) OVER (PARTITION BY k ORDER BY id) FROM r", "r.b | +r.b %r.id %r.k", ""),
    ("SELECT first_value(b) OVER (PARTITION BY k ORDER BY b) FROM r", "r.b %r.b %r.k", ""),
    ("SELECT row_number() OVER (PARTITION BY k ORDER BY b) FROM r", "%r.b %r.k", ""),
    ("SELECT row_number() OVER (ORDER BY b, id) FROM r", "%r.b %r.id", ""),
    ("SELECT lag(b) OVER (ORDER BY k DESC) FROM r", "r.b %r.k", ""),
    ("SELECT sum(b) OVER (PARTITION BY k) FROM r", "+r.b %r.k", ""),
    ("SELECT rank() OVER (ORDER BY b) FROM r", "%r.b", ""),
    # generators
    ("SELECT x FROM r LATERAL VIEW explode(array(k, b)) AS x", "r.k r.b", ""),
]

_PARTS = {
    "+": ("DIRECT", "TRANSFORMATION"),
    "#": ("DIRECT", "AGGREGATION"),
    "?": ("INDIRECT", "CONDITIONAL"),
    "%": ("INDIRECT", "WINDOW"),
}


def _source(text: str, kind: str, subtype: str) -> SourceColumn:
    relation, _, column = text.partition(".")
    return SourceColumn(relation, column, kind, subtype)


def _expected(columns: str, deciding: str) -> set[tuple[str, SourceColumn]]:
    """Return the triples that a row of the table says, for each column of the answer."""
    found = set()
    decided = {
        _source(each, "INDIRECT", subtype)
        for part in filter(None, deciding.split("; "))
        for subtype, *sources in [part.split()]
        for each in sources
    }
    for number, parts in enumerate(columns.split("|")):
        own = {
            _source(part.lstrip("+#?%"), *_PARTS.get(part[0], ("DIRECT", "IDENTITY")))
            for part in parts.split()
        }
        found |= {(f"c{number}", each) for each in own | decided}
    return found


def test_columns_by_which_rows_are_named_are_in_no_lineage_and_no_quarantine(
    tmp_path: Path,
) -> None:
    rows = pa.table({"k": [1, 1, 1], "b": [5, 5, 9], "_lipstick_ordinal": [1, 2, 1]})
    schema = "k bigint, b bigint, _lipstick_ordinal bigint"
    relation = Relation("r", ("k", "b", "_lipstick_ordinal"), schema, rows)
    sql = "SELECT k, first_value(b) OVER (PARTITION BY k ORDER BY b) AS v FROM r"
    capture = write_capture(sql, Database({"r": relation}), tmp_path)
    sources = {row["source"] for row in capture.column_lineage().to_pylist()}
    assert sources == {"k", "b"}
    said = capture.why(sources={"r": rows})
    for table in (said.quarantine(), said.top(3)):
        assert table.num_rows
        assert table.column_names[:2] == ["k", "b"]
        assert "_lipstick_ordinal" not in table.column_names


def test_there_are_sixty_queries() -> None:
    assert len(_QUERIES) == len({sql for sql, *_ in _QUERIES}) >= 60


@pytest.mark.parametrize(("sql", "columns", "deciding"), _QUERIES)
def test_lineage_names_what_a_query_has_and_nothing_else(
    sql: str, columns: str, deciding: str, tmp_path: Path
) -> None:
    table = lineage_of_columns(written(sql, database(_ROWS), tmp_path))
    found = {
        (row["column"], SourceColumn(row["relation"], row["source"], row["kind"], row["subtype"]))
        for row in table.to_pylist()
    }
    assert found == _expected(columns, deciding)
