SELECT * FROM t AS u(p)
