"""Queries of every form of condition that annotations may have to say, over a few tuples."""

from __future__ import annotations

from typing import Final

from tests.oracle.database import Database
from tests.oracle.small import small

DATABASE: Final = Database(
    {
        relation.name: relation
        for relation in (
            small(
                "r",
                "id int, k string, x int",
                [(1, "a", 10), (2, "a", 1), (3, "b", 1), (4, "b", 3), (5, None, 2)],
            ),
            small(
                "s",
                "id int, k string, y int",
                [(1, "a", 1), (2, "b", 3), (3, "c", 2), (4, None, 10)],
            ),
        )
    }
)
"""Nine tuples: two relations that meet in keys and in values, with a NULL each."""

_COUNTS: Final = "(SELECT k, count(*) AS n, sum(x) AS t FROM r GROUP BY k)"

PLAIN: Final = {
    "selection": "SELECT id, x FROM r WHERE x > 1",
    "projection": "SELECT k FROM r",
    "inner join": "SELECT r.id, s.id FROM r JOIN s ON r.k = s.k WHERE s.y < 3",
    "join by inequality": "SELECT r.id, s.id AS o FROM r, s WHERE r.x < s.y",
    "self join": "SELECT a.id, b.id AS o FROM r a JOIN r b ON a.k = b.k AND a.id < b.id",
    "union all": "SELECT k, x FROM r UNION ALL SELECT k, y FROM s",
    "union": "SELECT k FROM r UNION SELECT k FROM s",
    "distinct": "SELECT DISTINCT k FROM r",
    "named query twice": (
        "WITH q AS (SELECT k, x FROM r WHERE x < 5) SELECT a.k, b.x FROM q a JOIN q b ON a.x = b.x"
    ),
    "grouping": "SELECT k, sum(x) AS t, count(*) AS n, max(x) AS m FROM r GROUP BY k",
    "exists without a bound": (
        "SELECT id FROM s WHERE EXISTS (SELECT 1 FROM r WHERE r.k = s.k LIMIT ALL OFFSET 0)"
    ),
    "averages": "SELECT k, avg(x) AS a FROM r GROUP BY k",
    "total": "SELECT sum(x) AS t, count(*) AS n, min(x) AS m FROM r",
    "grouping of a join": "SELECT s.id, sum(x * y) AS t FROM r JOIN s ON r.k = s.k GROUP BY s.id",
}

HAVING: Final = {
    "having count": "SELECT k FROM r GROUP BY k HAVING count(*) > 1",
    "having sum of any sign": "SELECT k FROM r GROUP BY k HAVING sum(x) < 5",
    "having difference of aggregates": "SELECT k FROM r GROUP BY k HAVING max(x) - min(x) > 1",
    "having quotient of aggregates": "SELECT k FROM r GROUP BY k HAVING sum(x) / count(*) > 3",
    "having product with a value": "SELECT k FROM r GROUP BY k HAVING 2 * sum(x) <> 11 * count(*)",
    "having OR": "SELECT k FROM r GROUP BY k HAVING sum(x) > 9 OR count(*) = 1",
    "groups by a function of an extreme": """
        SELECT m % 2 = 1 AS odd, count(*) AS n
        FROM (SELECT k, min(x) AS m FROM r GROUP BY k) AS firsts GROUP BY m % 2 = 1""",
    "having AND": "SELECT k FROM r GROUP BY k HAVING min(x) < 2 AND max(x) > 2",
    "having NOT": "SELECT k FROM r GROUP BY k HAVING NOT (sum(x) > 9 AND count(*) > 1)",
    "having BETWEEN": "SELECT k, sum(x) AS t FROM r GROUP BY k HAVING sum(x) BETWEEN 2 AND 4",
    "having IN": "SELECT k FROM r GROUP BY k HAVING sum(x) IN (1, 4, 11)",
    "having NOT IN": "SELECT k FROM r GROUP BY k HAVING sum(x) NOT IN (1, 4, 11)",
    "having CASE": (
        "SELECT k FROM r GROUP BY k HAVING CASE WHEN count(*) > 1 THEN max(x) > 3 ELSE max(x) < 3"
        " END"
    ),
    "having IS NULL": ("SELECT k FROM r GROUP BY k HAVING sum(x) FILTER (WHERE x > 2) IS NULL"),
    "having IS NOT NULL": (
        "SELECT k, count(*) AS n FROM r GROUP BY k HAVING max(CASE WHEN x = 1 THEN id END)"
        " IS NOT NULL"
    ),
    "having coalesce": (
        "SELECT k FROM r GROUP BY k HAVING coalesce(sum(x) FILTER (WHERE x > 2), 0) < 3"
    ),
    "having of a key or a value": "SELECT k FROM r GROUP BY k HAVING k = 'a' OR sum(x) > 3",
    "having and no groups": "SELECT sum(x) AS t FROM r HAVING count(*) > 2",
    "having of other aggregates and no groups": "SELECT count(*) AS n FROM r HAVING min(x) < 2",
    "having over a scalar subquery": (
        "SELECT k FROM r GROUP BY k HAVING sum(x) > (SELECT sum(y) FROM s WHERE y < 5)"
    ),
    "having of aggregates outside of the five": (
        "SELECT k FROM r GROUP BY k HAVING count_if(x > 1) = 1 AND NOT bool_and(x > 1)"
    ),
    "having DISTINCT": "SELECT k FROM r GROUP BY k HAVING count(DISTINCT x % 2) = 2",
}

