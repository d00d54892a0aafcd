WITH q1 AS (
  SELECT
    r.k,
    r.w
  FROM r
)
SELECT
  p.var,
  sum(p.val) AS s
FROM q1
UNPIVOT INCLUDE NULLS (val FOR var IN (k AS K, w AS w)) AS p
GROUP BY
  p.var
