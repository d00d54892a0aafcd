WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  g.`model_3` AS `model_2`,
  SIZE(g.`collect_list_price`) AS `n`,
  ARRAY_SORT(g.`collect_list_price`) AS `prices`,
  g.`collect_list_price` AS `shown`,
  g.`_prov`
FROM (
  SELECT
    m.`model_3` AS `model_3`,
    COLLECT_LIST(m.`price`) AS `collect_list_price`,
    COLLECT_LIST(NAMED_STRUCT('cars', m.`car_id`, 'collect_list_price_value', m.`price`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`model_3`
) AS g
