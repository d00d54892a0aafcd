-- title: derived filtered by aggregate
SELECT d.city FROM dealers d JOIN (SELECT dealer, sum(price) AS p FROM cars GROUP BY dealer) g ON d.dealer = g.dealer WHERE g.p > d.rating
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_4`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_4` AS `dealer_4`,
    g.`dealer_4` AS `dealer_3`,
    g.`sum_price` AS `p`
  FROM (
    SELECT
      m.`dealer_4` AS `dealer_4`,
      SUM(m.`price`) AS `sum_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_4`
  ) AS g
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    b1.`dealer_4` AS `b1_dealer_4`,
    dealers.`rating` AS `rating`,
    dealers.`city` AS `city_2`
  FROM `dealers` AS dealers, `b1` AS b1
  WHERE
    dealers.`dealer` = b1.`dealer_3`
)
SELECT
  m.`city_2` AS `city_2`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b1', b1.`dealer_4`) AS `_prov`
FROM `b0_members` AS m, `b1` AS b1
WHERE
  m.`b1_dealer_4` IS NOT DISTINCT FROM b1.`dealer_4` AND b1.`p` > m.`rating`
-- blocks
b1: group, identity dealer_4 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_4 := cars.`dealer`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: dealer_4 := m.`dealer_4`
  aggregate: sum_price := SUM(m.`price`)
  output: dealer_3 := g.`dealer_4` (stable)
  output: p := g.`sum_price`
b0: rows, identity dealer, b1_dealer_4 (stable)
  core:
    scan: dealers as dealers
    potential: b1 as b1
    where: dealers.`dealer` = b1.`dealer_3`
    store: dealer := dealers.`dealer`
    store: b1_dealer_4 := b1.`dealer_4`
    store: rating := dealers.`rating`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  lookup: b1 as b1, b1_dealer_4 <=> dealer_4
  condition: b1.`p` > m.`rating`
  key: dealer := m.`dealer`
  key: b1_dealer_4 := m.`b1_dealer_4`
  output: city_2 := m.`city_2` (stable)

-- title: derived joined on aggregate
SELECT c.model FROM cars c JOIN (SELECT dealer, max(price) AS p FROM cars GROUP BY dealer) g ON c.price = g.p
-- blocks
b1: group, identity dealer_4 (stable)
  core:
    scan: cars as cars_2
    store: car_id := cars_2.`car_id`
    store: dealer_4 := cars_2.`dealer`
    store: price := cars_2.`price`
  token: cars as cars_2 in car_id
  key: dealer_4 := m.`dealer_4`
  aggregate: max_price_2 := MAX(m.`price`)
  output: dealer_3 := g.`dealer_4` (stable)
  output: p := g.`max_price_2`
