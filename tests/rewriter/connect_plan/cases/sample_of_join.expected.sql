WITH q1 AS (
  SELECT
    l.k,
    l.id,
    l.v,
    r.rid,
    r.w
  FROM l
  JOIN r
    ON l.k = r.k
)
SELECT
  q1.k,
  count(1) AS count
FROM q1 TABLESAMPLE (50 PERCENT) REPEATABLE (3)
GROUP BY
  q1.k
