SELECT t.a, x.p, c.c0, c.c1 FROM t, LATERAL json_tuple(b, 'y', a) c LATERAL VIEW json_tuple(c.c1, 'x') x AS p WHERE x.p > 1
