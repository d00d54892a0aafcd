WITH `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city_2`,
    generated.`x` AS `x_2`,
    generated.`pos` AS `pos`
  FROM `dealers` AS dealers
  LATERAL VIEW
  POSEXPLODE(ARRAY(dealers.`rating`, 2)) generated AS `pos`, `x`
)
SELECT
  m.`city_2` AS `city_2`,
  m.`x_2` AS `x_2`,
  NAMED_STRUCT('dealers', m.`dealer`) AS `_prov`
FROM `b0_members` AS m
ORDER BY
  m.`city_2` ASC,
  m.`dealer` ASC,
  m.`pos` ASC
LIMIT 2
