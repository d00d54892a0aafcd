SELECT struct(a, b) FROM t
