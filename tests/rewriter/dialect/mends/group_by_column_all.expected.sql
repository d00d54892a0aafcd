SELECT max(x) FROM t GROUP BY all
