SELECT l.x, max_by(r.k, r.y) AS k FROM l JOIN r ON l.x >= r.y GROUP BY l.x
