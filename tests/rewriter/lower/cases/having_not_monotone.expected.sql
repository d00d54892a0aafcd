WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  g.`dealer_3` AS `dealer_2`,
  g.`_prov`
FROM (
  SELECT
    m.`dealer_3` AS `dealer_3`,
    AVG(m.`price`) AS `avg_price`,
    COLLECT_LIST(NAMED_STRUCT('cars', m.`car_id`, 'avg_price_value', m.`price`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`dealer_3`
) AS g
WHERE
  g.`avg_price` > 2
