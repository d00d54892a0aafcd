SELECT a, (SELECT count_min_sketch(j, 0.5D, 0.5D, 1) FROM l WHERE l.x = t.a) AS n FROM t
