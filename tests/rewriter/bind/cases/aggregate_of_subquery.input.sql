SELECT sum(a * (SELECT max(k) FROM l)) FROM t
