WITH q1 AS (
  SELECT
    l.v,
    l.id,
    l.k
  FROM l
)
SELECT
  p.v,
  p.n,
  p.value
FROM q1
UNPIVOT INCLUDE NULLS (value FOR n IN (id AS id, k AS k)) AS p
WHERE
  coalesce(p.value) IS NOT NULL
