WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_2`,
    cars.`price` AS `price_2`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`model_2` AS `model_2`,
    m.`price_2` AS `price_2`
  FROM `b1_members` AS m
  ORDER BY
    m.`price_2` ASC,
    m.`car_id` ASC
  LIMIT 5
)
SELECT
  b1.`model_2` AS `model_3`,
  NAMED_STRUCT('b1', b1.`car_id`) AS `_prov`
FROM `b1` AS b1
WHERE
  b1.`model_2` <> 'x'
ORDER BY
  b1.`model_2` ASC,
  b1.`car_id` ASC
LIMIT 2
