SELECT a + (SELECT max(k) FROM l) AS c, (SELECT max(k) FROM l) AS m
FROM t GROUP BY a + (SELECT max(k) FROM l)
