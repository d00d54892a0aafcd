WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`amount` AS `k1`
  FROM `bids` AS bids
), `b1` AS (
  SELECT
    g.`k1` AS `k1`,
    g.`k2` AS `k2`
  FROM (
    SELECT
      m.`k1` AS `k1`,
      TRUE AS `k2`
    FROM `b1_members` AS m
    GROUP BY
      m.`k1`,
      TRUE
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
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
LEFT JOIN `b1` AS b1_found
  ON b1_found.`k1` IS NOT DISTINCT FROM m.`price`
WHERE
  (
    NOT b1_found.`k2` IS NULL
  ) OR m.`price` < 10
