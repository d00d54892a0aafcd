SELECT a, sum(b) AS s FROM t GROUP BY ROLLUP (a) HAVING grouping(a) = 1 OR s > 2 ORDER BY grouping(a), a
