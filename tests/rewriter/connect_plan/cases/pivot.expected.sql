WITH q1 AS (
  SELECT
    l.id,
    l.k,
    l.v
  FROM l
)
SELECT
  p.k,
  p.v0 AS a
FROM (
  SELECT
    *
  FROM q1
  PIVOT(sum(q1.id) AS a0 FOR v IN ('a' AS v0))
) AS p
