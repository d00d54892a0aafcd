WITH `b1_members` AS (
  SELECT
    dealers_2.`dealer` AS `dealer`,
    dealers_2.`city` AS `city_2`
  FROM `dealers` AS dealers_2
  WHERE
    dealers_2.`rating` > 3
), `b1` AS (
  SELECT
    m.`dealer` AS `dealer`,
    m.`dealer` AS `dealer_2`,
    m.`city_2` AS `city_2`
  FROM `b1_members` AS m
), `b2_members` AS (
  SELECT
    dealers_4.`dealer` AS `dealer`,
    b1_2.`dealer` AS `b1_2_dealer`,
    dealers_4.`city` AS `city_5`
  FROM `b1` AS b1_2, `dealers` AS dealers_4
  WHERE
    b1_2.`city_2` = dealers_4.`dealer`
), `b2` AS (
  SELECT
    m.`dealer` AS `dealer`,
    m.`b1_2_dealer` AS `b1_2_dealer`,
    m.`dealer` AS `dealer_5`,
    m.`city_5` AS `city_5`
  FROM `b2_members` AS m, `b1` AS b1_2
  WHERE
    m.`b1_2_dealer` IS NOT DISTINCT FROM b1_2.`dealer`
), `b3_members` AS (
  SELECT
    dealers_5.`dealer` AS `dealer`,
    b2.`dealer` AS `b2_dealer`,
    b2.`b1_2_dealer` AS `b2_b1_2_dealer`,
    dealers_5.`city` AS `city_8`
  FROM `b2` AS b2, `dealers` AS dealers_5
  WHERE
    b2.`city_5` = dealers_5.`dealer`
), `b3` AS (
  SELECT
    m.`dealer` AS `dealer`,
    m.`b2_dealer` AS `b2_dealer`,
    m.`b2_b1_2_dealer` AS `b2_b1_2_dealer`,
    m.`dealer` AS `dealer_8`,
    m.`city_8` AS `city_8`
  FROM `b3_members` AS m, `b2` AS b2
  WHERE
    m.`b2_dealer` IS NOT DISTINCT FROM b2.`dealer`
    AND m.`b2_b1_2_dealer` IS NOT DISTINCT FROM b2.`b1_2_dealer`
), `b4` AS (
  SELECT
    u.`_branch` AS `_branch`,
    u.`_0_dealer` AS `_0_dealer`,
    u.`_1_dealer` AS `_1_dealer`,
    u.`_1_b1_2_dealer` AS `_1_b1_2_dealer`,
    u.`_2_dealer` AS `_2_dealer`,
    u.`_2_b2_dealer` AS `_2_b2_dealer`,
    u.`_2_b2_b1_2_dealer` AS `_2_b2_b1_2_dealer`,
    u.`dealer_2` AS `dealer_10`,
    u.`city_2` AS `city_10`
  FROM (
    SELECT
      0 AS `_branch`,
      t.`dealer` AS `_0_dealer`,
      NULL AS `_1_dealer`,
      NULL AS `_1_b1_2_dealer`,
      NULL AS `_2_dealer`,
      NULL AS `_2_b2_dealer`,
      NULL AS `_2_b2_b1_2_dealer`,
      t.`dealer_2` AS `dealer_2`,
      t.`city_2` AS `city_2`
    FROM `b1` AS t
    UNION ALL
    SELECT
      1 AS `_branch`,
      NULL AS `_0_dealer`,
      t.`dealer` AS `_1_dealer`,
      t.`b1_2_dealer` AS `_1_b1_2_dealer`,
      NULL AS `_2_dealer`,
      NULL AS `_2_b2_dealer`,
      NULL AS `_2_b2_b1_2_dealer`,
      t.`dealer_5` AS `dealer_2`,
      t.`city_5` AS `city_2`
    FROM `b2` AS t
    UNION ALL
    SELECT
      2 AS `_branch`,
      NULL AS `_0_dealer`,
      NULL AS `_1_dealer`,
      NULL AS `_1_b1_2_dealer`,
      t.`dealer` AS `_2_dealer`,
      t.`b2_dealer` AS `_2_b2_dealer`,
      t.`b2_b1_2_dealer` AS `_2_b2_b1_2_dealer`,
      t.`dealer_8` AS `dealer_2`,
      t.`city_8` AS `city_2`
    FROM `b3` AS t
  ) AS u
)
SELECT
  g.`city_12` AS `city_11`,
  g.`count` AS `n`,
  g.`_prov`
FROM (
  SELECT
    b4.`city_10` AS `city_12`,
    COUNT(*) AS `count`,
    COLLECT_LIST(
      NAMED_STRUCT(
        'b4',
        NAMED_STRUCT(
          '_1',
          b4.`_branch`,
          '_2',
          b4.`_0_dealer`,
          '_3',
          b4.`_1_dealer`,
          '_4',
          b4.`_1_b1_2_dealer`,
          '_5',
          b4.`_2_dealer`,
          '_6',
          b4.`_2_b2_dealer`,
          '_7',
          b4.`_2_b2_b1_2_dealer`
        )
      )
    ) AS `_prov`
  FROM `b4` AS b4
  GROUP BY
    b4.`city_10`
) AS g
