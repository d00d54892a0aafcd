SELECT a, (SELECT count(r.y) FROM l LEFT JOIN r ON l.k = r.k AND r.y = t.a) AS n FROM t
