WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` / 10 AS `price_10`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  g.`price_10` AS `bin`,
  g.`price_10` + 1 AS `price_10_1`,
  g.`sum_price_2_2` AS `sum_price_2`,
  g.`_prov`
FROM (
  SELECT
    m.`price_10` AS `price_10`,
    SUM(m.`price` * 2) AS `sum_price_2_2`,
    COLLECT_LIST(NAMED_STRUCT('cars', m.`car_id`, 'sum_price_2_2_value', m.`price` * 2)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`price_10`
) AS g
