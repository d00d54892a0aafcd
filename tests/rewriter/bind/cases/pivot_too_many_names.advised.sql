SELECT * FROM t PIVOT (sum(a) FOR b IN (1, 2)) AS p(x, y)
