WITH q1 AS (
  SELECT
    l.id,
    l.k,
    l.v,
    l.st,
    l.a,
    row_number() OVER (PARTITION BY l.k ORDER BY l.id DESC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS rn
  FROM l
)
SELECT
  q1.id,
  q1.k,
  q1.v,
  q1.st,
  q1.a,
  q1.rn
FROM q1
WHERE
  q1.rn < 2
ORDER BY
  q1.id
LIMIT 3
