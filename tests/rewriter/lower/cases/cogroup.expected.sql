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
), `b3` AS (
  SELECT
    b1_3.`dealer_3` AS `b1_3_dealer_3`,
    b1_3.`dealer_3` AS `key0__1`,
    CASE WHEN b1_3.`dealer_3` IS NULL THEN 0 END AS `key1__2`
  FROM `b1` AS b1_3
), `b2_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city`
  FROM `dealers` AS dealers
), `b2` AS (
  SELECT
    g.`dealer_6` AS `dealer_6`,
    g.`collect_list_city` AS `collect_list_city`
  FROM (
    SELECT
      m.`dealer` AS `dealer_6`,
      COLLECT_LIST(m.`city`) AS `collect_list_city`
    FROM `b2_members` AS m
    GROUP BY
      m.`dealer`
  ) AS g
), `b4` AS (
  SELECT
    b2_3.`dealer_6` AS `b2_3_dealer_6`,
    b2_3.`dealer_6` AS `key0__3`,
    CASE WHEN b2_3.`dealer_6` IS NULL THEN 1 END AS `key1__4`
  FROM `b2` AS b2_3
), `b5` AS (
  SELECT
    u.`_branch` AS `_branch`,
    u.`_0_b1_3_dealer_3` AS `_0_b1_3_dealer_3`,
    u.`_1_b2_3_dealer_6` AS `_1_b2_3_dealer_6`,
    u.`key0__1` AS `key__5`,
    u.`key1__2` AS `key__6`
  FROM (
    SELECT
      0 AS `_branch`,
      t.`b1_3_dealer_3` AS `_0_b1_3_dealer_3`,
      NULL AS `_1_b2_3_dealer_6`,
      t.`key0__1` AS `key0__1`,
      t.`key1__2` AS `key1__2`
    FROM `b3` AS t
    UNION ALL
    SELECT
      1 AS `_branch`,
      NULL AS `_0_b1_3_dealer_3`,
      t.`b2_3_dealer_6` AS `_1_b2_3_dealer_6`,
      t.`key0__3` AS `key0__1`,
      t.`key1__4` AS `key1__2`
    FROM `b4` AS t
  ) AS u
), `b6` AS (
  SELECT
    g.`key__7` AS `key__7`,
    g.`key__8` AS `key__8`
  FROM (
    SELECT
      b5.`key__5` AS `key__7`,
      b5.`key__6` AS `key__8`
    FROM `b5` AS b5
    GROUP BY
      b5.`key__5`,
      b5.`key__6`
  ) AS g
)
SELECT
  b1_side.`dealer_3` AS `dealer_7`,
  b1_side.`count` AS `n_2`,
  b2_side.`dealer_6` AS `dealer_8`,
  b2_side.`collect_list_city` AS `cities_2`,
  NAMED_STRUCT('b6', NAMED_STRUCT('_1', b6.`key__7`, '_2', b6.`key__8`)) AS `_prov`
FROM `b6` AS b6
LEFT JOIN `b1` AS b1_side
  ON COALESCE(b6.`key__8`, 0) = 0
  AND b1_side.`dealer_3` IS NOT DISTINCT FROM b6.`key__7`
LEFT JOIN `b2` AS b2_side
  ON COALESCE(b6.`key__8`, 1) = 1
  AND b2_side.`dealer_6` IS NOT DISTINCT FROM b6.`key__7`
