WITH q1 AS (
  SELECT
    l.id,
    rand(-4L) AS r,
    monotonically_increasing_id() AS i,
    uuid(7L) AS u,
    shuffle(array(l.id, l.k), -8L) AS s
  FROM l
  WHERE
    l.id > 1
)
SELECT
  q1.id,
  q1.r,
  q1.i,
  q1.u,
  q1.s
FROM q1
WHERE
  q1.r < 0.5D
