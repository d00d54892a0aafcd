SELECT
  l.id,
  l.k,
  l.v
FROM l
WHERE
  l.id BETWEEN (
    -3
  ) AND 4
