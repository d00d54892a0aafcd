SELECT
  p.k,
  p.v0 AS a,
  p.v1 AS b
FROM (
  SELECT
    *
  FROM l
  PIVOT(sum(l.id) AS a0 FOR v IN ('a' AS v0, 'b' AS v1))
) AS p
