WITH q1 AS (
  SELECT
    id,
    v
  FROM l
  WHERE
    k = 1 AND id < 3
)
SELECT
  q1.id,
  q1.v
FROM q1
WHERE
  q1.id > 0
