SELECT a, b, grouping(b) AS g FROM t GROUP BY a, b GROUPING SETS ((b), (a))
