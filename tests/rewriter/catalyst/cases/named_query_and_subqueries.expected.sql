WITH q1 AS (
  SELECT
    r.k,
    count(1) AS n
  FROM r
  GROUP BY
    r.k
)
SELECT
  q1.k,
  q1.n
FROM q1
WHERE
  (
    (
      CAST(q1.n AS DOUBLE) > (
        SELECT
          avg(q1_2.n) AS `avg(n)`
        FROM q1 AS q1_2
      )
    )
    AND EXISTS(
      SELECT
        1 AS `1`
      FROM r
      WHERE
        (
          r.k = q1.k
        ) AND (
          r.w > 1
        )
    )
  )
  AND (
    q1.k IN (
      SELECT
        r.k
      FROM r
    )
  )
