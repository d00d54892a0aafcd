SELECT * FROM t PIVOT (sum(a) FOR b IN (1 AS x, 2 AS y))
