SELECT a + 10 AS b, count(*) FROM t GROUP BY a, b
