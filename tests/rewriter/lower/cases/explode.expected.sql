WITH `b0_members` AS (
  SELECT
    nested.`id` AS `id`,
    generated.`x` AS `x_2`,
    generated.`pos` AS `pos`
  FROM `nested` AS nested
  LATERAL VIEW OUTER
  POSEXPLODE(nested.`arr`) generated AS `pos`, `x`
  WHERE
    generated.`x` > 1
)
SELECT
  m.`id` AS `id_2`,
  m.`x_2` AS `x_2`,
  NAMED_STRUCT('nested', m.`id`) AS `_prov`
FROM `b0_members` AS m
