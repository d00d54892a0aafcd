SELECT 'x' AS c, count(1), a + 1 FROM t GROUP BY c, a
