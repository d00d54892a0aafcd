SELECT * FROM l UNPIVOT INCLUDE NULLS ((v, w) FOR n IN ((x, k) AS xk, (k, j))) AS u (name, p, q)
