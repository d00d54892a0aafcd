-- title: names of aliases
SELECT count(*) FROM cars a, cars b, cars_2 c WHERE a.car_id = b.car_id AND b.car_id = c.car_id
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars_2.`car_id` AS `car_id_2`,
    cars_2_2.`car_id` AS `car_id_3`
  FROM `cars` AS cars, `cars` AS cars_2, `cars_2` AS cars_2_2
  WHERE
    cars.`car_id` = cars_2.`car_id` AND cars_2.`car_id` = cars_2_2.`car_id`
)
SELECT
  g.`count_2` AS `count`,
  g.`_prov`
FROM (
  SELECT
    COUNT(*) AS `count_2`,
    COLLECT_LIST(
      NAMED_STRUCT('cars', m.`car_id`, 'cars_2', m.`car_id_2`, 'cars_2_2', m.`car_id_3`)
    ) AS `_prov`
  FROM `b0_members` AS m
) AS g

-- title: names of blocks
SELECT t.v, g.n FROM b1 t JOIN (SELECT k, count(*) AS n FROM b1 GROUP BY k) g ON t.k = g.k
-- expected
WITH `b_1_members` AS (
  SELECT
    b1_2.`k` AS `k`
  FROM `b1` AS b1_2
), `b_1` AS (
  SELECT
    g.`k_4` AS `k_4`,
    g.`k_4` AS `k_3`,
    g.`count` AS `n`
  FROM (
    SELECT
      m.`k` AS `k_4`,
      COUNT(*) AS `count`
    FROM `b_1_members` AS m
    GROUP BY
      m.`k`
  ) AS g
), `b_0_members` AS (
  SELECT
    b1.`k` AS `k`,
    b_1.`k_4` AS `b_1_k_4`,
    b1.`v` AS `v_3`
  FROM `b1` AS b1, `b_1` AS b_1
  WHERE
    b1.`k` = b_1.`k_3`
)
SELECT
  m.`v_3` AS `v_3`,
  b_1.`n` AS `n_2`,
  NAMED_STRUCT('b1', m.`k`, 'b_1', b_1.`k_4`) AS `_prov`
FROM `b_0_members` AS m, `b_1` AS b_1
WHERE
  m.`b_1_k_4` IS NOT DISTINCT FROM b_1.`k_4`

-- title: names of identity
SELECT u.`0_dealer` FROM (SELECT dealer AS `0_dealer` FROM cars GROUP BY dealer UNION ALL SELECT city FROM dealers GROUP BY city) u
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_2`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_2` AS `dealer_2`,
    g.`dealer_2` AS `n0_dealer`,
    g.`_prov`
  FROM (
    SELECT
      m.`dealer_2` AS `dealer_2`,
      COLLECT_LIST(NAMED_STRUCT('cars', m.`car_id`)) AS `_prov`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_2`
  ) AS g
), `b2_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city_3`
  FROM `dealers` AS dealers
), `b2` AS (
  SELECT
    g.`city_3` AS `city_3`,
    g.`city_3` AS `city_2`,
    g.`_prov`
  FROM (
    SELECT
      m.`city_3` AS `city_3`,
      COLLECT_LIST(NAMED_STRUCT('dealers', m.`dealer`)) AS `_prov`
    FROM `b2_members` AS m
    GROUP BY
      m.`city_3`
  ) AS g
)
SELECT
  u.`n0_dealer` AS `n0_dealer_3`,
  u.`_prov` AS `_prov`
FROM (
  SELECT
    0 AS `_branch`,
    t.`dealer_2` AS `_0_dealer_2`,
    NULL AS `_1_city_3`,
    t.`n0_dealer` AS `n0_dealer`,
    NAMED_STRUCT('branch', 0, 'p0', t.`_prov`, 'p1', NULL) AS `_prov`
  FROM `b1` AS t
  UNION ALL
  SELECT
    1 AS `_branch`,
    NULL AS `_0_dealer_2`,
    t.`city_3` AS `_1_city_3`,
    t.`city_2` AS `n0_dealer`,
    NAMED_STRUCT('branch', 1, 'p0', NULL, 'p1', t.`_prov`) AS `_prov`
  FROM `b2` AS t
) AS u

-- title: names of keys
SELECT y FROM k WHERE x IN (SELECT car_id FROM cars)
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`car_id` AS `k1`
    FROM `b1_members` AS m
    GROUP BY
      m.`car_id`
  ) AS g
), `b0_members` AS (
  SELECT
    k_.`x` AS `x`,
    k_.`y` AS `y_2`
  FROM `k` AS k_
)
SELECT
  m.`y_2` AS `y_2`,
  NAMED_STRUCT('k_', m.`x`, 'b1_exists', m.`x`) AS `_prov`
FROM `b0_members` AS m
WHERE
  EXISTS(
    SELECT
      1
    FROM `b1` AS k
    WHERE
      k.`k1` = m.`x`
  )

-- title: names reserved
SELECT `order`.`select`, `Case` AS `_prov`, `_prov` AS `_present` FROM `order` WHERE `select` > 1
-- expected
WITH `b0_members` AS (
  SELECT
    order_.`_prov` AS `prov`,
    order_.`select` AS `select_2`,
    order_.`Case` AS `prov_2`
  FROM `order` AS order_
  WHERE
    order_.`select` > 1
)
SELECT
  m.`select_2` AS `select_2`,
  m.`prov_2` AS `prov_2`,
  m.`prov` AS `present`,
  NAMED_STRUCT('order_', m.`prov`) AS `_prov`
FROM `b0_members` AS m

-- title: names reserved grouped
SELECT `Case` AS `_n`, count(*) AS `_members` FROM `order` GROUP BY `Case`
-- expected
WITH `b0_members` AS (
  SELECT
    order_.`_prov` AS `prov`,
    order_.`Case` AS `case_2`
  FROM `order` AS order_
)
SELECT
  g.`case_2` AS `n`,
  g.`count` AS `members`,
  g.`_prov`
FROM (
  SELECT
    m.`case_2` AS `case_2`,
    COUNT(*) AS `count`,
    COLLECT_LIST(NAMED_STRUCT('order_', m.`prov`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`case_2`
) AS g
