WITH `b1_members` AS (
  SELECT
    union_.`cars_car_id` AS `cars_car_id`,
    union_.`dealers_dealer` AS `dealers_dealer`,
    union_.`model_3__5` AS `model_3`,
    union_.`side__6` AS `side__6`
  FROM (
    SELECT
      cars.`model` AS `model_3__5`,
      0 AS `side__6`,
      cars.`car_id` AS `cars_car_id`,
      NULL AS `dealers_dealer`
    FROM `cars` AS cars
    UNION ALL
    SELECT
      dealers.`city` AS `model_3__5`,
      1 AS `side__6`,
      NULL AS `cars_car_id`,
      dealers.`dealer` AS `dealers_dealer`
    FROM `dealers` AS dealers
  ) AS union_
), `b1` AS (
  SELECT
    g.`model_3` AS `model_3`,
    g.`left__7` - g.`right__8` AS `copies__9`
  FROM (
    SELECT
      m.`model_3` AS `model_3`,
      SUM(1 - m.`side__6`) AS `left__7`,
      SUM(m.`side__6`) AS `right__8`
    FROM `b1_members` AS m
    GROUP BY
      m.`model_3`
  ) AS g
  WHERE
    g.`left__7` - g.`right__8` > 0
), `b2` AS (
  SELECT
    b1.`model_3` AS `b1_model_3`,
    b1.`model_3` AS `model_3`,
    b1.`copies__9` AS `copies__10`
  FROM `b1` AS b1
), `b3_members` AS (
  SELECT
    dealers_2.`dealer` AS `dealer`,
    dealers_2.`city` AS `city_4`
  FROM `dealers` AS dealers_2
), `b3` AS (
  SELECT
    m.`dealer` AS `dealer`,
    m.`city_4` AS `city_4`,
    1 AS `copies__11`
  FROM `b3_members` AS m
), `b4` AS (
  SELECT
    u.`_branch` AS `_branch`,
    u.`_0_b1_model_3` AS `_0_b1_model_3`,
    u.`_1_dealer` AS `_1_dealer`,
    u.`model_3` AS `model_4`,
    u.`copies__10` AS `copies__12`
  FROM (
    SELECT
      0 AS `_branch`,
      t.`b1_model_3` AS `_0_b1_model_3`,
      NULL AS `_1_dealer`,
      t.`model_3` AS `model_3`,
      t.`copies__10` AS `copies__10`
    FROM `b2` AS t
    UNION ALL
    SELECT
      1 AS `_branch`,
      NULL AS `_0_b1_model_3`,
      t.`dealer` AS `_1_dealer`,
      t.`city_4` AS `model_3`,
      t.`copies__11` AS `copies__10`
    FROM `b3` AS t
  ) AS u
)
SELECT
  b4.`model_4` AS `model_4`,
  NAMED_STRUCT(
    'b4',
    NAMED_STRUCT('_1', b4.`_branch`, '_2', b4.`_0_b1_model_3`, '_3', b4.`_1_dealer`)
  ) AS `_prov`
FROM `b4` AS b4
LATERAL VIEW
EXPLODE(SEQUENCE(1, b4.`copies__12`)) copies AS `copy`
