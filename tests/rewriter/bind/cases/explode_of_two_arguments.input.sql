SELECT a, e FROM t LATERAL VIEW explode(b, a) u AS e
