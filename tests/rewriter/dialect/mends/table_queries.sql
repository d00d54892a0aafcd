-- title: comma join
SELECT * FROM t, u JOIN v ON u.c = v.c, w
-- expected
SELECT * FROM t, u JOIN v ON u.c = v.c, w

-- title: from query
FROM a, b LATERAL VIEW EXPLODE(x) e AS y
-- expected
FROM a, b LATERAL VIEW EXPLODE(x) e AS y

-- title: inline table as query
VALUES (1, 2) AS v(p, q) ORDER BY p
-- expected
VALUES (1, 2) AS v(p, q) ORDER BY p

-- title: inline table in parentheses
SELECT * FROM (VALUES (1, 2)) AS v(p, q)
-- expected
SELECT * FROM (VALUES (1, 2)) AS v(p, q)

-- title: inline table of single values
SELECT * FROM VALUES 1, 2 AS v(x)
-- expected
SELECT * FROM VALUES (1), (2) AS v(x)

-- title: inline tables in queries
WITH w(x) AS (VALUES (1)) SELECT x, (VALUES (2)) FROM w UNION ALL VALUES (3) |> WHERE TRUE
-- expected
WITH w(x) AS (VALUES (1)) SELECT x, (VALUES (2)) FROM w UNION ALL VALUES (3) |> WHERE TRUE

-- title: join without condition
SELECT * FROM t INNER JOIN u
-- expected
SELECT * FROM t INNER JOIN u

-- title: nested with
WITH c AS (SELECT a FROM t) SELECT (WITH e AS (SELECT max(a) AS m FROM c) SELECT m FROM e) AS v FROM c
-- expected
WITH c AS (SELECT a FROM t) SELECT (WITH e AS (SELECT max(a) AS m FROM c) SELECT m FROM e) AS v FROM c

-- title: samples
select * from (select a from t) tablesample (10 percent) repeatable (3) as s join (u join v on u.a = v.a) tablesample (bucket 1 out of 4) on true join w tablesample (2.5 percent) x on true, t tablesample (5 rows)
-- expected
SELECT * FROM (SELECT a FROM t) TABLESAMPLE (10 PERCENT) REPEATABLE (3) AS s JOIN (u JOIN v ON u.a = v.a) TABLESAMPLE (BUCKET 1 OUT OF 4) ON TRUE JOIN w TABLESAMPLE (2.5 PERCENT) AS x ON TRUE, t TABLESAMPLE (5 ROWS)

-- title: table arguments
select * from f(table t distribute by (k, v + 1) sort by (o desc, p), 3, r => table(select 1 as a) with single partition order by (a) + 1) as x(a, b)
-- expected
SELECT * FROM f(TABLE(t) PARTITION BY (k, v + 1) ORDER BY (o DESC, p), 3, r => TABLE(SELECT 1 AS a) WITH SINGLE PARTITION ORDER BY ((a) + 1)) AS x(a, b)

-- title: table generating call
SELECT explode(arr) AS v, a FROM t
-- expected
SELECT explode(arr) AS v, a FROM t

-- title: table queries in queries
WITH w AS (TABLE t) SELECT * FROM (TABLE w) AS x WHERE EXISTS (TABLE t) UNION ALL TABLE t
-- expected
WITH w AS (TABLE t) SELECT * FROM (TABLE w) AS x WHERE EXISTS(TABLE t) UNION ALL TABLE t

-- title: table query
TABLE t ORDER BY a LIMIT 1
-- expected
TABLE t ORDER BY a LIMIT 1

-- title: tablesample repeatable
SELECT a FROM t TABLESAMPLE (10 PERCENT) REPEATABLE (42)
-- expected
SELECT a FROM t TABLESAMPLE (10 PERCENT) REPEATABLE (42)
