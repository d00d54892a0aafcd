SELECT a, (SELECT count(*) FROM (SELECT * FROM l WHERE l.x = t.a) v JOIN (SELECT * FROM r WHERE r.y > t.b) w USING (k)) AS n FROM t
