SELECT b AS a, a AS b FROM t ORDER BY a + b, t.a
