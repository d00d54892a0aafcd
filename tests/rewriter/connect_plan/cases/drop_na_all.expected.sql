SELECT
  l.id,
  l.k,
  l.v
FROM l
WHERE
  (
    l.k IS NOT NULL
  ) OR (
    l.v IS NOT NULL
  )
