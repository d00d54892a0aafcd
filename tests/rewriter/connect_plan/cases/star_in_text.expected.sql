SELECT
  l.id AS `name 0`,
  l.k AS `name 1`,
  l.v AS `name 2`,
  l.k + 1 AS `name 3`
FROM l
