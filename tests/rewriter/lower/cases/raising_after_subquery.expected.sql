WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`min_price_2` AS `min_price`
  FROM (
    SELECT
      MIN(m.`price`) AS `min_price_2`
    FROM `b1_members` AS m
  ) AS g
), `b0_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`price` AS `price`
  FROM `cars` AS cars_2
)
SELECT
  m.`car_id` AS `car_id_3`,
  NAMED_STRUCT('cars_2', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
WHERE
  m.`price` > (
    SELECT
      b1_value.`min_price`
    FROM `b1` AS b1_value
  )
  AND 100 / m.`price` > 2
