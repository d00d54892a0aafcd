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
-- blocks
b0: group, identity nothing (not stable)
  core:
    scan: cars as cars
    scan: cars as cars_2
    scan: cars_2 as cars_2_2
    where: cars.`car_id` = cars_2.`car_id`
    where: cars_2.`car_id` = cars_2_2.`car_id`
    store: car_id := cars.`car_id`
    store: car_id_2 := cars_2.`car_id`
    store: car_id_3 := cars_2_2.`car_id`
  token: cars as cars in car_id
  token: cars as cars_2 in car_id_2
  token: cars_2 as cars_2_2 in car_id_3
  aggregate: count_2 := COUNT(*)
  output: count := g.`count_2`

-- title: names of blocks
SELECT t.v, g.n FROM b1 t JOIN (SELECT k, count(*) AS n FROM b1 GROUP BY k) g ON t.k = g.k
-- blocks
b_1: group, identity k_4 (stable)
  core:
    scan: b1 as b1_2
    store: k := b1_2.`k`
  token: b1 as b1_2 in k
  key: k_4 := m.`k`
  aggregate: count := COUNT(*)
  output: k_3 := g.`k_4` (stable)
  output: n := g.`count`
b_0: rows, identity k, b_1_k_4 (stable)
  core:
    scan: b1 as b1
    potential: b_1 as b_1
    where: b1.`k` = b_1.`k_3`
    store: k := b1.`k`
    store: b_1_k_4 := b_1.`k_4`
    store: v_3 := b1.`v`
  token: b1 as b1 in k
  lookup: b_1 as b_1, b_1_k_4 <=> k_4
  key: k := m.`k`
  key: b_1_k_4 := m.`b_1_k_4`
  output: v_3 := m.`v_3` (stable)
  output: n_2 := b_1.`n`

-- title: names of identity
SELECT u.`0_dealer` FROM (SELECT dealer AS `0_dealer` FROM cars GROUP BY dealer UNION ALL SELECT city FROM dealers GROUP BY city) u
-- blocks
b1: group, identity dealer_2 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_2 := cars.`dealer`
  token: cars as cars in car_id
  key: dealer_2 := m.`dealer_2`
  output: n0_dealer := g.`dealer_2` (stable)
b2: group, identity city_3 (stable)
  core:
    scan: dealers as dealers
    store: dealer := dealers.`dealer`
    store: city_3 := dealers.`city`
  token: dealers as dealers in dealer
  key: city_3 := m.`city_3`
  output: city_2 := g.`city_3` (stable)
b0: union, identity _branch, _0_dealer_2, _1_city_3 (stable)
  branch: b1
  branch: b2
  output: n0_dealer_3 := u.`n0_dealer` (stable)

-- title: names of keys
SELECT y FROM k WHERE x IN (SELECT car_id FROM cars)
-- blocks
b1: group, identity k1 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
  token: cars as cars in car_id
  key: k1 := m.`car_id`
  output: k1 := g.`k1` (stable)
b0: rows, identity x (stable)
  core:
    scan: k as k_
    semi: b1 on k_.`x` = k1
    store: x := k_.`x`
    store: y_2 := k_.`y`
  token: k as k_ in x
  semi: b1 on m.`x` = k1
  key: x := m.`x`
  output: y_2 := m.`y_2` (stable)

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
-- blocks
b0: rows, identity prov (stable)
  core:
    scan: order as order_
    where: order_.`select` > 1
    store: prov := order_.`_prov`
    store: select_2 := order_.`select`
    store: prov_2 := order_.`Case`
  token: order as order_ in prov
  key: prov := m.`prov`
  output: select_2 := m.`select_2` (stable)
  output: prov_2 := m.`prov_2` (stable)
  output: present := m.`prov` (stable)

-- title: names reserved grouped
SELECT `Case` AS `_n`, count(*) AS `_members` FROM `order` GROUP BY `Case`
-- blocks
b0: group, identity case_2 (stable)
  core:
    scan: order as order_
    store: prov := order_.`_prov`
    store: case_2 := order_.`Case`
  token: order as order_ in prov
  key: case_2 := m.`case_2`
  aggregate: count := COUNT(*)
  output: n := g.`case_2` (stable)
  output: members := g.`count`
