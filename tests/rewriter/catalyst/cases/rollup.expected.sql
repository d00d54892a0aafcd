SELECT
  l.k,
  l.v,
  count(1) AS count
FROM l
GROUP BY
  GROUPING SETS (
    (l.k, l.v),
    (l.k),
    ()
  )
