WITH q1 AS (
  SELECT
    l.k,
    count(1) AS count
  FROM l
  GROUP BY
    l.k
)
SELECT
  q1.k,
  q1.count
FROM q1
WHERE
  q1.count > 1
