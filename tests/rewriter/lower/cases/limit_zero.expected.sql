WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  m.`model_3` AS `model_3`,
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
ORDER BY
  m.`price` ASC,
  m.`car_id` ASC
LIMIT 0
