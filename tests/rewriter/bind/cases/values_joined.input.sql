SELECT t.a, v.q FROM t JOIN (VALUES (1, 'x'), (2, NULL)) AS v(p, q) ON t.a = v.p
