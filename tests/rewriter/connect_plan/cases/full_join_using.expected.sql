SELECT
  coalesce(l.k, r.k) AS k,
  l.id,
  l.v,
  l.st,
  l.a,
  r.rid,
  r.w
FROM l
FULL JOIN r
  ON l.k = r.k
