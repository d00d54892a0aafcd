SELECT a, approx_top_k(b) OVER (PARTITION BY a) AS s FROM t