DERIVED: Final = {
    "condition on a derived grouping": f"SELECT g.k FROM {_COUNTS} g WHERE g.t > 5",
    "arithmetic over a derived grouping": f"SELECT g.k FROM {_COUNTS} g WHERE g.t - g.n * 2 > 1",
    "OR over a derived grouping": f"SELECT g.k FROM {_COUNTS} g WHERE g.t > 5 OR g.n = 1",
    "NOT and IN over a derived grouping": (
        f"SELECT g.k, g.n FROM {_COUNTS} g WHERE NOT g.t IN (4, 10)"
    ),
    "BETWEEN over a derived grouping": (
        f"SELECT g.k FROM {_COUNTS} g WHERE g.t BETWEEN g.n AND g.n * 3"
    ),
    "CASE over a derived grouping": (
        f"SELECT g.k FROM {_COUNTS} g WHERE CASE g.n WHEN 1 THEN g.t > 2 ELSE g.t > 4 END"
    ),
    "IS NULL over a derived grouping": (
        "SELECT g.k FROM (SELECT k, max(x) FILTER (WHERE x > 2) AS m FROM r GROUP BY k) g"
        " WHERE g.m IS NULL"
    ),
    "coalesce over a derived grouping": (
        "SELECT g.k FROM (SELECT k, max(x) FILTER (WHERE x > 2) AS m FROM r GROUP BY k) g"
        " WHERE coalesce(g.m, 5) >= 5"
    ),
    "rows compared with a group's values": (
        "SELECT r.id FROM r JOIN (SELECT k, avg(x) AS a FROM r GROUP BY k) g ON g.k = r.k"
        " WHERE r.x > 1.5 * g.a"
    ),
    "rows compared with several values": (
        f"SELECT r.id FROM r JOIN {_COUNTS} g ON g.k = r.k WHERE r.x * g.n > g.t OR g.n = 1"
    ),
    "join on an aggregated value": (f"SELECT s.id, g.k FROM s JOIN {_COUNTS} g ON s.y = g.n"),
    "join on an expression of aggregated values": (
        f"SELECT s.id, g.k FROM s JOIN {_COUNTS} g ON s.y = g.t - g.n"
    ),
    "join of two groupings on their values": (
        f"SELECT g.k, h.k AS o FROM {_COUNTS} g JOIN (SELECT k, count(*) AS n FROM s GROUP BY k) h"
        " ON g.n = h.n"
    ),
    "join by inequality of two groupings": (
        f"SELECT g.k, h.k AS o FROM {_COUNTS} g JOIN {_COUNTS} h ON g.t > 2 * h.t"
    ),
    "condition above a union of groups": (
        "SELECT q.k FROM (SELECT k, sum(x) AS t FROM r GROUP BY k UNION ALL"
        " SELECT k, sum(y) AS t FROM s GROUP BY k) q WHERE q.t > 3"
    ),
    "OR above a union of groups": (
        "SELECT q.k, q.o FROM (SELECT k, sum(x) AS t, 1 AS o FROM r GROUP BY k UNION ALL"
        " SELECT k, max(y) AS t, 2 AS o FROM s GROUP BY k) q WHERE q.t > 3 OR q.t % 2 = 1"
    ),
}

