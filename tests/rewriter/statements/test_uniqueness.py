"""Sources of MERGE: whether a key may have several rows in them when other rows are there."""

import pytest

from rewriter.dialect import parse
from rewriter.statements import MergeInto, duplicate_source_keys, parse_statement

_FIRST = "row_number() OVER (PARTITION BY k ORDER BY a DESC)"
REAL_ROWS_TELL = (
    "u",
    "(SELECT k, a FROM u WHERE a > 1)",
    "(SELECT u.* FROM u JOIN v ON u.k = v.k)",
    "(SELECT k, a FROM u UNION ALL SELECT NULL, a FROM t JOIN u USING (k))",
    "(SELECT k, a FROM u UNION ALL SELECT a, k FROM v)",
    "(WITH w AS (SELECT k, a FROM u) SELECT * FROM w WHERE a > 1)",
    "(WITH w AS (SELECT k FROM u), x AS (SELECT k FROM w) SELECT k FROM x "
    "UNION ALL SELECT k FROM v)",
    "(WITH w AS (SELECT k FROM t) SELECT NULL AS k FROM w UNION ALL SELECT k FROM u)",
    "(SELECT k FROM (SELECT k FROM u UNION ALL SELECT k FROM v))",
    "(WITH u AS (SELECT k FROM u) SELECT k FROM u)",
    "(SELECT k, initcap(a) AS a FROM u)",
    "(SELECT explode(sequence(1, k)) AS k FROM u)",
)
NEVER = (
    "(SELECT k, sum(a) AS a FROM u GROUP BY k)",
    "(SELECT DISTINCT k FROM t)",
    f"(SELECT * FROM (SELECT *, {_FIRST} AS n FROM t) WHERE n = 1 AND a > 0)",
    f"(SELECT * FROM u QUALIFY {_FIRST} = 1)",
    "(SELECT CAST(NULL AS INT) AS k, a FROM t)",
    f"(WITH w AS (SELECT *, {_FIRST} AS n FROM t) SELECT k, a FROM w WHERE n = 1)",
    f"(SELECT k, a + 1 AS b FROM (SELECT k, a FROM (SELECT *, {_FIRST} AS n FROM t) WHERE n = 1))",
    "(SELECT k FROM (SELECT max(a) AS a, k FROM t GROUP BY k) WHERE a > 1)",
    "(WITH w AS (SELECT a AS k FROM t GROUP BY a) SELECT w.k FROM w)",
)
NOT_KNOWN = (
    "t",
    "(SELECT DISTINCT k, a FROM u)",
    "(SELECT a AS k, count(*) AS a FROM u GROUP BY k)",
    "(SELECT k FROM u LIMIT 1)",
    "(SELECT k FROM u LEFT JOIN v USING (k))",
    "(SELECT k FROM u WHERE a NOT IN (SELECT a FROM v))",
    f"(SELECT * FROM (SELECT *, {_FIRST} AS n FROM u) WHERE n = 2)",
    f"(SELECT * FROM (SELECT a AS k, {_FIRST} AS n FROM u) WHERE n = 1)",
    "(SELECT k FROM u UNION ALL SELECT k FROM v GROUP BY k)",
    "(SELECT k FROM u UNION SELECT k FROM v)",
    "(SELECT k, a FROM u EXCEPT ALL SELECT k, a FROM v)",
    "(WITH u AS (SELECT k FROM t) SELECT k FROM u)",
    "(SELECT k, rand() AS a FROM u)",
    "(SELECT k, of_python(a) AS a FROM u)",
    "(SELECT k, explode(array(1, 2)) AS a FROM (SELECT k FROM t GROUP BY k))",
    "(SELECT k, explode(collect_list(a)) AS a FROM t GROUP BY k)",
    "(WITH w AS (SELECT k FROM u LIMIT 1) SELECT k FROM w)",
    "(WITH w (k) AS (SELECT a FROM t GROUP BY a) SELECT k FROM w)",
    "(SELECT k FROM (SELECT k, a FROM t GROUP BY k, a))",
    "(SELECT k + 0 AS k FROM (SELECT k FROM t GROUP BY k))",
    "(SELECT v.k FROM (SELECT k FROM t GROUP BY k) JOIN v)",
    "(WITH RECURSIVE w AS (SELECT k FROM u UNION ALL SELECT k + 1 FROM w) SELECT k FROM w)",
    "(WITH RECURSIVE w AS (SELECT 1 AS k UNION ALL SELECT k + 1 FROM w) SELECT k FROM w "
    "UNION ALL SELECT k FROM w)",
    "(SELECT k FROM (SELECT k FROM u UNION SELECT k FROM v))",
    "(SELECT k FROM u UNION ALL (WITH w AS (SELECT k FROM v) SELECT k FROM w))",
)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        *((source, True) for source in REAL_ROWS_TELL),
        *((source, False) for source in NEVER),
        *((source, None) for source in NOT_KNOWN),
    ],
)
def test_keys_of_several_rows(source: str, expected: bool | None) -> None:
    """True: a query over the real rows tells; False: there are none; None: it is not known."""
    text = f"MERGE INTO t USING {source} AS s ON t.k = s.k WHEN MATCHED THEN DELETE"
    statement = parse_statement(text)
    assert isinstance(statement, MergeInto)
    query = duplicate_source_keys(statement, ["s.k"], "s", frozenset({"u", "v"}))
    assert (None if query is None else bool(query)) is expected
    if query:
        assert parse(query).args["having"] is not None
        assert query.count("WITH ") == source.count("WITH ")


def test_keys_that_are_no_columns_are_not_known() -> None:
    statement = parse_statement("MERGE INTO t USING u ON t.k = u.k + 1 WHEN MATCHED THEN DELETE")
    assert isinstance(statement, MergeInto)
    assert duplicate_source_keys(statement, ["u.k + 1"], "u", frozenset({"u"})) is None
