WITH q1 AS (
  SELECT
    l.id,
    l.k,
    l.v,
    l.st,
    l.a,
    r.rid,
    r.k AS k_2,
    r.w,
    l.id + 1 AS c
  FROM l
  JOIN r
    ON l.k = r.k
)
SELECT
  q1.k,
  q1.k_2 AS k,
  sum(q1.c) AS s
FROM q1
GROUP BY
  q1.k,
  q1.k_2
