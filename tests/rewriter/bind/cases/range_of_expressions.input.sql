SELECT r.n FROM range(1, 2 + 3, 2) AS r(n)
