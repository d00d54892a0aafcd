SELECT (SELECT max(x) FROM l) + a, b / (SELECT max(x) FROM l) FROM t
