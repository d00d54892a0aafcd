SELECT
  l.id,
  l.k,
  l.v
FROM l
LIMIT 2
OFFSET 1
