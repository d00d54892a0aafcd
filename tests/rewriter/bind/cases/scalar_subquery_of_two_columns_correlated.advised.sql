SELECT a, (SELECT max(x) FROM l WHERE l.k = t.a) AS m FROM t