MEMBERSHIPS: Final = {
    "memberships without FROM": """
        SELECT EXISTS (SELECT 1 FROM r WHERE x > 4) AS e, 'b' IN (SELECT k FROM s) AS i""",
    "IN": "SELECT id FROM r WHERE k IN (SELECT k FROM s)",
    "NOT IN without NULL": (
        "SELECT id FROM r WHERE x NOT IN (SELECT y FROM s WHERE y IS NOT NULL)"
    ),
    "NOT IN with NULL": "SELECT id FROM r WHERE k NOT IN (SELECT k FROM s WHERE y <> 3)",
    "EXISTS": "SELECT id FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.k = r.k AND s.y < r.x)",
    "NOT EXISTS": "SELECT id FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.k = r.k)",
    "nested NOT EXISTS": (
        "SELECT id FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.k = r.k AND NOT EXISTS"
        " (SELECT 1 FROM r q WHERE q.x = s.y AND q.id <> r.id))"
    ),
    "nested EXISTS": (
        "SELECT id FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.k = r.k AND EXISTS"
        " (SELECT 1 FROM r q WHERE q.x = s.y))"
    ),
    "IN under OR": "SELECT id FROM r WHERE x > 5 OR k IN (SELECT k FROM s WHERE y > 1)",
    "IN under NOT": "SELECT id FROM r WHERE NOT (x > 1 AND k IN (SELECT k FROM s))",
    "EXISTS under OR of another": (
        "SELECT id FROM r WHERE EXISTS (SELECT 1 FROM s WHERE s.k = r.k) OR EXISTS"
        " (SELECT 1 FROM s WHERE s.y = r.x)"
    ),
    "EXISTS under CASE": (
        "SELECT id FROM r WHERE CASE WHEN x > 1 THEN EXISTS (SELECT 1 FROM s WHERE s.y = r.x)"
        " ELSE NOT EXISTS (SELECT 1 FROM s WHERE s.k = r.k) END"
    ),
    "NOT IN under OR": "SELECT id FROM r WHERE x = 10 OR x NOT IN (SELECT y FROM s)",
    "memberships that are compared": (
        "SELECT id FROM r WHERE (k IN (SELECT k FROM s)) = (x IN (SELECT y FROM s))"
    ),
    "EXISTS as a value": "SELECT id, EXISTS (SELECT 1 FROM s WHERE s.k = r.k) AS e FROM r",
    "IN of groups": "SELECT id FROM r WHERE k IN (SELECT k FROM s GROUP BY k HAVING sum(y) > 1)",
    "IN of aggregated values": "SELECT id FROM s WHERE y IN (SELECT count(*) FROM r GROUP BY k)",
    "NULL NOT IN values of the first groups": (
        "SELECT id FROM s WHERE nullif(y, 10) NOT IN (SELECT n FROM (SELECT k, count(*) AS n"
        " FROM r WHERE k IS NOT NULL GROUP BY k ORDER BY n DESC, k LIMIT 2))"
    ),
    "NOT IN of aggregated values": (
        "SELECT id FROM s WHERE y NOT IN (SELECT count(*) FROM r GROUP BY k)"
    ),
    "anti join over groupings": (
        f"SELECT s.id FROM s LEFT ANTI JOIN {_COUNTS} g ON g.k = s.k AND g.t > 3"
    ),
    "semi join over groupings": (
        f"SELECT s.id FROM s LEFT SEMI JOIN {_COUNTS} g ON g.n = s.y OR g.k = s.k"
    ),
    "EXISTS in HAVING": (
        "SELECT k FROM r GROUP BY k HAVING count(*) > 1 OR EXISTS"
        " (SELECT 1 FROM s WHERE s.k = r.k AND s.y > 2)"
    ),
    "EXISTS of the group's own aggregates": (
        "SELECT k FROM r GROUP BY k HAVING EXISTS (SELECT 1 FROM s WHERE s.y > sum(r.x))"
    ),
    "NOT EXISTS of the group's own aggregates": (
        "SELECT k FROM r GROUP BY k HAVING NOT EXISTS"
        " (SELECT 1 FROM s WHERE s.k = r.k AND s.y <= count(r.x) + min(r.x))"
    ),
    "IN beside the group's own aggregates": (
        "SELECT k, max(x) AS m FROM r GROUP BY k HAVING max(x) IN"
        " (SELECT y FROM s WHERE s.y < sum(r.x)) OR count(*) = 3"
    ),
    "scalar subquery of the group's own aggregates": (
        "SELECT k FROM r GROUP BY k HAVING count(*) >= (SELECT count(*) FROM s"
        " WHERE s.y = max(r.x))"
    ),
}

