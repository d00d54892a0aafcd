SELECT sum(m) FROM (SELECT max(a) AS m FROM t GROUP BY b)
