SELECT
  l.k,
  count(1) AS count
FROM l
WHERE
  l.id > 1
GROUP BY
  l.k
