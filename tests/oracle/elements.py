"""Queries that take apart arrays which a deletion may change, over the tuples of conditions."""

from __future__ import annotations

from typing import Final

_AGGREGATED: Final = "(SELECT k, array(sum(x), max(x)) AS a FROM r GROUP BY k)"
_SORTED: Final = "(SELECT k, sort_array(collect_list(x)) AS a FROM r GROUP BY k)"

ELEMENTS: Final[dict[str, str]] = {
    "elements of aggregates": (
        "SELECT k, x FROM (SELECT k, array(sum(x), max(x), count(*)) AS a FROM r GROUP BY k) "
        "LATERAL VIEW explode(a) g AS x"
    ),
    "elements of aggregates, filtered": (
        f"SELECT k, v FROM {_AGGREGATED} LATERAL VIEW explode(a) g AS v WHERE v > 3"
    ),
    "places of elements": (
        "SELECT k, p, v FROM (SELECT k, array(sum(x), count(*)) AS a FROM r GROUP BY k) "
        "LATERAL VIEW posexplode(a) g AS p, v WHERE v > p + 1"
    ),
    "sorted list": f"SELECT k, v FROM {_SORTED} LATERAL VIEW explode(a) g AS v",
    "sorted list by place": f"SELECT k, p, v FROM {_SORTED} LATERAL VIEW posexplode(a) g AS p, v",
    "sorted list, descending": (
        "SELECT k, p, v FROM (SELECT k, sort_array(collect_list(x), false) AS a FROM r GROUP "
        "BY k) LATERAL VIEW posexplode(a) g AS p, v WHERE p < 1"
    ),
    "list of no group": (
        "SELECT v FROM (SELECT sort_array(collect_list(x)) AS a FROM r WHERE k = 'a') "
        "LATERAL VIEW OUTER explode(a) g AS v"
    ),
    "outer, filtered list": (
        "SELECT k, v FROM (SELECT k, collect_list(x) FILTER (WHERE x > 2) AS a FROM r GROUP "
        "BY k) LATERAL VIEW OUTER explode(a) g AS v"
    ),
    "outer, places": (
        "SELECT k, p, v FROM (SELECT k, sort_array(collect_list(x) FILTER (WHERE x > 2)) AS "
        "a FROM r GROUP BY k) LATERAL VIEW OUTER posexplode(a) g AS p, v"
    ),
    "set": (
        "SELECT k, v FROM (SELECT k, collect_set(x) AS a FROM r GROUP BY k) LATERAL VIEW "
        "OUTER explode(a) g AS v"
    ),
    "map of aggregates": (
        "SELECT k, n, v FROM (SELECT k, map('s', sum(x), 'n', count(*)) AS a FROM r GROUP BY "
        "k) LATERAL VIEW explode(a) g AS n, v WHERE v <> 1"
    ),
    "inline of aggregates": (
        "SELECT k, a, b FROM (SELECT k, array(named_struct('a', min(x), 'b', max(x)), "
        "named_struct('a', max(x), 'b', min(x))) AS l FROM r GROUP BY k) LATERAL VIEW "
        "inline(l) g AS a, b WHERE a <= b"
    ),
    "sequence up to a count": (
        "SELECT k, v FROM (SELECT k, count(*) AS n FROM r GROUP BY k) LATERAL VIEW "
        "explode(sequence(1, CAST(n AS INT))) g AS v"
    ),
    "sequence up to a subquery": (
        "SELECT id, v FROM s LATERAL VIEW explode(sequence(0, CAST((SELECT count(*) FROM r "
        "WHERE x < 3) AS INT))) g AS v"
    ),
    "case of arrays": (
        "SELECT k, v FROM (SELECT k, count(*) AS n FROM r GROUP BY k) LATERAL VIEW "
        "explode(CASE WHEN n > 1 THEN array(n, 0) ELSE array(7) END) g AS v"
    ),
    "grouped elements": (
        f"SELECT v, count(*) AS n FROM {_SORTED} LATERAL VIEW explode(a) g AS v GROUP BY v"
    ),
    "elements having": (
        f"SELECT v FROM {_AGGREGATED} LATERAL VIEW explode(a) g AS v GROUP BY v HAVING count(*) > 1"
    ),
    "elements joined": (
        f"SELECT q.k, q.v, s.id FROM (SELECT k, v FROM {_SORTED} LATERAL VIEW explode(a) g AS "
        "v) q JOIN s ON q.v = s.y"
    ),
    "elements semi": (
        f"SELECT id FROM s WHERE y IN (SELECT v FROM {_SORTED} LATERAL VIEW explode(a) g AS v)"
    ),
    "elements anti": (
        "SELECT id FROM s WHERE NOT EXISTS (SELECT 1 FROM (SELECT k, v FROM (SELECT k, "
        "array(max(x), min(x)) AS a FROM r GROUP BY k) LATERAL VIEW explode(a) g AS v) q "
        "WHERE q.v = s.y)"
    ),
    "elements of elements": (
        "SELECT k, v, w FROM (SELECT k, array(count(*), max(x)) AS a FROM r GROUP BY k) "
        "LATERAL VIEW explode(a) g AS v LATERAL VIEW explode(sequence(1, CAST(v AS INT))) g1 "
        "AS w WHERE v < 4"
    ),
    "elements and members": (
        "SELECT r.id, v FROM r JOIN (SELECT k, array(count(*), max(x)) AS a FROM r GROUP BY "
        "k) q ON r.k = q.k LATERAL VIEW explode(q.a) g AS v WHERE v <> r.x"
    ),
    "elements, first": (
        f"SELECT k, v FROM {_AGGREGATED} LATERAL VIEW explode(a) g AS v ORDER BY v DESC, k LIMIT 2"
    ),
    "elements, numbered": (
        f"SELECT k, v, row_number() OVER (ORDER BY v, k) AS n FROM {_SORTED} LATERAL VIEW "
        "explode(a) g AS v"
    ),
    "elements of windowed rows": (
        "SELECT id, v FROM (SELECT id, x, row_number() OVER (PARTITION BY k ORDER BY x, id) "
        "AS n FROM r) LATERAL VIEW explode(array(n, x)) g AS v WHERE n = 1"
    ),
    "elements of distinct rows": (
        "SELECT k, v FROM (SELECT DISTINCT k FROM r) LATERAL VIEW explode(array(1, 2)) g AS v"
    ),
    "elements of a union": (
        "SELECT k, v FROM (SELECT k, max(x) AS m FROM r GROUP BY k UNION ALL SELECT k, "
        "min(y) FROM s GROUP BY k) LATERAL VIEW explode(array(m, 0)) g AS v"
    ),
    "elements left joined": (
        "SELECT id, v FROM s LEFT JOIN (SELECT k, max(x) AS m FROM r GROUP BY k) q ON s.k = "
        "q.k LATERAL VIEW explode(array(m, y)) g AS v WHERE v > 1"
    ),
    "elements in an aggregate": (
        f"SELECT max(v) AS m, count(*) AS n FROM {_SORTED} LATERAL VIEW explode(a) g AS v"
    ),
    "elements by rollup": (
        "SELECT k, v, count(*) AS n FROM (SELECT k, array(count(*), min(x)) AS a FROM r "
        "GROUP BY k) LATERAL VIEW explode(a) g AS v GROUP BY ROLLUP(k, v)"
    ),
    "transformed list": (
        f"SELECT k, v FROM {_SORTED} LATERAL VIEW explode(transform(a, y -> y + 1)) g AS v"
    ),
    "filtered elements of a list": (
        "SELECT k, v FROM (SELECT k, sort_array(collect_list(x)) AS a, max(x) AS m FROM r "
        "GROUP BY k) LATERAL VIEW explode(filter(a, y -> y < m)) g AS v"
    ),
}
