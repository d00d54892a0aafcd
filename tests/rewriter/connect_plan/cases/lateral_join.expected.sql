SELECT
  l.id,
  l_2.w
FROM l, LATERAL (
  SELECT
    r.w
  FROM r
  WHERE
    r.k = l.k
) AS l_2