b0: rows, identity car_id, b1_dealer_4 (not stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price := cars.`price`
    store: model_3 := cars.`model`
  token: cars as cars in car_id
  lookup: b1 as b1, free
  condition: m.`price` = b1.`p`
  key: car_id := m.`car_id`
  key: b1_dealer_4 := b1.`dealer_4`
  output: model_3 := m.`model_3` (stable)

-- title: derived joined on key
SELECT d.city, g.n FROM dealers d JOIN (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer) g ON d.dealer = g.dealer
-- blocks
b1: group, identity dealer_4 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_4 := cars.`dealer`
  token: cars as cars in car_id
  key: dealer_4 := m.`dealer_4`
  aggregate: count := COUNT(*)
  output: dealer_3 := g.`dealer_4` (stable)
  output: n := g.`count`
b0: rows, identity dealer, b1_dealer_4 (stable)
  core:
    scan: dealers as dealers
    potential: b1 as b1
    where: dealers.`dealer` = b1.`dealer_3`
    store: dealer := dealers.`dealer`
    store: b1_dealer_4 := b1.`dealer_4`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  lookup: b1 as b1, b1_dealer_4 <=> dealer_4
  key: dealer := m.`dealer`
  key: b1_dealer_4 := m.`b1_dealer_4`
  output: city_2 := m.`city_2` (stable)
  output: n_2 := b1.`n`

-- title: derived of aggregate without keys
SELECT c.model, t.m FROM cars c, (SELECT max(price) AS m FROM cars) t WHERE c.price = t.m
-- blocks
b1: group, identity nothing (not stable)
  core:
    scan: cars as cars_2
    store: car_id := cars_2.`car_id`
    store: price := cars_2.`price`
  token: cars as cars_2 in car_id
  aggregate: max_price_2 := MAX(m.`price`)
  output: m := g.`max_price_2`
b0: rows, identity car_id (not stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price := cars.`price`
    store: model_3 := cars.`model`
  token: cars as cars in car_id
  lookup: b1 as b1, free
  condition: m.`price` = b1.`m`
  key: car_id := m.`car_id`
  output: model_3 := m.`model_3` (stable)
  output: m_2 := b1.`m`

-- title: nested by aggregate
SELECT n, count(*) AS groups FROM (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer) g GROUP BY n
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`dealer_3` AS `dealer_2`,
    g.`count` AS `n`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      COUNT(*) AS `count`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
)
SELECT
  g.`n_3` AS `n_2`,
  g.`count_2` AS `groups`,
  g.`_prov`
FROM (
  SELECT
    b1.`n` AS `n_3`,
    COUNT(*) AS `count_2`,
    COLLECT_LIST(NAMED_STRUCT('b1', b1.`dealer_3`)) AS `_prov`
  FROM `b1` AS b1
  GROUP BY
    b1.`n`
) AS g
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
b0: group, identity n_3 (not stable)
  lookup: b1 as b1, free
  key: n_3 := b1.`n`
  aggregate: count_2 := COUNT(*)
  output: n_2 := g.`n_3`
  output: groups := g.`count_2`

-- title: nested by key
SELECT dealer, count(*) AS n FROM (SELECT dealer, model, sum(price) AS p FROM cars GROUP BY dealer, model) g GROUP BY dealer
-- blocks
b1: group, identity dealer_3, model_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
    store: model_3 := cars.`model`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  key: model_3 := m.`model_3`
  aggregate: sum_price := SUM(m.`price`)
  output: dealer_2 := g.`dealer_3` (stable)
  output: model_2 := g.`model_3` (stable)
  output: p := g.`sum_price`
b0: group, identity dealer_5 (stable)
  lookup: b1 as b1, free
  key: dealer_5 := b1.`dealer_2`
  aggregate: count := COUNT(*)
  output: dealer_4 := g.`dealer_5` (stable)
  output: n := g.`count`

-- title: nested joined with free aggregate
SELECT d.city FROM dealers d JOIN (SELECT g.dealer FROM (SELECT dealer, sum(price) AS p FROM cars GROUP BY dealer) g, (SELECT avg(price) AS a FROM cars) t WHERE g.p > t.a GROUP BY g.dealer) h ON d.dealer = h.dealer
-- blocks
b1: group, identity dealer_4 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_4 := cars.`dealer`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: dealer_4 := m.`dealer_4`
  aggregate: sum_price := SUM(m.`price`)
  output: dealer_3 := g.`dealer_4` (stable)
  output: p := g.`sum_price`
b2: group, identity nothing (not stable)
  core:
    scan: cars as cars_2
    store: car_id := cars_2.`car_id`
    store: price := cars_2.`price`
  token: cars as cars_2 in car_id
  aggregate: avg_price_2 := AVG(m.`price`)
  output: a := g.`avg_price_2`
b3: group, identity dealer_7 (stable)
  lookup: b1 as b1, free
  lookup: b2 as b2, free
  condition: b1.`p` > b2.`a`
  key: dealer_7 := b1.`dealer_3`
  output: dealer_6 := g.`dealer_7` (stable)
b0: rows, identity dealer, b3_dealer_7 (stable)
  core:
    scan: dealers as dealers
    potential: b3 as b3
    where: dealers.`dealer` = b3.`dealer_6`
    store: dealer := dealers.`dealer`
    store: b3_dealer_7 := b3.`dealer_7`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  lookup: b3 as b3, b3_dealer_7 <=> dealer_7
  key: dealer := m.`dealer`
  key: b3_dealer_7 := m.`b3_dealer_7`
  output: city_2 := m.`city_2` (stable)
