SELECT a FROM t WHERE (a, b + 1) IN (SELECT x, k FROM l)
