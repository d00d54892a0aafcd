SELECT count(t.*, 1) AS n, count(DISTINCT t.*, l.x) AS m FROM t JOIN l ON a = x
