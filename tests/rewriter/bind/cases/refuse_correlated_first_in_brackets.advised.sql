SELECT DISTINCT t.a FROM t JOIN r w ON w.y = t.a JOIN r ON r.k = w.k JOIN l ON l.k = r.k
