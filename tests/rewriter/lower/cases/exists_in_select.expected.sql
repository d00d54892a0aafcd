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
      TRUE AS `k1`
    FROM `b1_members` AS m
    GROUP BY
      TRUE
  ) AS g
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_2`
  FROM `cars` AS cars
)
SELECT
  m.`model_2` AS `model_2`,
  NOT b1_found.`k1` IS NULL AS `sold`,
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
LEFT JOIN `b1` AS b1_found
  ON TRUE