SCALARS: Final = {
    "scalar subquery": "SELECT id FROM r WHERE x > (SELECT avg(y) FROM s)",
    "scalar subquery in arithmetic": ("SELECT id FROM r WHERE x * 2 > (SELECT avg(x) FROM r) * 3"),
    "correlated scalar subquery": (
        "SELECT id FROM r WHERE x > (SELECT avg(q.x) FROM r q WHERE q.k = r.k)"
    ),
    "correlated scalar subquery in arithmetic": (
        "SELECT id FROM r WHERE x + 1 > (SELECT max(y) - min(y) FROM s WHERE s.y <= r.x + 1)"
    ),
    "count over nothing": ("SELECT id FROM r WHERE (SELECT count(*) FROM s WHERE s.k = r.k) = 0"),
    "count over nothing, in arithmetic": (
        "SELECT id FROM r WHERE x - (SELECT count(*) FROM s WHERE s.k = r.k) >= 1"
    ),
    "sum over nothing": "SELECT id FROM r WHERE (SELECT sum(y) FROM s WHERE s.k = r.k) IS NULL",
    "scalar subqueries that are compared": (
        "SELECT id FROM r WHERE (SELECT sum(y) FROM s WHERE s.k = r.k)"
        " < (SELECT max(q.x) FROM r q WHERE q.k = r.k)"
    ),
    "global scalar subqueries that are compared": (
        "SELECT id FROM r WHERE (SELECT sum(y) FROM s) < (SELECT sum(x) FROM r)"
    ),
    "scalar subquery under OR": (
        "SELECT id FROM r WHERE x = (SELECT max(x) FROM r) OR x = (SELECT min(y) FROM s)"
    ),
    "scalar subquery as a value": ("SELECT id, (SELECT sum(y) FROM s WHERE s.k = r.k) AS t FROM r"),
    "global scalar subquery as a value": (
        "SELECT id, x - (SELECT min(y) FROM s) AS d FROM r WHERE x > 1"
    ),
}

WINDOWS: Final = {
    "lag in a condition": (
        "SELECT id FROM (SELECT id, x, lag(x) OVER (ORDER BY id) AS p FROM r) WHERE p < x"
    ),
    "lag that is not NULL": (
        "SELECT id FROM (SELECT id, lag(x) OVER (ORDER BY id) AS p FROM r) WHERE p IS NOT NULL"
    ),
    "lead in a condition": (
        "SELECT id FROM (SELECT id, x, lead(x) OVER (PARTITION BY k ORDER BY id) AS p FROM r)"
        " WHERE coalesce(p, 0) < x"
    ),
    "row_number per partition": (
        "SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY k ORDER BY x, id) AS n FROM r)"
        " WHERE n = 1"
    ),
    "rank at most": (
        "SELECT id FROM (SELECT id, rank() OVER (ORDER BY x DESC) AS n FROM r) WHERE n <= 2"
    ),
    "dense_rank": (
        "SELECT id FROM (SELECT id, dense_rank() OVER (ORDER BY x) AS n FROM r) WHERE n = 2"
    ),
    "ntile": "SELECT id FROM (SELECT id, ntile(2) OVER (ORDER BY id) AS n FROM r) WHERE n = 2",
    "sum over a window": (
        "SELECT id FROM (SELECT id, sum(x) OVER (ORDER BY id) AS t FROM r) WHERE t > 11"
    ),
    "arithmetic over a window": (
        "SELECT id FROM (SELECT id, x, sum(x) OVER (PARTITION BY k) AS t FROM r) WHERE 2 * x >= t"
    ),
    "QUALIFY": "SELECT id FROM r QUALIFY row_number() OVER (PARTITION BY k ORDER BY id DESC) = 1",
    "QUALIFY with OR": ("SELECT id FROM r QUALIFY x > 5 OR count(*) OVER (PARTITION BY k) = 1"),
    "rank of groups": (
        "SELECT k FROM (SELECT k, rank() OVER (ORDER BY sum(x) DESC) AS n FROM r GROUP BY k)"
        " WHERE n = 1"
    ),
    "window as a value": "SELECT id, sum(x) OVER (PARTITION BY k) AS t FROM r",
    "lag as a value": "SELECT id, lag(x) OVER (ORDER BY id) AS p FROM r",
    "rank as a value": "SELECT id, rank() OVER (ORDER BY x) AS n FROM r",
}

