WITH `b0_members` AS (
  SELECT
    rates.`city` AS `city_2`,
    rates.`rate` AS `rate`
  FROM `rates` AS rates
)
SELECT
  m.`city_2` AS `city_2`,
  ROW_NUMBER() OVER (ORDER BY m.`city_2`, m.`rate` ASC) AS `n`,
  LAG(m.`rate`) OVER (ORDER BY m.`city_2`, m.`rate` ASC) AS `l`,
  NAMED_STRUCT('one', 1) AS `_prov`
FROM `b0_members` AS m
