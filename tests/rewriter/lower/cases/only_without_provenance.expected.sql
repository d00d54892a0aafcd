WITH `b0_members` AS (
  SELECT
    rates.`city` AS `city_3`,
    rates.`rate` AS `rate`
  FROM `rates` AS rates
)
SELECT
  g.`city_3` AS `city_2`,
  g.`sum_rate` AS `s`,
  g.`_prov`
FROM (
  SELECT
    m.`city_3` AS `city_3`,
    SUM(m.`rate`) AS `sum_rate`,
    COLLECT_LIST(NAMED_STRUCT('sum_rate_value', m.`rate`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`city_3`
) AS g
