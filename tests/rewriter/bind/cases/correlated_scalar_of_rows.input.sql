SELECT a FROM t WHERE b = (SELECT k FROM l WHERE l.x = t.a)
