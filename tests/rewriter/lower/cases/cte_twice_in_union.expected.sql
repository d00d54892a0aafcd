WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`dealer_3` AS `dealer_2`,
    g.`sum_price` AS `p`
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
    b1.`dealer_3` AS `b1_dealer_3`,
    b1.`dealer_2` AS `dealer_5`,
    NAMED_STRUCT('b1', b1.`dealer_3`) AS `_prov`
  FROM `b1` AS b1
), `b3` AS (
  SELECT
    b1_2.`dealer_3` AS `b1_2_dealer_3`,
    b1_2.`dealer_2` AS `dealer_7`,
    NAMED_STRUCT('b1_2', b1_2.`dealer_3`) AS `_prov`
  FROM `b1` AS b1_2
  WHERE
    b1_2.`p` > 3
)
SELECT
  u.`dealer_5` AS `dealer_8`,
  u.`_prov` AS `_prov`
FROM (
  SELECT
    0 AS `_branch`,
    t.`b1_dealer_3` AS `_0_b1_dealer_3`,
    NULL AS `_1_b1_2_dealer_3`,
    t.`dealer_5` AS `dealer_5`,
    NAMED_STRUCT('branch', 0, 'p0', t.`_prov`, 'p1', NULL) AS `_prov`
  FROM `b2` AS t
  UNION ALL
  SELECT
    1 AS `_branch`,
    NULL AS `_0_b1_dealer_3`,
    t.`b1_2_dealer_3` AS `_1_b1_2_dealer_3`,
    t.`dealer_7` AS `dealer_5`,
    NAMED_STRUCT('branch', 1, 'p0', NULL, 'p1', t.`_prov`) AS `_prov`
  FROM `b3` AS t
) AS u
