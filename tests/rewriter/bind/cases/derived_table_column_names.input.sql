SELECT p, q FROM (SELECT a, b FROM t) AS z(p, q)
