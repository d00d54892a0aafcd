WITH `b1_members` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`p_2` AS `p_2`,
    SHUFFLE(ARRAY(m.`drawn 0`, m.`drawn 1` + 1, m.`drawn 0`)) AS `drawn`
  FROM (
    SELECT
      cars.`car_id` AS `car_id`,
      cars.`price` + 1 AS `p_2`,
      cars.`car_id` AS `drawn 0`,
      cars.`price` AS `drawn 1`,
      cars.`car_id` AS `_order 0`,
      cars.`price` + 1 AS `_order 1`
    FROM `cars` AS cars
    SORT BY
      `_order 0` ASC,
      `_order 1` DESC
  ) AS m
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`car_id` AS `c`,
    m.`p_2` AS `p_2`,
    m.`drawn` AS `drawn`
  FROM `b1_members` AS m
), `b3` AS (
  SELECT
    b1.`car_id` AS `b1_car_id`,
    b1.`c` AS `c_2`,
    b1.`drawn` AS `s`,
    NAMED_STRUCT('b1', b1.`car_id`) AS `_prov`
  FROM `b1` AS b1
), `b2_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`price` + 1 AS `p_3`,
    RAND(3) AS `drawn_2`
  FROM `cars` AS cars_2
), `b2` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`car_id` AS `car_id_4`,
    m.`p_3` AS `p_3`,
    m.`drawn_2` AS `drawn_2`
  FROM `b2_members` AS m
), `b4` AS (
  SELECT
    b2.`car_id` AS `b2_car_id`,
    b2.`car_id_4` AS `car_id_5`,
    NULL AS `null`,
    NAMED_STRUCT('b2', b2.`car_id`) AS `_prov`
  FROM `b2` AS b2
  WHERE
    b2.`drawn_2` < 0.5
)
SELECT
  u.`c_2` AS `c_3`,
  u.`s` AS `s_2`,
  u.`_prov` AS `_prov`
FROM (
  SELECT
    0 AS `_branch`,
    t.`b1_car_id` AS `_0_b1_car_id`,
    NULL AS `_1_b2_car_id`,
    t.`c_2` AS `c_2`,
    t.`s` AS `s`,
    NAMED_STRUCT('branch', 0, 'p0', t.`_prov`, 'p1', NULL) AS `_prov`
  FROM `b3` AS t
  UNION ALL
  SELECT
    1 AS `_branch`,
    NULL AS `_0_b1_car_id`,
    t.`b2_car_id` AS `_1_b2_car_id`,
    t.`car_id_5` AS `c_2`,
    NULL AS `s`,
    NAMED_STRUCT('branch', 1, 'p0', NULL, 'p1', t.`_prov`) AS `_prov`
  FROM `b4` AS t
) AS u
