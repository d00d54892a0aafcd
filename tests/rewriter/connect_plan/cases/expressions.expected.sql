SELECT
  CASE WHEN l.id > 1 THEN 'x' ELSE 'y' END AS `name 0`,
  1.5D AS `name 1`,
  l.st.`x` AS `name 2`,
  l.st.`y` AS `name 3`,
  transform(l.a, x_0 -> x_0 + 1) AS `name 4`,
  l.a + 1 AS `name 5`,
  CAST(l.id AS STRING) AS `name 6`,
  l.id IN (1, 2) AS `name 7`
FROM l
