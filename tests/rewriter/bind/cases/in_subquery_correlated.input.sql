SELECT a FROM t WHERE a IN (SELECT x + 1 FROM l WHERE l.k = t.b AND j > 0)
