SELECT a + 1 AS c, sum(c) FROM t GROUP BY ALL
