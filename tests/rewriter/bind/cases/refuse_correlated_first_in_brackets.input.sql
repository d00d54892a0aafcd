SELECT a FROM t WHERE EXISTS (SELECT 1 FROM l JOIN ((SELECT * FROM r WHERE r.y = t.a) w JOIN r ON r.k = w.k) ON l.k = r.k)
