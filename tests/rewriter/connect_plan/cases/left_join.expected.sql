SELECT
  l.id,
  r.w,
  l.v
FROM l
LEFT JOIN r
  ON l.k = r.k
