SELECT
  p.k,
  p.v0_a0 AS a_s,
  p.v0_a1 AS a_m,
  p.v1_a0 AS b_s,
  p.v1_a1 AS b_m
FROM (
  SELECT
    *
  FROM l
  PIVOT(sum(l.id) AS a0, max(l.id) AS a1 FOR v IN ('a' AS v0, 'b' AS v1))
) AS p
