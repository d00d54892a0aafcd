SELECT * FROM t, l JOIN r ON t.a = r.k
