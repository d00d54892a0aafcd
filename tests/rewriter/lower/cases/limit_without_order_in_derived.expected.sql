WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_2`,
    cars.`dealer` AS `dealer_2`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`model_2` AS `model_2`,
    m.`dealer_2` AS `dealer_2`
  FROM `b1_members` AS m
  ORDER BY
    m.`car_id` ASC
  LIMIT 3
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    b1.`car_id` AS `b1_car_id`,
    b1.`model_2` AS `model_3`,
    dealers.`city` AS `city_2`
  FROM `b1` AS b1, `dealers` AS dealers
  WHERE
    b1.`dealer_2` = dealers.`dealer`
)
SELECT
  m.`model_3` AS `model_3`,
  m.`city_2` AS `city_2`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b1', b1.`car_id`) AS `_prov`
FROM `b0_members` AS m, `b1` AS b1
WHERE
  m.`b1_car_id` IS NOT DISTINCT FROM b1.`car_id`
