WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`count` AS `count`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      COUNT(*) AS `count`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
  WHERE
    g.`count` > 1
), `b2_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`
  FROM `bids` AS bids
), `b2` AS (
  SELECT
    g.`buyer_3` AS `buyer_3`,
    g.`buyer_3` AS `buyer_2`
  FROM (
    SELECT
      m.`buyer` AS `buyer_3`
    FROM `b2_members` AS m
    GROUP BY
      m.`buyer`
  ) AS g
)
SELECT
  b1.`dealer_3` AS `dealer_2`,
  NAMED_STRUCT('b1', b1.`dealer_3`, 'b2_exists', b1.`dealer_3`) AS `_prov`
FROM `b1` AS b1
WHERE
  EXISTS(
    SELECT
      1
    FROM `b2` AS k
    WHERE
      k.`buyer_2` = b1.`dealer_3`
  )
