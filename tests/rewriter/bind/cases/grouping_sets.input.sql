SELECT a + 1 AS c, b, sum(a) AS s FROM t GROUP BY GROUPING SETS ((a + 1, b), (b), (), b)
