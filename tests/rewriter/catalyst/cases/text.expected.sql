WITH q1_2 AS (
  SELECT
    k,
    COUNT(*) AS n
  FROM q1
  GROUP BY
    k
)
SELECT
  q1_2.k,
  q1_2.n
FROM q1_2
WHERE
  q1_2.n > 1L
