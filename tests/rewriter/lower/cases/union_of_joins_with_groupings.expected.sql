WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_5`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_5` AS `dealer_5`,
    g.`dealer_5` AS `dealer_4`
  FROM (
    SELECT
      m.`dealer_5` AS `dealer_5`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_5`
  ) AS g
), `b2_members` AS (
  SELECT
    dealers_2.`dealer` AS `dealer`,
    b1.`dealer_5` AS `b1_dealer_5`,
    dealers_2.`city` AS `c`
  FROM `dealers` AS dealers_2, `b1` AS b1
  WHERE
    dealers_2.`dealer` = b1.`dealer_4`
), `b2` AS (
  SELECT
    m.`dealer` AS `dealer`,
    m.`b1_dealer_5` AS `b1_dealer_5`,
    m.`c` AS `c`
  FROM `b2_members` AS m, `b1` AS b1
  WHERE
    m.`b1_dealer_5` IS NOT DISTINCT FROM b1.`dealer_5`
), `b3_members` AS (
  SELECT
    dealers_3.`dealer` AS `dealer`,
    dealers_3.`city` AS `city_5`
  FROM `dealers` AS dealers_3
), `b3` AS (
  SELECT
    g.`city_5` AS `city_5`,
    g.`city_5` AS `city_4`
  FROM (
    SELECT
      m.`city_5` AS `city_5`
    FROM `b3_members` AS m
    GROUP BY
      m.`city_5`
  ) AS g
), `b4` AS (
  SELECT
    u.`_branch` AS `_branch`,
    u.`_0_dealer` AS `_0_dealer`,
    u.`_0_b1_dealer_5` AS `_0_b1_dealer_5`,
    u.`_1_city_5` AS `_1_city_5`,
    u.`c` AS `c_2`
  FROM (
    SELECT
      0 AS `_branch`,
      t.`dealer` AS `_0_dealer`,
      t.`b1_dealer_5` AS `_0_b1_dealer_5`,
      NULL AS `_1_city_5`,
      t.`c` AS `c`
    FROM `b2` AS t
    UNION ALL
    SELECT
      1 AS `_branch`,
      NULL AS `_0_dealer`,
      NULL AS `_0_b1_dealer_5`,
      t.`city_5` AS `_1_city_5`,
      t.`city_4` AS `c`
    FROM `b3` AS t
  ) AS u
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    b4.`_branch` AS `b4__branch`,
    b4.`_0_dealer` AS `b4__0_dealer`,
    b4.`_0_b1_dealer_5` AS `b4__0_b1_dealer_5`,
    b4.`_1_city_5` AS `b4__1_city_5`,
    dealers.`city` AS `city_6`
  FROM `dealers` AS dealers, `b4` AS b4
  WHERE
    dealers.`city` = b4.`c_2`
)
SELECT
  m.`city_6` AS `city_6`,
  NAMED_STRUCT(
    'dealers',
    m.`dealer`,
    'b4',
    NAMED_STRUCT('_1', b4.`_branch`, '_2', b4.`_0_dealer`, '_3', b4.`_0_b1_dealer_5`, '_4', b4.`_1_city_5`)
  ) AS `_prov`
FROM `b0_members` AS m, `b4` AS b4
WHERE
  m.`b4__branch` IS NOT DISTINCT FROM b4.`_branch`
  AND m.`b4__0_dealer` IS NOT DISTINCT FROM b4.`_0_dealer`
  AND m.`b4__0_b1_dealer_5` IS NOT DISTINCT FROM b4.`_0_b1_dealer_5`
  AND m.`b4__1_city_5` IS NOT DISTINCT FROM b4.`_1_city_5`
