SELECT a, p, q FROM t LATERAL VIEW stack(2, a, b, 3) s AS p, q
