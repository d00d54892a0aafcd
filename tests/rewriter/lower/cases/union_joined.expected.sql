WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_4`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_4` AS `dealer_4`,
    g.`dealer_4` AS `dealer_3`,
    g.`max_price` AS `p`
  FROM (
    SELECT
      m.`dealer_4` AS `dealer_4`,
      MAX(m.`price`) AS `max_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_4`
  ) AS g
), `b2_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`
  FROM `bids` AS bids
), `b2` AS (
  SELECT
    g.`buyer_3` AS `buyer_3`,
    g.`buyer_3` AS `buyer_2`,
    0 AS `_0`
  FROM (
    SELECT
      m.`buyer` AS `buyer_3`
    FROM `b2_members` AS m
    GROUP BY
      m.`buyer`
  ) AS g
), `b3` AS (
  SELECT
    u.`_branch` AS `_branch`,
    u.`_0_dealer_4` AS `_0_dealer_4`,
    u.`_1_buyer_3` AS `_1_buyer_3`,
    u.`dealer_3` AS `dealer_5`,
    u.`p` AS `p_2`
  FROM (
    SELECT
      0 AS `_branch`,
      t.`dealer_4` AS `_0_dealer_4`,
      NULL AS `_1_buyer_3`,
      t.`dealer_3` AS `dealer_3`,
      t.`p` AS `p`
    FROM `b1` AS t
    UNION ALL
    SELECT
      1 AS `_branch`,
      NULL AS `_0_dealer_4`,
      t.`buyer_3` AS `_1_buyer_3`,
      t.`buyer_2` AS `dealer_3`,
      t.`_0` AS `p`
    FROM `b2` AS t
  ) AS u
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    b3.`_branch` AS `b3__branch`,
    b3.`_0_dealer_4` AS `b3__0_dealer_4`,
    b3.`_1_buyer_3` AS `b3__1_buyer_3`,
    dealers.`city` AS `city_2`,
    b3.`dealer_5` AS `dealer_6`
  FROM `dealers` AS dealers, `b3` AS b3
  WHERE
    dealers.`dealer` = b3.`dealer_5`
)
SELECT
  m.`city_2` AS `city_2`,
  m.`dealer_6` AS `dealer_6`,
  NAMED_STRUCT(
    'dealers',
    m.`dealer`,
    'b3',
    NAMED_STRUCT('_1', b3.`_branch`, '_2', b3.`_0_dealer_4`, '_3', b3.`_1_buyer_3`)
  ) AS `_prov`
FROM `b0_members` AS m, `b3` AS b3
WHERE
  m.`b3__branch` IS NOT DISTINCT FROM b3.`_branch`
  AND m.`b3__0_dealer_4` IS NOT DISTINCT FROM b3.`_0_dealer_4`
  AND m.`b3__1_buyer_3` IS NOT DISTINCT FROM b3.`_1_buyer_3`
