SELECT sum(b + (SELECT max(a) FROM t)) OVER (ORDER BY a) AS s FROM t
