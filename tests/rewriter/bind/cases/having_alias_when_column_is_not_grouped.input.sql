SELECT a, sum(b) AS b FROM t GROUP BY a HAVING b > 5
