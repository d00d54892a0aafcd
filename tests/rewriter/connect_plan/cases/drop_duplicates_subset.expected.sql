WITH q1 AS (
  SELECT DISTINCT
    l.id,
    l.k,
    l.st,
    l.a
  FROM l
)
SELECT
  first(q1.id) AS id,
  q1.k,
  first(q1.st) AS st,
  first(q1.a) AS a
FROM q1
GROUP BY
  q1.k
