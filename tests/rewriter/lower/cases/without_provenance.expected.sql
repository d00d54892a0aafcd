WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_2`,
    rates.`rate` AS `rate_2`
  FROM `cars` AS cars, `rates` AS rates
  WHERE
    cars.`dealer` = rates.`city`
)
SELECT
  m.`model_2` AS `model_2`,
  m.`rate_2` AS `rate_2`,
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
