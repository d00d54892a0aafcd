WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price_3`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`price_3` AS `price_3`
  FROM `b1_members` AS m
  ORDER BY
    m.`car_id` ASC,
    m.`car_id` ASC
  LIMIT 2
)
SELECT
  100 / b1.`price_3` AS `share`,
  NAMED_STRUCT('b1', b1.`car_id`) AS `_prov`
FROM `b1` AS b1
