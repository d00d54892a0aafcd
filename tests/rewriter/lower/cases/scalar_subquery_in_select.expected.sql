WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`amount` AS `amount`
  FROM `bids` AS bids
), `b1` AS (
  SELECT
    g.`max_amount_2` AS `max_amount`
  FROM (
    SELECT
      MAX(m.`amount`) AS `max_amount_2`
    FROM `b1_members` AS m
  ) AS g
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_2`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  m.`model_2` AS `model_2`,
  (
    SELECT
      b1_value.`max_amount`
    FROM `b1` AS b1_value
  ) - m.`price` AS `gap`,
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
