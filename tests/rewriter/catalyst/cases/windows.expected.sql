WITH q1 AS (
  SELECT
    l.id,
    l.k,
    l.v,
    row_number() OVER (PARTITION BY l.k ORDER BY l.id) AS rn
  FROM l
), q2 AS (
  SELECT
    q1.id,
    q1.k,
    q1.v,
    q1.rn,
    sum(q1.id) OVER (PARTITION BY q1.k ORDER BY q1.id) AS sm
  FROM q1
), q3 AS (
  SELECT
    q2.id,
    q2.k,
    q2.v,
    q2.rn,
    q2.sm,
    lag(q2.id, 1, NULL) OVER (PARTITION BY q2.k ORDER BY q2.id) AS lg
  FROM q2
)
SELECT
  q3.id,
  q3.k,
  q3.v,
  q3.rn,
  q3.sm,
  q3.lg
FROM q3
WHERE
  q3.rn < 2
