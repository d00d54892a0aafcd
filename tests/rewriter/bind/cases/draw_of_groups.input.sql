SELECT a, sum(b) AS s, uniform(0, 9) AS u FROM t GROUP BY a HAVING rand() > 0.5
