SELECT
  1 AS `one`,
  'x' AS `x`,
  NAMED_STRUCT('one', 1) AS `_prov`
