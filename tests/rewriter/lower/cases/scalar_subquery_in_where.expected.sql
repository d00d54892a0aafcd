WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`avg_price_2` AS `avg_price`
  FROM (
    SELECT
      AVG(m.`price`) AS `avg_price_2`
    FROM `b1_members` AS m
  ) AS g
), `b0_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`price` AS `price`,
    cars_2.`model` AS `model_3`
  FROM `cars` AS cars_2
)
SELECT
  m.`model_3` AS `model_3`,
  NAMED_STRUCT('cars_2', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
WHERE
  m.`price` > (
    SELECT
      b1_value.`avg_price`
    FROM `b1` AS b1_value
  )
