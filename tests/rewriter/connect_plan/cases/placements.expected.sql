SELECT
  l.k,
  l.id,
  l.v,
  r.rid,
  r.w
FROM l
JOIN r
  ON l.k = r.k
