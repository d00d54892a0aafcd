SELECT
  l.id,
  l_2.s
FROM l
LEFT JOIN LATERAL (
  SELECT
    sum(r.w) AS s
  FROM r
  WHERE
    r.k = l.k
) AS l_2
  ON TRUE
