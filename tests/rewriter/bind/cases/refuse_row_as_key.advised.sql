SELECT count(*) FROM t GROUP BY a, b
