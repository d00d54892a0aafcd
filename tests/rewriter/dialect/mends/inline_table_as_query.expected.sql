VALUES (1, 2) AS v(p, q) ORDER BY p
