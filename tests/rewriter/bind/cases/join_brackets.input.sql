SELECT t.a, r.y FROM t JOIN (l JOIN r ON l.k = r.k) ON t.a = l.x
