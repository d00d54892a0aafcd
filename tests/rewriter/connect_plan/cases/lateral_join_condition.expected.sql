SELECT
  l.id,
  l.k,
  l.v,
  l_2.rid,
  l_2.w
FROM l
LEFT JOIN LATERAL (
  SELECT
    r.rid,
    r.w
  FROM r
  WHERE
    r.w > l.id
) AS l_2
  ON l_2.rid = l.k
