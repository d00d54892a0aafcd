-- title: limit
SELECT model FROM cars ORDER BY price DESC LIMIT 3 OFFSET 1
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  m.`model_3` AS `model_3`,
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
ORDER BY
  m.`price` DESC,
  m.`car_id` ASC
LIMIT 3
OFFSET 1
-- blocks
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_3 := cars.`model`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: car_id := m.`car_id`
  output: model_3 := m.`model_3` (stable)
  order: m.`price` DESC NULLS LAST
  limit: 3 offset 1

-- title: limit in derived
SELECT t.model, d.city FROM (SELECT model, dealer FROM cars ORDER BY price LIMIT 3) t JOIN dealers d ON t.dealer = d.dealer
-- blocks
b1: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_3 := cars.`model`
    store: dealer_3 := cars.`dealer`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: car_id := m.`car_id`
  output: model_3 := m.`model_3` (stable)
  output: dealer_3 := m.`dealer_3` (stable)
  order: m.`price` ASC NULLS FIRST
  limit: 3 offset 0
b0: rows, identity dealer, b1_car_id (stable)
  core:
    potential: b1 as b1
    scan: dealers as dealers
    where: b1.`dealer_3` = dealers.`dealer`
    store: dealer := dealers.`dealer`
    store: b1_car_id := b1.`car_id`
    store: model_4 := b1.`model_3`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  lookup: b1 as b1, b1_car_id <=> car_id
  key: dealer := m.`dealer`
  key: b1_car_id := m.`b1_car_id`
  output: model_4 := m.`model_4` (stable)
  output: city_2 := m.`city_2` (stable)

-- title: limit of grouping in derived
SELECT d.city, t.n FROM (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer ORDER BY n DESC LIMIT 3) t JOIN dealers d ON t.dealer = d.dealer
-- blocks
b1: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: count := COUNT(*)
  output: dealer_2 := g.`dealer_3` (stable)
  output: n := g.`count`
  order: g.`count` DESC NULLS LAST
  limit: 3 offset 0
b0: rows, identity dealer, b1_dealer_3 (stable)
  core:
    potential: b1 as b1
    scan: dealers as dealers
    where: b1.`dealer_2` = dealers.`dealer`
    store: dealer := dealers.`dealer`
    store: b1_dealer_3 := b1.`dealer_3`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  lookup: b1 as b1, b1_dealer_3 <=> dealer_3
  key: dealer := m.`dealer`
  key: b1_dealer_3 := m.`b1_dealer_3`
  output: city_2 := m.`city_2` (stable)
  output: n_2 := b1.`n`

-- title: limit of limit
SELECT model FROM (SELECT model, price FROM cars ORDER BY price LIMIT 5) t WHERE model <> 'x' ORDER BY model LIMIT 2
-- blocks
b1: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_2 := cars.`model`
    store: price_2 := cars.`price`
  token: cars as cars in car_id
  key: car_id := m.`car_id`
  output: model_2 := m.`model_2` (stable)
  output: price_2 := m.`price_2` (stable)
  order: m.`price_2` ASC NULLS FIRST
  limit: 5 offset 0
b0: rows, identity b1_car_id (stable)
  lookup: b1 as b1, free
  condition: b1.`model_2` <> 'x'
  key: b1_car_id := b1.`car_id`
  output: model_3 := b1.`model_2` (stable)
  order: b1.`model_2` ASC NULLS FIRST
  limit: 2 offset 0

-- title: limit of one row
SELECT * FROM (SELECT count(*) AS n FROM cars) a, (SELECT count(*) AS m FROM bids) b LIMIT 100
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`count` AS `n`
  FROM (
    SELECT
      COUNT(*) AS `count`
    FROM `b1_members` AS m
  ) AS g
), `b2_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`
  FROM `bids` AS bids
), `b2` AS (
  SELECT
    g.`count_2` AS `m`
  FROM (
    SELECT
      COUNT(*) AS `count_2`
    FROM `b2_members` AS m
  ) AS g
)
SELECT
  b1.`n` AS `n_2`,
  b2.`m` AS `m_2`,
  NAMED_STRUCT('b1', TRUE, 'b2', TRUE) AS `_prov`
