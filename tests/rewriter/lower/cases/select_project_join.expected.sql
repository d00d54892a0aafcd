WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    dealers.`dealer` AS `dealer`,
    cars.`model` AS `model_2`,
    dealers.`city` AS `city_2`,
    cars.`price` * 2 AS `twice`
  FROM `cars` AS cars, `dealers` AS dealers
  WHERE
    cars.`dealer` = dealers.`dealer` AND cars.`price` > 10
)
SELECT
  m.`model_2` AS `model_2`,
  m.`city_2` AS `city_2`,
  m.`twice` AS `twice`,
  NAMED_STRUCT('cars', m.`car_id`, 'dealers', m.`dealer`) AS `_prov`
FROM `b0_members` AS m
