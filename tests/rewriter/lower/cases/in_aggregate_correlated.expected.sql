WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`car_id_3` AS `car_id_3`,
    g.`max_price` AS `max_price`
  FROM (
    SELECT
      m.`car_id` AS `car_id_3`,
      MAX(m.`price`) AS `max_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`car_id`
  ) AS g
), `b2` AS (
  SELECT
    g.`k1` AS `k1`,
    g.`k2` AS `k2`
  FROM (
    SELECT
      b1.`max_price` AS `k1`,
      b1.`car_id_3` AS `k2`
    FROM `b1` AS b1
    GROUP BY
      b1.`max_price`,
      b1.`car_id_3`
  ) AS g
), `b0_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`amount` AS `amount`,
    bids.`car_id` AS `car_id`
  FROM `bids` AS bids
)
SELECT
  m.`bid` AS `bid_2`,
  NAMED_STRUCT(
    'bids',
    NAMED_STRUCT('_1', m.`bid`, '_2', m.`buyer`),
    'b2_exists',
    NAMED_STRUCT('_1', m.`amount`, '_2', m.`car_id`)
  ) AS `_prov`
FROM `b0_members` AS m
WHERE
  EXISTS(
    SELECT
      1
    FROM `b2` AS k
    WHERE
      k.`k1` = m.`amount` AND k.`k2` = m.`car_id`
  )
