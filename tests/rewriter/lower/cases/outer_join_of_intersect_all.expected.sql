WITH `b2_members` AS (
  SELECT
    union__2.`dealers_3_dealer` AS `dealers_3_dealer`,
    union__2.`dealers_4_dealer` AS `dealers_4_dealer`,
    union__2.`city_5__14` AS `city_5`,
    union__2.`side__15` AS `side__15`
  FROM (
    SELECT
      dealers_3.`city` AS `city_5__14`,
      0 AS `side__15`,
      dealers_3.`dealer` AS `dealers_3_dealer`,
      NULL AS `dealers_4_dealer`
    FROM `dealers` AS dealers_3
    UNION ALL
    SELECT
      dealers_4.`city` AS `city_5__14`,
      1 AS `side__15`,
      NULL AS `dealers_3_dealer`,
      dealers_4.`dealer` AS `dealers_4_dealer`
    FROM `dealers` AS dealers_4
  ) AS union__2
), `b2` AS (
  SELECT
    g.`city_5` AS `city_5`,
    CASE WHEN g.`left__16` < g.`right__17` THEN g.`left__16` ELSE g.`right__17` END AS `copies__18`
  FROM (
    SELECT
      m.`city_5` AS `city_5`,
      SUM(1 - m.`side__15`) AS `left__16`,
      SUM(m.`side__15`) AS `right__17`
    FROM `b2_members` AS m
    GROUP BY
      m.`city_5`
  ) AS g
  WHERE
    CASE WHEN g.`left__16` < g.`right__17` THEN g.`left__16` ELSE g.`right__17` END > 0
), `b5_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    b2.`city_5` AS `b2_city_5`,
    cars_2.`model` AS `model`,
    cars_2.`price` AS `price`,
    cars_2.`dealer` AS `dealer_3`
  FROM `b2` AS b2, `cars` AS cars_2
  WHERE
    cars_2.`dealer` = b2.`city_5`
), `b5` AS (
  SELECT
    m.`car_id` AS `car_id__id`,
    m.`b2_city_5` AS `b2_city_5`,
    m.`b2_city_5` AS `city_5`,
    m.`car_id` AS `car_id`,
    m.`model` AS `model`,
    m.`price` AS `price`,
    m.`dealer_3` AS `dealer_3`,
    b2.`copies__18` AS `copies__28`
  FROM `b5_members` AS m, `b2` AS b2
  WHERE
    m.`b2_city_5` IS NOT DISTINCT FROM b2.`city_5`
), `b3_members` AS (
  SELECT
    union__3.`dealers_5_dealer` AS `dealers_5_dealer`,
    union__3.`dealers_6_dealer` AS `dealers_6_dealer`,
    union__3.`city_5__23` AS `city_5`,
    union__3.`side__24` AS `side__24`
  FROM (
    SELECT
      dealers_5.`city` AS `city_5__23`,
      0 AS `side__24`,
      dealers_5.`dealer` AS `dealers_5_dealer`,
      NULL AS `dealers_6_dealer`
    FROM `dealers` AS dealers_5
    UNION ALL
    SELECT
      dealers_6.`city` AS `city_5__23`,
      1 AS `side__24`,
      NULL AS `dealers_5_dealer`,
      dealers_6.`dealer` AS `dealers_6_dealer`
    FROM `dealers` AS dealers_6
  ) AS union__3
), `b3` AS (
  SELECT
    g.`city_5` AS `city_5`,
    CASE WHEN g.`left__25` < g.`right__26` THEN g.`left__25` ELSE g.`right__26` END AS `copies__27`
  FROM (
    SELECT
      m.`city_5` AS `city_5`,
      SUM(1 - m.`side__24`) AS `left__25`,
      SUM(m.`side__24`) AS `right__26`
    FROM `b3_members` AS m
    GROUP BY
      m.`city_5`
  ) AS g
  WHERE
    CASE WHEN g.`left__25` < g.`right__26` THEN g.`left__25` ELSE g.`right__26` END > 0
), `b4_members` AS (
  SELECT
    cars_3.`car_id` AS `car_id`,
    cars_3.`dealer` AS `k1`
  FROM `cars` AS cars_3
), `b4` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`k1` AS `k1`
    FROM `b4_members` AS m
    GROUP BY
      m.`k1`
  ) AS g
), `b6` AS (
  SELECT
    b3.`city_5` AS `b3_city_5`,
    b3.`city_5` AS `city_5`,
    NULL AS `car_id`,
    NULL AS `model`,
    NULL AS `price`,
    NULL AS `dealer_3`,
    b3.`copies__27` AS `copies__29`
  FROM `b3` AS b3
  WHERE
    NOT EXISTS(
      SELECT
        1
      FROM `b4` AS k
      WHERE
        k.`k1` = b3.`city_5`
    )
), `b7` AS (
  SELECT
    u.`_branch` AS `_branch`,
    u.`_0_car_id__id` AS `_0_car_id__id`,
    u.`_0_b2_city_5` AS `_0_b2_city_5`,
    u.`_1_b3_city_5` AS `_1_b3_city_5`,
    u.`city_5` AS `city_5`,
    u.`car_id` AS `car_id`,
    u.`model` AS `model`,
    u.`price` AS `price`,
    u.`dealer_3` AS `dealer_3`,
    u.`copies__28` AS `copies__30`
  FROM (
    SELECT
      0 AS `_branch`,
      t.`car_id__id` AS `_0_car_id__id`,
      t.`b2_city_5` AS `_0_b2_city_5`,
      NULL AS `_1_b3_city_5`,
      t.`city_5` AS `city_5`,
      t.`car_id` AS `car_id`,
      t.`model` AS `model`,
      t.`price` AS `price`,
      t.`dealer_3` AS `dealer_3`,
      t.`copies__28` AS `copies__28`
    FROM `b5` AS t
    UNION ALL
    SELECT
      1 AS `_branch`,
      NULL AS `_0_car_id__id`,
      NULL AS `_0_b2_city_5`,
      t.`b3_city_5` AS `_1_b3_city_5`,
      t.`city_5` AS `city_5`,
      NULL AS `car_id`,
      NULL AS `model`,
      NULL AS `price`,
      NULL AS `dealer_3`,
      t.`copies__29` AS `copies__28`
    FROM `b6` AS t
  ) AS u
)
SELECT
  b7.`city_5` AS `city_6`,
  b7.`model` AS `model_2`,
  NAMED_STRUCT(
    'b7',
    NAMED_STRUCT('_1', b7.`_branch`, '_2', b7.`_0_car_id__id`, '_3', b7.`_0_b2_city_5`, '_4', b7.`_1_b3_city_5`)
  ) AS `_prov`
FROM `b7` AS b7
LATERAL VIEW
EXPLODE(SEQUENCE(1, b7.`copies__30`)) copies AS `copy`
