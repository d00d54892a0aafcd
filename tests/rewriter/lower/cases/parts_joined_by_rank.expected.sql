WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`avg_price` AS `avg_price`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      AVG(m.`price`) AS `avg_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
), `b2` AS (
  SELECT
    b1.`dealer_3` AS `b1_dealer_3`,
    b1.`dealer_3` AS `dealer_4`,
    RANK() OVER (ORDER BY b1.`avg_price`) AS `place_2`
  FROM `b1` AS b1
), `b5_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    b2.`b1_dealer_3` AS `b2_b1_dealer_3`,
    dealers.`city` AS `city`
  FROM `b2` AS b2, `dealers` AS dealers
  WHERE
    dealers.`dealer` = b2.`dealer_4`
), `b5` AS (
  SELECT
    m.`dealer` AS `dealer`,
    m.`b2_b1_dealer_3` AS `b2_b1_dealer_3`,
    b2.`place_2` AS `place_2`,
    m.`city` AS `city`
  FROM `b5_members` AS m, `b2` AS b2
  WHERE
    m.`b2_b1_dealer_3` IS NOT DISTINCT FROM b2.`b1_dealer_3` AND b2.`place_2` < 3
), `b3_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`amount` AS `amount`
  FROM `bids` AS bids
), `b3` AS (
  SELECT
    g.`buyer_3` AS `buyer_3`,
    g.`sum_amount` AS `sum_amount`
  FROM (
    SELECT
      m.`buyer` AS `buyer_3`,
      SUM(m.`amount`) AS `sum_amount`
    FROM `b3_members` AS m
    GROUP BY
      m.`buyer`
  ) AS g
), `b4` AS (
  SELECT
    b3.`buyer_3` AS `b3_buyer_3`,
    b3.`buyer_3` AS `buyer_4`,
    RANK() OVER (ORDER BY b3.`sum_amount`) AS `place_4`
  FROM `b3` AS b3
), `b6_members` AS (
  SELECT
    bids_2.`bid` AS `bid`,
    bids_2.`buyer` AS `buyer`,
    b4.`b3_buyer_3` AS `b4_b3_buyer_3`
  FROM `b4` AS b4, `bids` AS bids_2
  WHERE
    bids_2.`buyer` = b4.`buyer_4`
), `b6` AS (
  SELECT
    m.`bid` AS `bid__id`,
    m.`buyer` AS `buyer`,
    m.`b4_b3_buyer_3` AS `b4_b3_buyer_3`,
    m.`bid` AS `bid`,
    b4.`place_4` AS `place_4`
  FROM `b6_members` AS m, `b4` AS b4
  WHERE
    m.`b4_b3_buyer_3` IS NOT DISTINCT FROM b4.`b3_buyer_3`
)
SELECT
  b5.`place_2` AS `place_5`,
  b5.`city` AS `city_2`,
  b6.`bid` AS `bid_3`,
  NAMED_STRUCT(
    'b5',
    NAMED_STRUCT('_1', b5.`dealer`, '_2', b5.`b2_b1_dealer_3`),
    'b6',
    NAMED_STRUCT('_1', b6.`bid__id`, '_2', b6.`buyer`, '_3', b6.`b4_b3_buyer_3`)
  ) AS `_prov`
FROM `b5` AS b5, `b6` AS b6
WHERE
  b5.`place_2` = b6.`place_4`
ORDER BY
  b5.`place_2` ASC,
  b6.`bid` ASC
