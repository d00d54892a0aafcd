SELECT
  r.k,
  sum(r.w) AS s
FROM r
GROUP BY
  GROUPING SETS (
    (r.k),
    ()
  )
