WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`
  FROM `bids` AS bids
), `b1` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      NULL AS `k1`
    FROM `b1_members` AS m
    GROUP BY
      NULL
  ) AS g
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`,
    cars.`model` AS `model_2`
  FROM `cars` AS cars
  WHERE
    CAST(NULL AS BOOLEAN)
)
SELECT
  m.`model_2` AS `model_2`,
  NAMED_STRUCT('cars', m.`car_id`, 'b1_exists', m.`price`) AS `_prov`
FROM `b0_members` AS m
WHERE
  EXISTS(
    SELECT
      1
    FROM `b1` AS k
    WHERE
      k.`k1` = m.`price`
  )
