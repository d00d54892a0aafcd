WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`count` AS `n`
  FROM (
    SELECT
      COUNT(*) AS `count`
    FROM `b1_members` AS m
  ) AS g
), `b2_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`
  FROM `bids` AS bids
), `b2` AS (
  SELECT
    g.`count_2` AS `m`
  FROM (
    SELECT
      COUNT(*) AS `count_2`
    FROM `b2_members` AS m
  ) AS g
)
SELECT
  b1.`n` AS `n_2`,
  b2.`m` AS `m_2`,
  NAMED_STRUCT('b1', TRUE, 'b2', TRUE) AS `_prov`
FROM `b1` AS b1, `b2` AS b2
