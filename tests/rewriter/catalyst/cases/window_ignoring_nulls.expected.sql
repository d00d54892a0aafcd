SELECT
  l.id,
  l.k,
  l.v,
  lag(l.k, 2, NULL) IGNORE NULLS OVER (ORDER BY l.id) AS w
FROM l
