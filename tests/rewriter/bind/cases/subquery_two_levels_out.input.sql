SELECT a, (SELECT max(x) FROM l WHERE l.k = (SELECT count(*) FROM r WHERE r.j = l.j AND r.k = t.a)) AS m FROM t
