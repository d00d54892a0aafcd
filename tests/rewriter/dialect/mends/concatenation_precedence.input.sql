SELECT s || a + b FROM t