GROUPS: Final = {
    "groups of groups": (
        "SELECT n, count(*) AS m FROM (SELECT k, count(*) AS n FROM r GROUP BY k) GROUP BY n"
    ),
    "groups of groups, the key alone": (
        "SELECT n FROM (SELECT k, count(*) AS n FROM r GROUP BY k) GROUP BY n"
    ),
    "groups by an expression of an aggregate": (
        "SELECT m, count(*) AS n FROM (SELECT k, sum(x) % 3 AS m FROM r GROUP BY k) GROUP BY m"
    ),
    "DISTINCT of aggregates": "SELECT DISTINCT count(*) AS n FROM r GROUP BY k",
    "grouping by a value of a window": (
        "SELECT n, sum(x) AS t FROM (SELECT x, dense_rank() OVER (ORDER BY x) AS n FROM r)"
        " GROUP BY n"
    ),
    "groups of groups and a condition": (
        "SELECT n FROM (SELECT k, count(*) AS n FROM r GROUP BY k) GROUP BY n HAVING count(*) > 1"
    ),
    "sum of counts": "SELECT sum(n) AS t FROM (SELECT k, count(*) AS n FROM r GROUP BY k)",
    "maximum of sums": "SELECT max(t) AS m FROM (SELECT k, sum(x) AS t FROM r GROUP BY k)",
    "condition on a maximum of sums": (
        "SELECT id FROM s WHERE y < (SELECT max(t) FROM (SELECT k, sum(x) AS t FROM r GROUP BY k))"
    ),
    "sum of counts by a key": (
        "SELECT b, sum(n) AS t FROM (SELECT k IS NULL AS b, k, count(*) AS n FROM r GROUP BY k)"
        " GROUP BY b HAVING sum(n) > 1"
    ),
    "intersection of aggregated values": (
        "SELECT count(*) AS n FROM r GROUP BY k INTERSECT SELECT y FROM s"
    ),
    "difference of aggregated values": (
        "SELECT y FROM s EXCEPT SELECT count(*) AS n FROM r GROUP BY k"
    ),
}

LIMITS: Final = {
    "greatest group": "SELECT k FROM r GROUP BY k ORDER BY sum(x) DESC, k LIMIT 1",
    "greatest group with its value": (
        "SELECT k, sum(x) AS t FROM r GROUP BY k ORDER BY t DESC, k LIMIT 1"
    ),
    "least rows": "SELECT id, x FROM r ORDER BY x, id LIMIT 2",
    "rows after the least": "SELECT id, x FROM r ORDER BY x, id LIMIT 2 OFFSET 1",
    "LIMIT below a join": (
        "SELECT t.id, s.id AS o FROM (SELECT id, k FROM r ORDER BY x DESC, id LIMIT 2) t"
        " JOIN s ON t.k = s.k"
    ),
    "LIMIT below a grouping": (
        "SELECT k, count(*) AS n FROM (SELECT k FROM r ORDER BY x, id LIMIT 3) GROUP BY k"
    ),
    "LIMIT of groups below a join": (
        "SELECT s.id FROM (SELECT k FROM r GROUP BY k ORDER BY sum(x) DESC, k LIMIT 1) t"
        " JOIN s ON t.k = s.k"
    ),
    "LIMIT in a membership": (
        "SELECT id FROM s WHERE y IN (SELECT x FROM r ORDER BY x DESC, id LIMIT 2)"
    ),
}

