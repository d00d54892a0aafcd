SELECT 1 AS q, 2 AS p, q + 1 AS r FROM t
