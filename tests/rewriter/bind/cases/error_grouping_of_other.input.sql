SELECT grouping(b) FROM t GROUP BY ROLLUP (a)
