SELECT * FROM t, LATERAL (SELECT t.*, l.x FROM l WHERE l.k = t.a)
