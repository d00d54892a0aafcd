SELECT inline(b) FROM t
