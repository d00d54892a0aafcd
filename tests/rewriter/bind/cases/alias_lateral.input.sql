SELECT a + 1 AS c, c * 2 AS d, d - c AS e FROM t
