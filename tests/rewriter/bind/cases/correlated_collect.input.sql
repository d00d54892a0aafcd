SELECT a, (SELECT size(collect_set(j)) FROM l WHERE l.x = t.a) AS n FROM t
