WITH `b1_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`rating` AS `rating_2`
  FROM `dealers` AS dealers
  WHERE
    dealers.`dealer` = 'd1'
), `b1` AS (
  SELECT
    m.`dealer` AS `dealer`,
    m.`rating_2` AS `rating_2`
  FROM `b1_members` AS m
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`,
    cars.`model` AS `model_2`
  FROM `cars` AS cars
)
SELECT
  m.`model_2` AS `model_2`,
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
WHERE
  m.`price` > (
    SELECT
      b1_value.`rating_2`
    FROM `b1` AS b1_value
  )
