SELECT a, min(b) AS b FROM t GROUP BY a
