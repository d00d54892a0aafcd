WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_4`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_4` AS `dealer_4`,
    g.`count` AS `count`
  FROM (
    SELECT
      m.`dealer_4` AS `dealer_4`,
      COUNT(*) AS `count`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_4`
  ) AS g
), `b2_members` AS (
  SELECT
    dealers_2.`dealer` AS `dealer`,
    b1_2.`dealer_4` AS `b1_2_dealer_4`,
    dealers_2.`city` AS `city`,
    dealers_2.`rating` AS `rating`
  FROM `dealers` AS dealers_2, `b1` AS b1_2
  WHERE
    b1_2.`dealer_4` = dealers_2.`dealer`
), `b2` AS (
  SELECT
    m.`dealer` AS `dealer__id`,
    m.`b1_2_dealer_4` AS `b1_2_dealer_4`,
    m.`dealer` AS `dealer`,
    m.`city` AS `city`,
    m.`rating` AS `rating`,
    m.`b1_2_dealer_4` AS `dealer_3`,
    b1_2.`count` AS `n`,
    NAMED_STRUCT('dealers_2', m.`dealer`, 'b1_2', b1_2.`dealer_4`) AS `_prov`
  FROM `b2_members` AS m, `b1` AS b1_2
  WHERE
    m.`b1_2_dealer_4` IS NOT DISTINCT FROM b1_2.`dealer_4`
), `b3_members` AS (
  SELECT
    dealers_3.`dealer` AS `dealer`,
    dealers_3.`city` AS `city`,
    dealers_3.`rating` AS `rating`
  FROM `dealers` AS dealers_3
), `b3` AS (
  SELECT
    m.`dealer` AS `dealer__id`,
    m.`dealer` AS `dealer`,
    m.`city` AS `city`,
    m.`rating` AS `rating`,
    NULL AS `dealer_3`,
    NULL AS `n`,
    NAMED_STRUCT('dealers_3', m.`dealer`, 'b1_absent', m.`dealer`) AS `_prov`
  FROM `b3_members` AS m
  WHERE
    NOT EXISTS(
      SELECT
        1
      FROM `b1` AS k
      WHERE
        k.`dealer_4` = m.`dealer`
    )
)
SELECT
  u.`city` AS `city_2`,
  u.`n` AS `n_2`,
  u.`_prov` AS `_prov`
FROM (
  SELECT
    0 AS `_branch`,
    t.`dealer__id` AS `_0_dealer__id`,
    t.`b1_2_dealer_4` AS `_0_b1_2_dealer_4`,
    NULL AS `_1_dealer__id`,
    t.`dealer` AS `dealer`,
    t.`city` AS `city`,
    t.`rating` AS `rating`,
    t.`dealer_3` AS `dealer_3`,
    t.`n` AS `n`,
    NAMED_STRUCT('branch', 0, 'p0', t.`_prov`, 'p1', NULL) AS `_prov`
  FROM `b2` AS t
  UNION ALL
  SELECT
    1 AS `_branch`,
    NULL AS `_0_dealer__id`,
    NULL AS `_0_b1_2_dealer_4`,
    t.`dealer__id` AS `_1_dealer__id`,
    t.`dealer` AS `dealer`,
    t.`city` AS `city`,
    t.`rating` AS `rating`,
    NULL AS `dealer_3`,
    NULL AS `n`,
    NAMED_STRUCT('branch', 1, 'p0', NULL, 'p1', t.`_prov`) AS `_prov`
  FROM `b3` AS t
) AS u
