WITH q1 AS (
  SELECT
    r.rid,
    r.k,
    r.w
  FROM r
)
SELECT
  p.rid,
  p.var,
  p.val
FROM q1
UNPIVOT INCLUDE NULLS (val FOR var IN (k AS k, w AS w)) AS p
