SELECT
  l.id,
  l.k,
  l.v
FROM l
UNION ALL
SELECT
  l.id,
  l.k,
  l.v
FROM l
