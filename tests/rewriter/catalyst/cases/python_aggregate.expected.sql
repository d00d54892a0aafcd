SELECT
  l.k,
  my_udf(l.id) AS u
FROM l
GROUP BY
  l.k
