SELECT
  l.id + 1 AS `(id + 1)`,
  CAST(l.id AS DOUBLE) * 1.5D AS `(id * 1.5)`,
  try_add(l.id, 1) AS `try_add(id, 1)`,
  CAST(l.id AS STRING) AS id,
  CAST(l.id AS STRING) AS id,
  CASE WHEN l.id > 1 THEN 'x' ELSE 'y' END AS `CASE WHEN (id > 1) THEN x ELSE y END`,
  CASE WHEN l.id > 1 THEN 'x' END AS `CASE WHEN (id > 1) THEN x END`,
  coalesce(l.id, l.k) AS `coalesce(id, k)`,
  concat(l.v, 'x') AS `concat(v, x)`,
  l.v LIKE 'a%' AS `v LIKE a%`,
  rlike(l.v, 'a') AS `RLIKE(v, a)`,
  l.id IN (1, 2) AS `(id IN (1, 2))`,
  (
    l.id >= 1
  ) AND (
    l.id <= 3
  ) AS `((id >= 1) AND (id <= 3))`,
  substring(l.v, 1, 2) AS `substring(v, 1, 2)`,
  named_struct('id', l.id, 'k', l.k) AS st,
  transform(array(l.id), x_1_145 -> x_1_145 + 1) AS `transform(array(id), lambdafunction((namedlambdavariable() + 1), namedlambdavariable()))`,
  nvl(l.k, 3) AS `nvl(k, 3)`,
  date_add(DATE '2020-01-31', 1) AS `date_add(DATE '2020-01-31', 1)`,
  upper(l.v) AS `upper(v)`,
  NOT (
    l.k IS NULL
  ) AS `(NOT (k IS NULL))`,
  l.k IS NOT DISTINCT FROM 3 AS `(k <=> 3)`,
  (
    named_struct('id', l.id)
  ).`id` AS `struct(id) AS z.id`,
  round(l.id, 1) AS `round(id, 1)`,
  to_date(l.v) AS `to_date(v)`,
  NOT (
    l.k IS NOT DISTINCT FROM 3
  ) AS `(NOT (k <=> 3))`
FROM l
