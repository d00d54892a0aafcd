SELECT grouping(a) FROM t GROUP BY ROLLUP (a)
