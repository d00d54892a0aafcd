WITH q1 AS (
  SELECT
    l.id,
    l.k
  FROM l
)
SELECT
  p.n,
  p.x,
  p.y
FROM q1
UNPIVOT INCLUDE NULLS ((x, y) FOR n IN ((id, k) AS a, (k, id) AS b)) AS p
