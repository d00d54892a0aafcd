SELECT * FROM t AS u(p, q)
