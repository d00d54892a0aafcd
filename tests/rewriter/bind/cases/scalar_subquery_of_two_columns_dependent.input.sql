SELECT a, (SELECT x, k FROM l WHERE l.k > t.a LIMIT 1) AS m FROM t
