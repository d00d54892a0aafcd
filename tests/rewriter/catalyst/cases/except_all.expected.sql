SELECT
  l.id,
  l.k,
  l.v
FROM l
EXCEPT ALL
SELECT
  l.id,
  l.k,
  l.v
FROM l
