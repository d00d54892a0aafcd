SELECT a FROM t WHERE a IN (SELECT max(x) FROM l WHERE k = t.b)
