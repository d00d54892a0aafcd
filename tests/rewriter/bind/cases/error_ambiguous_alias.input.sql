SELECT 1 AS q, 2 AS q, q + 1 AS r FROM t
