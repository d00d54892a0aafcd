SELECT sum(max(a)) FROM t
