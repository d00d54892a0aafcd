SELECT a, (SELECT count(*) FROM l WHERE l.x = t.a AND l.k > 1) AS n FROM t
