SELECT a + 1 AS c, sum(a + 1) FROM t GROUP BY ALL
