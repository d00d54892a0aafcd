SELECT stack(2, 1, 2) FROM t
