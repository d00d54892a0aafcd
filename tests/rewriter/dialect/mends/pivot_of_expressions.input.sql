SELECT * FROM t PIVOT (SUM(a) + 1, CEIL(AVG(a)) * 2 AS m FOR b IN (1))
