SELECT median(b) FILTER (WHERE a = 1) AS `1` FROM t
