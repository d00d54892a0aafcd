SELECT
  CAST(l.id AS INT) AS `name 0`
FROM l
