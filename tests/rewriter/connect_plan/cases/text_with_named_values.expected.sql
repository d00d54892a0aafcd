SELECT
  id,
  1.5D AS a,
  NULL AS b,
  1.50BD AS c,
  DATE '2020-01-02' AS d,
  TRUE AS e
FROM l
