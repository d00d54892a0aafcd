SELECT * FROM (SELECT b, s FROM t) PIVOT(SUM(b) FOR s IN ('x', 'y'))