OUTER: Final = {
    "LEFT JOIN": "SELECT r.id, s.id AS o FROM r LEFT JOIN s ON r.k = s.k",
    "LEFT JOIN with a condition": "SELECT r.id, s.y FROM r LEFT JOIN s ON r.k = s.k AND s.y > 1",
    "RIGHT JOIN": "SELECT r.id, s.id AS o FROM r RIGHT JOIN s ON r.x = s.y",
    "FULL JOIN": "SELECT r.id, s.id AS o FROM r FULL JOIN s ON r.k = s.k AND r.x > s.y",
    "padded rows alone": "SELECT r.id FROM r LEFT JOIN s ON r.k = s.k WHERE s.y IS NULL",
    "padded rows or others": (
        "SELECT r.id, s.id AS o FROM r LEFT JOIN s ON r.k = s.k WHERE s.y IS NULL OR s.y > 2"
    ),
    "LEFT JOIN of a grouping": (
        "SELECT r.id, g.n FROM r LEFT JOIN (SELECT k, count(*) AS n FROM s GROUP BY k) g"
        " ON r.k = g.k"
    ),
    "join on a value of a window function and a column": (
        "SELECT s.id FROM s JOIN (SELECT id, x + rank() OVER (ORDER BY x) AS n FROM r WHERE id < 4)"
        " q ON q.n = s.y"
    ),
    "condition on a value that only Spark computes": (
        "WITH q AS (SELECT k, md5(k) AS u, max(x) AS m FROM r GROUP BY k)"
        " SELECT a.k FROM q a JOIN q b ON a.k = b.k WHERE a.u < 'A' OR b.m > 3"
    ),
    "padded rows and rows that find a NULL": (
        "SELECT a.id FROM r a LEFT JOIN (SELECT id - 1 AS i, max(k) AS k FROM r GROUP BY id - 1) b"
        " ON b.i = a.id WHERE b.k IS NULL"
    ),
    "elements of an array of the row before": (
        "SELECT k, v FROM (SELECT k, lag(a) OVER (ORDER BY k) AS b FROM"
        " (SELECT k, array(sum(x), max(x)) AS a FROM r GROUP BY k)) LATERAL VIEW explode(b) g AS v"
    ),
    "aggregate of what a LEFT JOIN finds": (
        "SELECT r.k, count(g.n) AS m FROM r LEFT JOIN"
        " (SELECT k, count(*) AS n FROM s GROUP BY k) g ON g.k = r.k GROUP BY r.k"
    ),
    "LEFT JOIN of a grouping and a condition": (
        "SELECT r.id FROM r LEFT JOIN (SELECT k, sum(y) AS t FROM s GROUP BY k) g"
        " ON r.k = g.k WHERE coalesce(g.t, 0) < r.x"
    ),
    "LEFT JOIN on an aggregated value": (
        f"SELECT s.id, g.k FROM s LEFT JOIN {_COUNTS} g ON g.n = s.y"
    ),
    "LEFT JOIN of groups that a condition keeps": (
        "SELECT s.id, g.k FROM s LEFT JOIN (SELECT k FROM r GROUP BY k HAVING sum(x) > 3) g"
        " ON g.k = s.k"
    ),
    "chain of outer joins": (
        "SELECT r.id, s.id AS o, q.id AS p FROM r LEFT JOIN s ON r.k = s.k"
        " LEFT JOIN r q ON q.x = s.y"
    ),
    "chain of three outer joins": (
        "SELECT r.id, s.id AS o, q.id AS p, u.id AS v FROM r LEFT JOIN s ON r.x = s.y"
        " LEFT JOIN r q ON q.k = s.k AND q.id < 4 LEFT JOIN s u ON u.y = q.x"
    ),
    "grouping of an outer join": (
        "SELECT r.k, count(s.id) AS n FROM r LEFT JOIN s ON r.k = s.k GROUP BY r.k"
    ),
    "grouping of an outer join and a condition": (
        "SELECT r.k FROM r LEFT JOIN s ON r.k = s.k GROUP BY r.k HAVING count(s.id) = 0"
    ),
    "FULL JOIN of groupings": (
        "SELECT k, n, t FROM (SELECT k, count(*) AS n FROM r GROUP BY k)"
        " FULL JOIN (SELECT k, sum(y) AS t FROM s GROUP BY k) USING (k)"
    ),
    "FULL JOIN of groupings and a condition": (
        "SELECT k FROM (SELECT k, count(*) AS n FROM r GROUP BY k)"
        " FULL JOIN (SELECT k, sum(y) AS t FROM s GROUP BY k) USING (k)"
        " WHERE coalesce(n, 0) < coalesce(t, 0)"
    ),
}

