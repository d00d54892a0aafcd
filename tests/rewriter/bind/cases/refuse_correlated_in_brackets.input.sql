SELECT a FROM t WHERE EXISTS (SELECT 1 FROM l JOIN (r LEFT JOIN (SELECT * FROM l WHERE l.x = t.a) w ON r.k = w.k) ON l.k = r.k)
