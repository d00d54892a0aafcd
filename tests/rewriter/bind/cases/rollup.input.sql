SELECT a, b, count(*) AS n, grouping_id() AS g FROM t GROUP BY ROLLUP (a, b)
