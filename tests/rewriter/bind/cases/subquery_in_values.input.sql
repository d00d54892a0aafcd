SELECT * FROM VALUES (1, (SELECT max(a) FROM t)) AS v(x, y)
