WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`car_id` AS `car_id_2`,
    COUNT(*) OVER (PARTITION BY m.`model`) AS `n`,
    NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
  FROM `b1_members` AS m
), `b2_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`amount` AS `amount_2`
  FROM `bids` AS bids
), `b2` AS (
  SELECT
    m.`bid` AS `bid`,
    m.`buyer` AS `buyer`,
    m.`bid` AS `bid_2`,
    m.`amount_2` AS `amount_2`,
    NAMED_STRUCT('bids', NAMED_STRUCT('_1', m.`bid`, '_2', m.`buyer`)) AS `_prov`
  FROM `b2_members` AS m
)
SELECT
  u.`car_id_2` AS `car_id_4`,
  u.`n` AS `n_2`,
  u.`_prov` AS `_prov`
FROM (
  SELECT
    0 AS `_branch`,
    t.`car_id` AS `_0_car_id`,
    NULL AS `_1_bid`,
    NULL AS `_1_buyer`,
    t.`car_id_2` AS `car_id_2`,
    t.`n` AS `n`,
    NAMED_STRUCT('branch', 0, 'p0', t.`_prov`, 'p1', NULL) AS `_prov`
  FROM `b1` AS t
  UNION ALL
  SELECT
    1 AS `_branch`,
    NULL AS `_0_car_id`,
    t.`bid` AS `_1_bid`,
    t.`buyer` AS `_1_buyer`,
    t.`bid_2` AS `car_id_2`,
    t.`amount_2` AS `n`,
    NAMED_STRUCT('branch', 1, 'p0', NULL, 'p1', t.`_prov`) AS `_prov`
  FROM `b2` AS t
) AS u
