SELECT * FROM t PIVOT (sum(b) FOR a IN (1, 2))
