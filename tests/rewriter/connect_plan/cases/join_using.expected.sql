SELECT
  l.k,
  l.id,
  l.v,
  l.st,
  l.a,
  r.rid,
  r.w
FROM l
JOIN r
  ON l.k = r.k
