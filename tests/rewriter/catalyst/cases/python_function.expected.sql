SELECT
  my_udf(l.v) AS u
FROM l
