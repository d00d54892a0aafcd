SELECT a, (SELECT bitmap_construct_agg(j) FROM l WHERE l.x = t.a) AS n FROM t
