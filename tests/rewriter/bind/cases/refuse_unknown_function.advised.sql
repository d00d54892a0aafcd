SELECT abs(a) FROM t
