SELECT struct(a, t.b, a + 1, b AS z), (a, b) FROM t
