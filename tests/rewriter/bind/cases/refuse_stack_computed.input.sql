SELECT stack(a, 1, 2) FROM t
