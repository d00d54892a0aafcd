SELECT
  l.k,
  sum(l.id) AS s,
  count(1) AS n,
  count(DISTINCT l.v) AS `count(DISTINCT v)`,
  avg(l.id) AS `avg(id)`
FROM l
GROUP BY
  l.k
