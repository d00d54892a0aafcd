WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`
  FROM `bids` AS bids
  WHERE
    bids.`car_id` IS NULL
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
), `b2_members` AS (
  SELECT
    bids_2.`bid` AS `bid`,
    bids_2.`buyer` AS `buyer`,
    bids_2.`car_id` AS `k1`
  FROM `bids` AS bids_2
), `b2` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`k1` AS `k1`
    FROM `b2_members` AS m
    GROUP BY
      m.`k1`
  ) AS g
), `b3_members` AS (
  SELECT
    bids_3.`bid` AS `bid`,
    bids_3.`buyer` AS `buyer`
  FROM `bids` AS bids_3
), `b3` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      TRUE AS `k1`
    FROM `b3_members` AS m
    GROUP BY
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
  ON TRUE
LEFT JOIN `b2` AS b2_found
  ON b2_found.`k1` = m.`car_id`
LEFT JOIN `b3` AS b3_found
  ON COALESCE((
    m.`car_id` IS NULL
  ), FALSE)
WHERE
  NOT (
    (
      NOT b2_found.`k1` IS NULL
    )
    OR (
      NOT b3_found.`k1` IS NULL
    )
    OR (
      NOT b1_found.`k1` IS NULL
    )
  )
  OR m.`price` < 10
