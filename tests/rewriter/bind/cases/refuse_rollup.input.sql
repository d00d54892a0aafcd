SELECT a, grouping(a), sum(b) FROM t GROUP BY ROLLUP (a)
