SELECT
  l.id,
  l.k,
  l.v
FROM l
ORDER BY
  l.id
LIMIT 3
