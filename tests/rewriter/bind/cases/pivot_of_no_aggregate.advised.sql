SELECT max(upper(a)) FILTER (WHERE b = 1) AS `1`, max(upper(a)) FILTER (WHERE b = 2) AS `2` FROM t
