SELECT * FROM t PIVOT (sum(b) + 1 FOR a IN (1))
