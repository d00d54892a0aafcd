-- title: draw of aggregates
SELECT n, shuffle(array(n)) AS v FROM (SELECT count(*) AS n FROM cars GROUP BY model) AS g
-- error
UnsupportedError: a random function of aggregated values is not supported at 1:11
  SELECT n, shuffle(array(n)) AS v FROM (SELECT count(*) AS n 
            ^^^^^^^
Store the rows in a relation and track it.

-- title: draw of copies
SELECT d.model, rand() AS r FROM (SELECT model FROM cars EXCEPT ALL SELECT city FROM dealers) d
-- error
UnsupportedError: a random choice over EXCEPT ALL or INTERSECT ALL is not supported at 1:17
  SELECT d.model, rand() AS r FROM (SELECT model FROM cars EXC
                  ^^^^
Use EXCEPT or INTERSECT, or group the rows and count them.
-- advised
SELECT d.model, rand() AS r FROM (SELECT model FROM cars EXCEPT SELECT city FROM dealers) d

-- title: draw of one group
SELECT count(*) AS n, rand() AS r FROM cars
-- error
UnsupportedError: a random choice over an aggregate without GROUP BY, or over groups by aggregated values, is not supported at 1:23
  SELECT count(*) AS n, rand() AS r FROM cars
                        ^^^^
Store the rows in a relation and track it.

-- title: draw without from
SELECT rand() AS r
-- error
UnsupportedError: a random value without FROM is not supported at 1:8
  SELECT rand() AS r
         ^^^^
Store the rows in a relation and track it.

-- title: draw without provenance
SELECT city, rand() AS r FROM rates
-- error
UnsupportedError: a random choice over rows that cannot be distinguished is not supported at 1:14
  SELECT city, rand() AS r FROM rates
               ^^^^
Store the rows in a relation and track it.

-- title: drawn for groups
SELECT model, sum(price) AS s, rand() AS r FROM cars GROUP BY model
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`model_3` AS `model_3`,
    g.`sum_price` AS `sum_price`
  FROM (
    SELECT
      m.`model_3` AS `model_3`,
      SUM(m.`price`) AS `sum_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`model_3`
  ) AS g
), `b2_members` AS (
  SELECT
    b1.`model_3` AS `b1_model_3`,
    RAND() AS `drawn`
  FROM `b1` AS b1
), `b2` AS (
  SELECT
    m.`b1_model_3` AS `b1_model_3`,
    m.`b1_model_3` AS `model_3`,
    b1.`sum_price` AS `sum_price`,
    m.`drawn` AS `drawn`
  FROM `b2_members` AS m, `b1` AS b1
  WHERE
    m.`b1_model_3` IS NOT DISTINCT FROM b1.`model_3`
)
SELECT
  b2.`model_3` AS `model_2`,
  b2.`sum_price` AS `s`,
  b2.`drawn` AS `r`,
  NAMED_STRUCT('b2', b2.`b1_model_3`) AS `_prov`
FROM `b2` AS b2
-- blocks
b1: group, identity model_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_3 := cars.`model`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: model_3 := m.`model_3`
  aggregate: sum_price := SUM(m.`price`)
  output: model_3 := g.`model_3` (stable)
  output: sum_price := g.`sum_price`
b2: rows, identity b1_model_3 (stable)
  core:
    potential: b1 as b1
    store: b1_model_3 := b1.`model_3`
    store: drawn := RAND()
  lookup: b1 as b1, b1_model_3 <=> model_3
  key: b1_model_3 := m.`b1_model_3`
  output: model_3 := m.`b1_model_3` (stable)
  output: sum_price := b1.`sum_price`
  output: drawn := m.`drawn` (stable)
b0: rows, identity b2_b1_model_3 (stable)
  lookup: b2 as b2, free
  key: b2_b1_model_3 := b2.`b1_model_3`
  output: model_2 := b2.`model_3` (stable)
  output: s := b2.`sum_price`
  output: r := b2.`drawn` (stable)

-- title: drawn in outer join
SELECT c.car_id, d.city FROM (SELECT *, rand() AS r FROM cars) AS c LEFT JOIN dealers AS d ON c.dealer = d.dealer AND c.r < 0.5
-- blocks
b1: rows, identity car_id__id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model := cars.`model`
    store: price := cars.`price`
    store: dealer := cars.`dealer`
    store: drawn := RAND()
  token: cars as cars in car_id
  key: car_id__id := m.`car_id`
  output: car_id := m.`car_id` (stable)
  output: model := m.`model` (stable)
  output: price := m.`price` (stable)
  output: dealer := m.`dealer` (stable)
  output: drawn := m.`drawn` (stable)
b3: rows, identity dealer, b1_2_car_id__id (stable)
  core:
    potential: b1 as b1_2
    scan: dealers as dealers_2
    where: b1_2.`dealer` = dealers_2.`dealer`
    where: b1_2.`drawn` < 0.5
    store: dealer := dealers_2.`dealer`
    store: b1_2_car_id__id := b1_2.`car_id__id`
    store: car_id_2 := b1_2.`car_id`
    store: model_2 := b1_2.`model`
    store: price_2 := b1_2.`price`
    store: dealer_2 := b1_2.`dealer`
    store: r := b1_2.`drawn`
    store: city := dealers_2.`city`
    store: rating := dealers_2.`rating`
  token: dealers as dealers_2 in dealer
  lookup: b1 as b1_2, b1_2_car_id__id <=> car_id__id
  key: dealer := m.`dealer`
  key: b1_2_car_id__id := m.`b1_2_car_id__id`
  output: car_id_2 := m.`car_id_2` (stable)
  output: model_2 := m.`model_2` (stable)
  output: price_2 := m.`price_2` (stable)
  output: dealer_2 := m.`dealer_2` (stable)
  output: r := m.`r` (stable)
  output: dealer_3 := m.`dealer` (stable)
  output: city := m.`city` (stable)
  output: rating := m.`rating` (stable)
b2: group, identity k1 (stable)
  core:
    scan: dealers as dealers_3
    store: dealer := dealers_3.`dealer`
  token: dealers as dealers_3 in dealer
  key: k1 := m.`dealer`
  output: k1 := g.`k1` (stable)
b4: rows, identity b1_3_car_id__id (stable)
  lookup: b1 as b1_3, free
  semi: not b2 on b1_3.`dealer` = k1 if COALESCE((b1_3.`drawn` < 0.5), FALSE)
  key: b1_3_car_id__id := b1_3.`car_id__id`
  output: car_id_2 := b1_3.`car_id` (stable)
  output: model_2 := b1_3.`model` (stable)
  output: price_2 := b1_3.`price` (stable)
  output: dealer_2 := b1_3.`dealer` (stable)
  output: r := b1_3.`drawn` (stable)
  output: dealer_3 := NULL (stable)
  output: city := NULL (stable)
  output: rating := NULL (stable)
b0: union, identity _branch, _0_dealer, _0_b1_2_car_id__id, _1_b1_3_car_id__id (stable)
  branch: b3
  branch: b4
  output: car_id_3 := u.`car_id_2` (stable)
  output: city_2 := u.`city` (stable)

-- title: drawn values
SELECT model, r, uuid() AS u FROM (SELECT model, rand() AS r FROM cars) AS c WHERE r < 0.5 ORDER BY rand() LIMIT 3
-- blocks
b1: rows, identity car_id__id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model := cars.`model`
    store: price := cars.`price`
    store: dealer := cars.`dealer`
    store: drawn := RAND()
  token: cars as cars in car_id
  key: car_id__id := m.`car_id`
  output: car_id := m.`car_id` (stable)
  output: model := m.`model` (stable)
  output: price := m.`price` (stable)
  output: dealer := m.`dealer` (stable)
  output: drawn := m.`drawn` (stable)
b2: rows, identity b1_car_id__id (stable)
  core:
    potential: b1 as b1
    where: b1.`drawn` < 0.5
    store: b1_car_id__id := b1.`car_id__id`
    store: model_2 := b1.`model`
    store: r := b1.`drawn`
    store: drawn_2 := UUID()
    store: drawn_3 := RAND()
  lookup: b1 as b1, b1_car_id__id <=> car_id__id
  key: b1_car_id__id := m.`b1_car_id__id`
  output: model_2 := m.`model_2` (stable)
  output: r := m.`r` (stable)
  output: drawn_2 := m.`drawn_2` (stable)
  output: drawn_3 := m.`drawn_3` (stable)
b0: rows, identity b2_b1_car_id__id (stable)
  lookup: b2 as b2, free
  key: b2_b1_car_id__id := b2.`b1_car_id__id`
  output: model_4 := b2.`model_2` (stable)
  output: r_3 := b2.`r` (stable)
  output: u_2 := b2.`drawn_2` (stable)
  order: b2.`drawn_3` ASC NULLS FIRST
  limit: 3 offset 0

-- title: random part by aggregates
SELECT * FROM (SELECT model, sum(price) AS s FROM cars GROUP BY model SORT BY s, model) WHERE rand(3) < 0.5
-- error
UnsupportedError: a random choice in an order by aggregated values is not supported at 1:95
  model SORT BY s, model) WHERE rand(3) < 0.5
                                ^^^^
Store the rows in a relation and track it.

-- title: random part of sorted groups
SELECT * FROM (SELECT model, sum(price) AS s FROM cars GROUP BY model SORT BY model, s) WHERE rand(3) < 0.5
-- blocks
b1: group, identity model_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_3 := cars.`model`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: model_3 := m.`model_3`
  aggregate: sum_price := SUM(m.`price`)
  output: model_2 := g.`model_3` (stable)
  output: s := g.`sum_price`
b2: rows, identity b1_model_3 (stable)
  core:
    potential: b1 as b1
    store: b1_model_3 := b1.`model_3`
    store: model_2 := b1.`model_2`
    store: drawn := RAND(3)
  lookup: b1 as b1, b1_model_3 <=> model_3
  key: b1_model_3 := m.`b1_model_3`
  output: model_2 := m.`model_2` (stable)
  output: s := b1.`s`
  output: drawn := m.`drawn` (stable)
b0: rows, identity b2_b1_model_3 (stable)
  lookup: b2 as b2, free
  condition: b2.`drawn` < 0.5
  key: b2_b1_model_3 := b2.`b1_model_3`
  output: model_4 := b2.`model_2` (stable)
  output: s_2 := b2.`s`

-- title: random part of sorted rows
WITH q1 AS (SELECT car_id, price + 1 AS p FROM cars SORT BY price DESC, p, car_id), q2 AS (SELECT car_id AS c, p FROM q1 SORT BY c, p DESC)
SELECT c, shuffle(array(c, p, c)) AS s FROM q2
UNION ALL SELECT car_id, NULL FROM q1 WHERE rand(3) < 0.5
-- expected
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
-- blocks
b1: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: p_2 := cars.`price` + 1
    store: drawn := SHUFFLE(ARRAY(cars.`car_id`, cars.`price` + 1, cars.`car_id`))
  token: cars as cars in car_id
  key: car_id := m.`car_id`
  output: c := m.`car_id` (stable)
  output: p_2 := m.`p_2` (stable)
  output: drawn := m.`drawn` (stable)
b3: rows, identity b1_car_id (stable)
  lookup: b1 as b1, free
  key: b1_car_id := b1.`car_id`
  output: c_2 := b1.`c` (stable)
  output: s := b1.`drawn` (stable)
b2: rows, identity car_id (stable)
  core:
    scan: cars as cars_2
    store: car_id := cars_2.`car_id`
    store: p_3 := cars_2.`price` + 1
    store: drawn_2 := RAND(3)
  token: cars as cars_2 in car_id
  key: car_id := m.`car_id`
  output: car_id_4 := m.`car_id` (stable)
  output: p_3 := m.`p_3` (stable)
  output: drawn_2 := m.`drawn_2` (stable)
b4: rows, identity b2_car_id (stable)
  lookup: b2 as b2, free
  condition: b2.`drawn_2` < 0.5
  key: b2_car_id := b2.`car_id`
  output: car_id_5 := b2.`car_id_4` (stable)
  output: null := NULL (stable)
b0: union, identity _branch, _0_b1_car_id, _1_b2_car_id (stable)
  branch: b3
  branch: b4
  output: c_3 := u.`c_2` (stable)
  output: s_2 := u.`s` (stable)

-- title: sample of relation
SELECT model, count(*) AS n FROM cars TABLESAMPLE (10 PERCENT) REPEATABLE (7) WHERE price > 100 GROUP BY model
-- blocks
b1: rows, identity car_id__id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model := cars.`model`
    store: price := cars.`price`
    store: dealer := cars.`dealer`
  token: cars as cars in car_id
  key: car_id__id := m.`car_id`
  output: car_id := m.`car_id` (stable)
  output: model := m.`model` (stable)
  output: price := m.`price` (stable)
  output: dealer := m.`dealer` (stable)
b0: group, identity model_3 (stable)
  lookup: b1 as b1, free
  condition: b1.`price` > 100
  key: model_3 := b1.`model`
  aggregate: count := COUNT(*)
  output: model_2 := g.`model_3` (stable)
  output: n := g.`count`
