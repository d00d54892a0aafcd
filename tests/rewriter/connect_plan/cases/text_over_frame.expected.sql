WITH few AS (
  SELECT
    r.k
  FROM r
)
SELECT
  k,
  COUNT(*) AS n
FROM few
GROUP BY
  k
