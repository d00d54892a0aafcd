SELECT * FROM t PIVOT (sum(a) FILTER (WHERE a > 6) AS big, count(a) AS n FOR b IN ('x', 'y'))
