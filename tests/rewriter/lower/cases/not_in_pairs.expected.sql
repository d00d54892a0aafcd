WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    outer_.`car_id` AS `car_id`,
    outer_.`price` AS `price`
  FROM `bids` AS bids, (
    SELECT DISTINCT
      cars_2.`car_id` AS `car_id`,
      cars_2.`price` AS `price`
    FROM `cars` AS cars_2
  ) AS outer_
  WHERE
    (
      outer_.`car_id` = bids.`car_id`
      OR outer_.`car_id` IS NULL
      OR bids.`car_id` IS NULL
    )
    AND (
      outer_.`price` = bids.`amount` OR outer_.`price` IS NULL OR bids.`amount` IS NULL
    )
), `b1` AS (
  SELECT
    g.`car_id` AS `car_id`,
    g.`price` AS `price`
  FROM (
    SELECT
      m.`car_id` AS `car_id`,
      m.`price` AS `price`
    FROM `b1_members` AS m
    GROUP BY
      m.`car_id`,
      m.`price`
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
  NAMED_STRUCT('cars', m.`car_id`, 'b1_absent', NAMED_STRUCT('_1', m.`car_id`, '_2', m.`price`)) AS `_prov`
FROM `b0_members` AS m
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM `b1` AS k
    WHERE
      k.`car_id` IS NOT DISTINCT FROM m.`car_id`
      AND k.`price` IS NOT DISTINCT FROM m.`price`
  )
