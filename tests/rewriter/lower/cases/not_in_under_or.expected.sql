WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`car_id` AS `value`
  FROM `bids` AS bids
), `b1` AS (
  SELECT
    g.`value` AS `value`
  FROM (
    SELECT
      m.`value` AS `value`
    FROM `b1_members` AS m
    GROUP BY
      m.`value`
  ) AS g
), `b2` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      TRUE AS `k1`
    FROM `b1` AS b1
    WHERE
      b1.`value` IS NULL
    GROUP BY
      TRUE
  ) AS g
), `b3` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      TRUE AS `k1`
    FROM `b1` AS b1_2
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
LEFT JOIN `b2` AS b2_found
  ON TRUE
LEFT JOIN `b1` AS b1_found
  ON b1_found.`value` = m.`car_id`
LEFT JOIN `b3` AS b3_found
  ON COALESCE((
    m.`car_id` IS NULL
  ), FALSE)
WHERE
  NOT (
    (
      NOT b1_found.`value` IS NULL
    )
    OR (
      NOT b3_found.`k1` IS NULL
    )
    OR (
      NOT b2_found.`k1` IS NULL
    )
  )
  OR m.`price` < 10
