SELECT a FROM t WHERE b = (SELECT max(k) FROM l WHERE l.x > t.a)
