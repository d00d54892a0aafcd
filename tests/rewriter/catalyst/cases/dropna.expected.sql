SELECT
  l.id,
  l.x
FROM l
WHERE
  l.id IS NOT NULL AND (
    l.x IS NOT NULL AND NOT isnan(l.x)
  )