SETS: Final = {
    "EXCEPT": "SELECT k FROM r EXCEPT SELECT k FROM s",
    "EXCEPT ALL": "SELECT k FROM r EXCEPT ALL SELECT k FROM s",
    "INTERSECT": "SELECT k FROM r INTERSECT SELECT k FROM s",
    "INTERSECT ALL": "SELECT k FROM r INTERSECT ALL SELECT k FROM s",
    "EXCEPT of groups": ("SELECT k FROM s EXCEPT SELECT k FROM r GROUP BY k HAVING count(*) > 1"),
    "EXCEPT ALL of groups that only a deletion makes": (
        "SELECT k, t FROM (SELECT k, sum(x) AS t FROM r GROUP BY k UNION SELECT k, y FROM s)"
        " EXCEPT ALL SELECT k, y FROM s"
    ),
    "grouping of EXCEPT ALL": (
        "SELECT k, count(*) AS n FROM (SELECT k FROM r EXCEPT ALL SELECT k FROM s) GROUP BY k"
    ),
    "ROLLUP": "SELECT k, count(*) AS n FROM r GROUP BY ROLLUP (k)",
    "ROLLUP and a condition": (
        "SELECT k, grouping(k) AS g FROM r GROUP BY ROLLUP (k) HAVING sum(x) > 4"
    ),
    "GROUPING SETS and a condition": (
        "SELECT k, x, grouping_id(k, x) AS g FROM r GROUP BY GROUPING SETS ((k), (x), ())"
        " HAVING count(*) > 1 OR sum(id) > 4"
    ),
    "recursion": (
        "WITH RECURSIVE t(id, x) MAX RECURSION LEVEL 4 AS (SELECT id, x FROM r WHERE id = 2"
        " UNION ALL SELECT r.id, r.x FROM t JOIN r ON r.id = t.id + 1)"
        " SELECT id FROM t WHERE x > 1"
    ),
}

AGGREGATES: Final = {
    "DISTINCT": "SELECT k, sum(DISTINCT x % 2) AS t, count(DISTINCT x) AS n FROM r GROUP BY k",
    "FILTER": "SELECT k, sum(x) FILTER (WHERE x > 2) AS t FROM r GROUP BY k",
    "expression over aggregates": "SELECT k, max(x) - min(x) AS d FROM r GROUP BY k",
    "CASE over aggregates": (
        "SELECT k, CASE WHEN count(*) > 1 THEN 'many' ELSE 'one' END AS c FROM r GROUP BY k"
    ),
    "stddev": "SELECT k, stddev(x) AS d FROM r GROUP BY k",
    "max_by": "SELECT k, max_by(id, x) AS m FROM r GROUP BY k",
    "size of a list": "SELECT k, size(collect_list(x)) AS n FROM r GROUP BY k",
    "count_if": "SELECT k, count_if(x > 1) AS n FROM r GROUP BY k",
    "bool_and": "SELECT k, bool_and(x > 1) AS b FROM r GROUP BY k",
    "first": "SELECT k, min_by(x, id) AS f FROM r GROUP BY k HAVING min_by(x, id) > 1",
    "median": "SELECT k FROM r GROUP BY k HAVING median(x) > 2",
    "of nothing": "SELECT count(*) AS n, sum(x) AS t FROM r WHERE x > 100",
}

QUERIES: Final[dict[str, str]] = {
    **PLAIN,
    **HAVING,
    **DERIVED,
    **MEMBERSHIPS,
    **SCALARS,
    **WINDOWS,
    **GROUPS,
    **LIMITS,
    **OUTER,
    **SETS,
    **AGGREGATES,
}
