SELECT
  l.id,
  l.k,
  l.v
FROM l
