WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars_2.`car_id` AS `car_id_2`,
    cars.`model` AS `model_3`
  FROM `cars` AS cars, `cars` AS cars_2
  WHERE
    cars.`dealer` = cars_2.`dealer` AND cars.`price` < cars_2.`price`
)
SELECT
  m.`model_3` AS `model_3`,
  NAMED_STRUCT('cars', m.`car_id`, 'cars_2', m.`car_id_2`) AS `_prov`
FROM `b0_members` AS m
