WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`max_price` AS `max_price`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      MAX(m.`price`) AS `max_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
), `b2_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`amount` AS `k1`
  FROM `bids` AS bids
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
)
SELECT
  b1.`dealer_3` AS `dealer_2`,
  NAMED_STRUCT('b1', b1.`dealer_3`, 'b2_exists', b1.`max_price`) AS `_prov`
FROM `b1` AS b1
WHERE
  EXISTS(
    SELECT
      1
    FROM `b2` AS k
    WHERE
      k.`k1` = b1.`max_price`
  )
