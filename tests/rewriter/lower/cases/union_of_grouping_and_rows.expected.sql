WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`dealer_3` AS `dealer_2`,
    g.`_prov`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      COLLECT_LIST(NAMED_STRUCT('cars', m.`car_id`)) AS `_prov`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
), `b2_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city_2`
  FROM `dealers` AS dealers
), `b2` AS (
  SELECT
    m.`dealer` AS `dealer`,
    m.`city_2` AS `city_2`,
    NAMED_STRUCT('dealers', m.`dealer`) AS `_prov`
  FROM `b2_members` AS m
)
SELECT
  u.`dealer_2` AS `dealer_5`,
  u.`_prov` AS `_prov`
FROM (
  SELECT
    0 AS `_branch`,
    t.`dealer_3` AS `_0_dealer_3`,
    NULL AS `_1_dealer`,
    t.`dealer_2` AS `dealer_2`,
    NAMED_STRUCT('branch', 0, 'p0', t.`_prov`, 'p1', NULL) AS `_prov`
  FROM `b1` AS t
  UNION ALL
  SELECT
    1 AS `_branch`,
    NULL AS `_0_dealer_3`,
    t.`dealer` AS `_1_dealer`,
    t.`city_2` AS `dealer_2`,
    NAMED_STRUCT('branch', 1, 'p0', NULL, 'p1', t.`_prov`) AS `_prov`
  FROM `b2` AS t
) AS u
