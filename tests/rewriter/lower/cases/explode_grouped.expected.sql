WITH `b0_members` AS (
  SELECT
    nested.`id` AS `id`,
    generated.`x` AS `x_3`
  FROM `nested` AS nested
  LATERAL VIEW
  POSEXPLODE(nested.`arr`) generated AS `p`, `x`
)
SELECT
  g.`x_3` AS `x_2`,
  g.`count` AS `n`,
  g.`_prov`
FROM (
  SELECT
    m.`x_3` AS `x_3`,
    COUNT(*) AS `count`,
    COLLECT_LIST(NAMED_STRUCT('nested', m.`id`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`x_3`
) AS g
