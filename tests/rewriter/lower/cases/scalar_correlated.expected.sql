WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`car_id` AS `car_id_3`,
    bids.`amount` AS `amount`
  FROM `bids` AS bids
), `b1` AS (
  SELECT
    g.`car_id_3` AS `car_id_3`,
    0.5 * g.`avg_amount` AS `value`,
    g.`car_id_3` AS `car_id_4`
  FROM (
    SELECT
      m.`car_id_3` AS `car_id_3`,
      AVG(m.`amount`) AS `avg_amount`
    FROM `b1_members` AS m
    GROUP BY
      m.`car_id_3`
  ) AS g
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`,
    cars.`model` AS `model_2`
  FROM `cars` AS cars
)
SELECT
  m.`model_2` AS `model_2`,
  m.`price` AS `price_2`,
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
LEFT JOIN `b1` AS b1_value
  ON b1_value.`car_id_4` = m.`car_id`
WHERE
  m.`price` > b1_value.`value`
