SELECT * FROM t PIVOT (upper(a) FOR b IN (1, 2))
