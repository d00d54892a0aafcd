WITH q1 AS (
  SELECT
    l.id,
    l.k,
    l.v
  FROM l
  SORT BY
    l.id
), q2 AS (
  SELECT
    q1.id,
    q1.k,
    q1.v
  FROM q1
  WHERE
    rand(-4L) < 0.5D
)
SELECT
  q2.id,
  q2.k,
  q2.v
FROM q2
WHERE
  q2.id > 1
