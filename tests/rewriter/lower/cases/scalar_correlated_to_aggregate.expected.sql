WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`sum_price` AS `sum_price`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      SUM(m.`price`) AS `sum_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
), `b2` AS (
  SELECT
    g.`s_2` AS `s_2`
  FROM (
    SELECT
      b1_2.`sum_price` AS `s_2`
    FROM `b1` AS b1_2
    GROUP BY
      b1_2.`sum_price`
  ) AS g
), `b4_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`amount` AS `amount`
  FROM `bids` AS bids
), `b4` AS (
  SELECT
    m.`bid` AS `bid`,
    m.`buyer` AS `buyer`,
    b2.`s_2` AS `b2_s_2`,
    m.`amount` AS `amount_2`,
    b2.`s_2` AS `s_2`,
    TRUE AS `there`
  FROM `b4_members` AS m, `b2` AS b2
  WHERE
    m.`amount` > b2.`s_2`
), `b3` AS (
  SELECT
    g.`s_2` AS `s_2`
  FROM (
    SELECT
      b1_4.`sum_price` AS `s_2`
    FROM `b1` AS b1_4
    GROUP BY
      b1_4.`sum_price`
  ) AS g
), `b5` AS (
  SELECT
    b3.`s_2` AS `b3_s_2`,
    NULL AS `amount_2`,
    b3.`s_2` AS `s_2`,
    FALSE AS `there`
  FROM `b3` AS b3
), `b6` AS (
  SELECT
    u.`_branch` AS `_branch`,
    u.`_0_bid` AS `_0_bid`,
    u.`_0_buyer` AS `_0_buyer`,
    u.`_0_b2_s_2` AS `_0_b2_s_2`,
    u.`_1_b3_s_2` AS `_1_b3_s_2`,
    u.`amount_2` AS `amount_2`,
    u.`s_2` AS `s_2`,
    u.`there` AS `there`
  FROM (
    SELECT
      0 AS `_branch`,
      t.`bid` AS `_0_bid`,
      t.`buyer` AS `_0_buyer`,
      t.`b2_s_2` AS `_0_b2_s_2`,
      NULL AS `_1_b3_s_2`,
      t.`amount_2` AS `amount_2`,
      t.`s_2` AS `s_2`,
      t.`there` AS `there`
    FROM `b4` AS t
    UNION ALL
    SELECT
      1 AS `_branch`,
      NULL AS `_0_bid`,
      NULL AS `_0_buyer`,
      NULL AS `_0_b2_s_2`,
      t.`b3_s_2` AS `_1_b3_s_2`,
      NULL AS `amount_2`,
      t.`s_2` AS `s_2`,
      t.`there` AS `there`
    FROM `b5` AS t
  ) AS u
), `b7` AS (
  SELECT
    g.`s_2_3` AS `s_2_3`,
    g.`max_amount_2_2` AS `max_amount_2`,
    g.`s_2_3` AS `s_2_2`
  FROM (
    SELECT
      b6.`s_2` AS `s_2_3`,
      MAX(CASE WHEN b6.`there` THEN b6.`amount_2` END) AS `max_amount_2_2`
    FROM `b6` AS b6
    GROUP BY
      b6.`s_2`
  ) AS g
)
SELECT
  b1_5.`dealer_3` AS `dealer_5`,
  b7_value.`max_amount_2` AS `m`,
  NAMED_STRUCT('b1_5', b1_5.`dealer_3`) AS `_prov`
FROM `b1` AS b1_5
LEFT JOIN `b7` AS b7_value
  ON b7_value.`s_2_2` IS NOT DISTINCT FROM b1_5.`sum_price`
