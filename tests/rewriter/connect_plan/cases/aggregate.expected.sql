SELECT
  l.k AS `name 0`,
  sum(l.id) AS `name 1`,
  count(*) AS `name 2`,
  count(DISTINCT l.v) AS `name 3`
FROM l
GROUP BY
  l.k
