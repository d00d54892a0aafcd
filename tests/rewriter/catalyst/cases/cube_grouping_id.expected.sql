SELECT
  l.k,
  sum(l.id) AS `sum(id)`,
  grouping_id() AS `grouping_id()`
FROM l
GROUP BY
  GROUPING SETS (
    (l.k),
    ()
  )
