SELECT * FROM (SELECT b, s FROM t) PIVOT(sum(b) FOR s IN ('x', 'y'))
