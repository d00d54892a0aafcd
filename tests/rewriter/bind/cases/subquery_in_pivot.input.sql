SELECT * FROM t PIVOT (sum(a + (SELECT max(x) FROM l)) FOR b IN (1, 2))
