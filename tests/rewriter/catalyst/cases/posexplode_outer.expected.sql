WITH q1 AS (
  SELECT
    l.id,
    l.v,
    split(l.v, 'a', -1) AS p
  FROM l
)
SELECT
  q1.id,
  g.pos,
  g.col
FROM q1
LATERAL VIEW OUTER
posexplode(q1.p) g AS pos, col