FROM `b1` AS b1, `b2` AS b2
-- blocks
b1: group, identity nothing (not stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
  token: cars as cars in car_id
  aggregate: count := COUNT(*)
  output: n := g.`count`
b2: group, identity nothing (not stable)
  core:
    scan: bids as bids
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
  token: bids as bids in bid, buyer
  aggregate: count_2 := COUNT(*)
  output: m := g.`count_2`
b0: rows, identity nothing (not stable)
  lookup: b1 as b1, free
  lookup: b2 as b2, free
  output: n_2 := b1.`n`
  output: m_2 := b2.`m`

-- title: limit of union
SELECT dealer, count(*) AS n FROM cars GROUP BY dealer UNION ALL SELECT city, rating FROM dealers ORDER BY n DESC LIMIT 2
-- blocks
b1: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: count := COUNT(*)
  output: dealer_2 := g.`dealer_3` (stable)
  output: n := g.`count`
b2: rows, identity dealer (stable)
  core:
    scan: dealers as dealers
    store: dealer := dealers.`dealer`
    store: city_2 := dealers.`city`
    store: rating_2 := dealers.`rating`
  token: dealers as dealers in dealer
  key: dealer := m.`dealer`
  output: city_2 := m.`city_2` (stable)
  output: rating_2 := m.`rating_2` (stable)
b0: union, identity _branch, _0_dealer_3, _1_dealer (stable)
  branch: b1
  branch: b2
  output: dealer_5 := u.`dealer_2` (stable)
  output: n_2 := u.`n`
  order: u.`n` DESC NULLS LAST
  limit: 2 offset 0

-- title: limit without order
SELECT model FROM cars LIMIT 3
-- blocks
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_2 := cars.`model`
  token: cars as cars in car_id
  key: car_id := m.`car_id`
  output: model_2 := m.`model_2` (stable)
  limit: 3 offset 0

-- title: limit without order in derived
SELECT t.model, d.city FROM (SELECT model, dealer FROM cars LIMIT 3) t JOIN dealers d ON t.dealer = d.dealer
-- blocks
b1: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_2 := cars.`model`
    store: dealer_2 := cars.`dealer`
  token: cars as cars in car_id
  key: car_id := m.`car_id`
  output: model_2 := m.`model_2` (stable)
  output: dealer_2 := m.`dealer_2` (stable)
  limit: 3 offset 0
b0: rows, identity dealer, b1_car_id (stable)
  core:
    potential: b1 as b1
    scan: dealers as dealers
    where: b1.`dealer_2` = dealers.`dealer`
    store: dealer := dealers.`dealer`
    store: b1_car_id := b1.`car_id`
    store: model_3 := b1.`model_2`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  lookup: b1 as b1, b1_car_id <=> car_id
  key: dealer := m.`dealer`
  key: b1_car_id := m.`b1_car_id`
  output: model_3 := m.`model_3` (stable)
  output: city_2 := m.`city_2` (stable)

-- title: limit zero
SELECT model FROM cars ORDER BY price LIMIT 0
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  m.`model_3` AS `model_3`,
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
ORDER BY
  m.`price` ASC,
  m.`car_id` ASC
LIMIT 0
-- blocks
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_3 := cars.`model`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: car_id := m.`car_id`
  output: model_3 := m.`model_3` (stable)
  order: m.`price` ASC NULLS FIRST
  limit: 0 offset 0

-- title: one row
SELECT 1 AS one, 'x' AS x
-- blocks
b0: rows, identity nothing (stable)
  output: one := 1 (stable)
  output: x := 'x' (stable)

-- title: order by constant
SELECT 5 AS five, model FROM cars ORDER BY five, model
-- blocks
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_2 := cars.`model`
  token: cars as cars in car_id
  key: car_id := m.`car_id`
  output: five := 5 (stable)
  output: model_2 := m.`model_2` (stable)
  order: 5 ASC NULLS FIRST
  order: m.`model_2` ASC NULLS FIRST
