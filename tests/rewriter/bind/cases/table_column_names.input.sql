SELECT u.p FROM t AS u(p, q) WHERE q = 1
