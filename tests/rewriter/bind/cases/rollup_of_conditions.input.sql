SELECT a IS NULL AS n, count(*) AS c FROM t GROUP BY ROLLUP (a IS NULL, b IN ('x'))
