SELECT (a + 1) * 2, a + 1 FROM t GROUP BY a + 1
