SELECT * FROM t UNPIVOT (v FOR n IN (a, b))
