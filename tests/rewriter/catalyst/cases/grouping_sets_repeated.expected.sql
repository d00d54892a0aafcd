SELECT
  l.k,
  count(1) AS n
FROM l
GROUP BY
  GROUPING SETS (
    (l.k),
    (l.k),
    ()
  )
