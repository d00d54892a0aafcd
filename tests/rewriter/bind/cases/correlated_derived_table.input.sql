SELECT a, (SELECT count(*) FROM (SELECT x FROM l WHERE l.k = t.a) d) AS n FROM t
