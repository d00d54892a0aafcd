WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_2`
  FROM `cars` AS cars
)
SELECT
  5 AS `five`,
  m.`model_2` AS `model_2`,
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
ORDER BY
  CAST(5 AS INT) ASC,
  m.`model_2` ASC
