WITH q1 AS (
  SELECT
    k,
    COUNT(*) AS n
  FROM l
  GROUP BY
    k
)
SELECT
  q1.k,
  q1.n
FROM q1
WHERE
  q1.n > 1
