SELECT positive(a), positive(1) FROM t
