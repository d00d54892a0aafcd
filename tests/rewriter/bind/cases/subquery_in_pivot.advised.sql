SELECT sum(a + m) FILTER (WHERE b = 1) AS `1`, sum(a + m) FILTER (WHERE b = 2) AS `2` FROM t CROSS JOIN (SELECT max(x) AS m FROM l)
