WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  g.`dealer_3` AS `dealer_2`,
  g.`sum_price` AS `total`,
  g.`avg_price_2` AS `avg_price`,
  g.`count_2` AS `count`,
  g.`_prov`
FROM (
  SELECT
    m.`dealer_3` AS `dealer_3`,
    SUM(m.`price`) AS `sum_price`,
    AVG(m.`price`) AS `avg_price_2`,
    COUNT(*) AS `count_2`,
    COLLECT_LIST(
      NAMED_STRUCT('cars', m.`car_id`, 'sum_price_value', m.`price`, 'avg_price_2_value', m.`price`)
    ) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`dealer_3`
) AS g
