WITH `b1_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`dealer` AS `dealer_4`,
    cars_2.`price` AS `price`
  FROM `cars` AS cars_2
), `b1` AS (
  SELECT
    g.`dealer_4` AS `dealer_4`,
    g.`dealer_4` AS `dealer_3`,
    g.`max_price_2` AS `p`
  FROM (
    SELECT
      m.`dealer_4` AS `dealer_4`,
      MAX(m.`price`) AS `max_price_2`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_4`
  ) AS g
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`,
    cars.`model` AS `model_3`
  FROM `cars` AS cars
)
SELECT
  m.`model_3` AS `model_3`,
  NAMED_STRUCT('cars', m.`car_id`, 'b1', b1.`dealer_4`) AS `_prov`
FROM `b0_members` AS m, `b1` AS b1
WHERE
  m.`price` = b1.`p`
