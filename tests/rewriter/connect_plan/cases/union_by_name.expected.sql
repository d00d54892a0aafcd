SELECT
  l.id,
  l.k
FROM l
UNION ALL
SELECT
  l.id,
  l.k
FROM l
