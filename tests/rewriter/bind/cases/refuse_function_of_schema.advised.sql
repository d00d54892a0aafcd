SELECT parts(a) FROM t
