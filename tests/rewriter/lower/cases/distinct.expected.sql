WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    cars.`dealer` AS `dealer_3`
  FROM `cars` AS cars
)
SELECT
  g.`model_3` AS `model_3`,
  g.`dealer_3` AS `dealer_3`,
  g.`_prov`
FROM (
  SELECT
    m.`model_3` AS `model_3`,
    m.`dealer_3` AS `dealer_3`,
    COLLECT_LIST(NAMED_STRUCT('cars', m.`car_id`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`model_3`,
    m.`dealer_3`
) AS g
