WITH `b1_members` AS (
  SELECT
    cars_3.`car_id` AS `car_id`,
    cars_3.`model` AS `model`,
    cars_3.`price` AS `price`,
    cars_3.`dealer` AS `dealer`
  FROM `cars` AS cars_3
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id__id`,
    m.`car_id` AS `car_id`,
    m.`model` AS `model`,
    m.`price` AS `price`,
    m.`dealer` AS `dealer`
  FROM `b1_members` AS m
), `b3` AS (
  SELECT
    b1.`car_id__id` AS `b1_car_id__id`,
    b1.`car_id` AS `key0__1`,
    CASE WHEN b1.`car_id` IS NULL THEN 0 END AS `key1__2`
  FROM `b1` AS b1
), `b2_members` AS (
  SELECT
    cars_2_2.`car_id` AS `car_id`,
    cars_2_2.`price` AS `price_2`
  FROM `cars_2` AS cars_2_2
), `b2` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`car_id` AS `car_id_2`,
    m.`price_2` AS `price_2`
  FROM `b2_members` AS m
), `b4` AS (
  SELECT
    b2.`car_id` AS `b2_car_id`,
    b2.`car_id_2` AS `key0__3`,
    CASE WHEN b2.`car_id_2` IS NULL THEN 1 END AS `key1__4`
  FROM `b2` AS b2
), `b5` AS (
  SELECT
    u.`_branch` AS `_branch`,
    u.`_0_b1_car_id__id` AS `_0_b1_car_id__id`,
    u.`_1_b2_car_id` AS `_1_b2_car_id`,
    u.`key0__1` AS `key__5`,
    u.`key1__2` AS `key__6`
  FROM (
    SELECT
      0 AS `_branch`,
      t.`b1_car_id__id` AS `_0_b1_car_id__id`,
      NULL AS `_1_b2_car_id`,
      t.`key0__1` AS `key0__1`,
      t.`key1__2` AS `key1__2`
    FROM `b3` AS t
    UNION ALL
    SELECT
      1 AS `_branch`,
      NULL AS `_0_b1_car_id__id`,
      t.`b2_car_id` AS `_1_b2_car_id`,
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
  COALESCE(b1_side.`car_id`, b2_side.`car_id_2`) AS `car_id_4`,
  b1_side.`price` AS `price_3`,
  b2_side.`price_2` AS `other`,
  NAMED_STRUCT('b6', NAMED_STRUCT('_1', b6.`key__7`, '_2', b6.`key__8`)) AS `_prov`
FROM `b6` AS b6
LEFT JOIN `b1` AS b1_side
  ON COALESCE(b6.`key__8`, 0) = 0
  AND b1_side.`car_id` IS NOT DISTINCT FROM b6.`key__7`
LEFT JOIN `b2` AS b2_side
  ON COALESCE(b6.`key__8`, 1) = 1
  AND b2_side.`car_id_2` IS NOT DISTINCT FROM b6.`key__7`
WHERE
  COALESCE(b1_side.`price`, 9) > 3
