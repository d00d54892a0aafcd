SELECT
  l.id,
  l.k,
  l.v
FROM l
WHERE
  l.k IN (
    SELECT
      r.k
    FROM r
  )
