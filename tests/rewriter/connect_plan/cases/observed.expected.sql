SELECT
  l.id,
  l.k,
  l.v
FROM l
WHERE
  l.k > 0
