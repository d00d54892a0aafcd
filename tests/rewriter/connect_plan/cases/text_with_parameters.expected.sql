WITH q1 AS (
  SELECT
    k AS n
  FROM l
  WHERE
    k > 1
)
SELECT
  q1.k,
  q1.n
FROM q1
WHERE
  q1.n > 1
