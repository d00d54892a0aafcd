WITH q1 AS (
  SELECT
    l.k
  FROM l
  UNION ALL
  SELECT
    r.k
  FROM r
), q2 AS (
  SELECT
    q1.k
  FROM q1
  EXCEPT ALL
  SELECT
    r.k
  FROM r
)
SELECT DISTINCT
  q2.k
FROM q2
