SELECT grouping(a) FROM t GROUP BY a
