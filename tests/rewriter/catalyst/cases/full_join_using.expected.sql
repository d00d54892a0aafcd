SELECT
  coalesce(l.k, r.k) AS k,
  l.id,
  l.v,
  r.rid,
  r.w
FROM l
FULL JOIN r
  ON l.k = r.k
