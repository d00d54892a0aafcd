SELECT
  l.k,
  count(1) AS count
FROM l
GROUP BY
  ROLLUP (
    l.k
  )
