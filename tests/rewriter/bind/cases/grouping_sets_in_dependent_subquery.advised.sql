SELECT a, (SELECT max(x) FROM l WHERE l.k > t.a GROUP BY j LIMIT 1) AS m FROM t
