SELECT * FROM t PIVOT (median(b) FOR a IN (1))
