-- title: pipe after union
select a from t union all select b from u intersect select c from v |> where a > 1 union select 3
-- expected
SELECT a FROM t UNION ALL (SELECT b FROM u INTERSECT SELECT c FROM v) |> WHERE a > 1 UNION SELECT 3

-- title: pipe join lateral
FROM t |> JOIN LATERAL (SELECT a AS c)
-- expected
FROM t |> INNER JOIN LATERAL (SELECT a AS c)

-- title: pipe operators
with c as (from t |> where x > 1) from c |> left join d using (k) |> extend x + y as s, s * 2 |> set x = 1, y = x |> drop k |> as q |> aggregate sum(x) as s, count(*) group by k, x % 2 as p |> order by s desc limit 2 |> except all (select 1)
-- expected
WITH c AS (FROM t |> WHERE x > 1) FROM c |> LEFT JOIN d USING (k) |> EXTEND x + y AS s, s * 2 |> SET x = 1, y = x |> DROP k |> AS q |> AGGREGATE SUM(x) AS s, COUNT(*) GROUP BY k, x % 2 AS p |> ORDER BY s DESC LIMIT 2 |> EXCEPT ALL (SELECT 1)

-- title: pipe sources
select * from (from a join b on a.k = b.k |> select distinct x) where x in (from u, v |> pivot (sum(x) for k in (1, 2))) and x > (values (1) |> where col1 = 1)
-- expected
SELECT * FROM (FROM a JOIN b ON a.k = b.k |> SELECT DISTINCT x) WHERE x IN (FROM u, v |> PIVOT(SUM(x) FOR k IN (1, 2))) AND x > (VALUES (1) |> WHERE col1 = 1)
