SELECT
  first(l.id) AS id,
  l.k,
  first(l.v) AS v
FROM l
GROUP BY
  l.k
