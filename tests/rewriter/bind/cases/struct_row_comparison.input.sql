SELECT a FROM t WHERE (a, b) IN ((1, 2), (3, 4)) AND (a, b) = (1, 2)
