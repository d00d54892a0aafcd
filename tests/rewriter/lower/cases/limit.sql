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
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    cars.`dealer` AS `dealer_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`model_3` AS `model_3`,
    m.`dealer_3` AS `dealer_3`
  FROM `b1_members` AS m
  ORDER BY
    m.`price` ASC,
    m.`car_id` ASC
  LIMIT 3
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    b1.`car_id` AS `b1_car_id`,
    b1.`model_3` AS `model_4`,
    dealers.`city` AS `city_2`
  FROM `b1` AS b1, `dealers` AS dealers
  WHERE
    b1.`dealer_3` = dealers.`dealer`
)
SELECT
  m.`model_4` AS `model_4`,
  m.`city_2` AS `city_2`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b1', b1.`car_id`) AS `_prov`
FROM `b0_members` AS m, `b1` AS b1
WHERE
  m.`b1_car_id` IS NOT DISTINCT FROM b1.`car_id`
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
  ORDER BY
    g.`count` DESC,
    g.`dealer_3` ASC
  LIMIT 3
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    b1.`dealer_3` AS `b1_dealer_3`,
    dealers.`city` AS `city_2`
  FROM `b1` AS b1, `dealers` AS dealers
  WHERE
    b1.`dealer_2` = dealers.`dealer`
)
SELECT
  m.`city_2` AS `city_2`,
  b1.`n` AS `n_2`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b1', b1.`dealer_3`) AS `_prov`
FROM `b0_members` AS m, `b1` AS b1
WHERE
  m.`b1_dealer_3` IS NOT DISTINCT FROM b1.`dealer_3`

-- title: limit of limit
SELECT model FROM (SELECT model, price FROM cars ORDER BY price LIMIT 5) t WHERE model <> 'x' ORDER BY model LIMIT 2
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_2`,
    cars.`price` AS `price_2`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`model_2` AS `model_2`,
    m.`price_2` AS `price_2`
  FROM `b1_members` AS m
  ORDER BY
    m.`price_2` ASC,
    m.`car_id` ASC
  LIMIT 5
)
SELECT
  b1.`model_2` AS `model_3`,
  NAMED_STRUCT('b1', b1.`car_id`) AS `_prov`
FROM `b1` AS b1
WHERE
  b1.`model_2` <> 'x'
ORDER BY
  b1.`model_2` ASC,
  b1.`car_id` ASC
LIMIT 2

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

-- title: limit of union
SELECT dealer, count(*) AS n FROM cars GROUP BY dealer UNION ALL SELECT city, rating FROM dealers ORDER BY n DESC LIMIT 2
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
    g.`count` AS `n`,
    g.`_prov`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      COUNT(*) AS `count`,
      COLLECT_LIST(NAMED_STRUCT('cars', m.`car_id`)) AS `_prov`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
), `b2_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city_2`,
    dealers.`rating` AS `rating_2`
  FROM `dealers` AS dealers
), `b2` AS (
  SELECT
    m.`dealer` AS `dealer`,
    m.`city_2` AS `city_2`,
    m.`rating_2` AS `rating_2`,
    NAMED_STRUCT('dealers', m.`dealer`) AS `_prov`
  FROM `b2_members` AS m
)
SELECT
  u.`dealer_2` AS `dealer_5`,
  u.`n` AS `n_2`,
  u.`_prov` AS `_prov`
FROM (
  SELECT
    0 AS `_branch`,
    t.`dealer_3` AS `_0_dealer_3`,
    NULL AS `_1_dealer`,
    t.`dealer_2` AS `dealer_2`,
    t.`n` AS `n`,
    NAMED_STRUCT('branch', 0, 'p0', t.`_prov`, 'p1', NULL) AS `_prov`
  FROM `b1` AS t
  UNION ALL
  SELECT
    1 AS `_branch`,
    NULL AS `_0_dealer_3`,
    t.`dealer` AS `_1_dealer`,
    t.`city_2` AS `dealer_2`,
    t.`rating_2` AS `n`,
    NAMED_STRUCT('branch', 1, 'p0', NULL, 'p1', t.`_prov`) AS `_prov`
  FROM `b2` AS t
) AS u
ORDER BY
  u.`n` DESC,
  u.`_branch` ASC,
  u.`_0_dealer_3` ASC,
  u.`_1_dealer` ASC
LIMIT 2

-- title: limit without order
SELECT model FROM cars LIMIT 3
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_2`
  FROM `cars` AS cars
)
SELECT
  m.`model_2` AS `model_2`,
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
ORDER BY
  m.`car_id` ASC
LIMIT 3

-- title: limit without order in derived
SELECT t.model, d.city FROM (SELECT model, dealer FROM cars LIMIT 3) t JOIN dealers d ON t.dealer = d.dealer
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_2`,
    cars.`dealer` AS `dealer_2`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`model_2` AS `model_2`,
    m.`dealer_2` AS `dealer_2`
  FROM `b1_members` AS m
  ORDER BY
    m.`car_id` ASC
  LIMIT 3
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    b1.`car_id` AS `b1_car_id`,
    b1.`model_2` AS `model_3`,
    dealers.`city` AS `city_2`
  FROM `b1` AS b1, `dealers` AS dealers
  WHERE
    b1.`dealer_2` = dealers.`dealer`
)
SELECT
  m.`model_3` AS `model_3`,
  m.`city_2` AS `city_2`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b1', b1.`car_id`) AS `_prov`
FROM `b0_members` AS m, `b1` AS b1
WHERE
  m.`b1_car_id` IS NOT DISTINCT FROM b1.`car_id`

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

-- title: one row
SELECT 1 AS one, 'x' AS x
-- expected
SELECT
  1 AS `one`,
  'x' AS `x`,
  NAMED_STRUCT('one', 1) AS `_prov`

-- title: order by constant
SELECT 5 AS five, model FROM cars ORDER BY five, model
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_2`
  FROM `cars` AS cars
)
SELECT
  5 AS `five`,
  m.`model_2` AS `model_2`,
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
ORDER BY
  CAST(5 AS INT) ASC,
  m.`model_2` ASC
