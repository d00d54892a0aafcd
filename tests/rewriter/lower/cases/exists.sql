-- title: exists equality
SELECT city FROM dealers d WHERE EXISTS (SELECT 1 FROM cars c WHERE c.dealer = d.dealer AND c.price > 10)
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `k1`
  FROM `cars` AS cars
  WHERE
    cars.`price` > 10
), `b1` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`k1` AS `k1`
    FROM `b1_members` AS m
    GROUP BY
      m.`k1`
  ) AS g
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city_2`
  FROM `dealers` AS dealers
)
SELECT
  m.`city_2` AS `city_2`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b1_exists', m.`dealer`) AS `_prov`
FROM `b0_members` AS m
WHERE
  EXISTS(
    SELECT
      1
    FROM `b1` AS k
    WHERE
      k.`k1` = m.`dealer`
  )
-- blocks
b1: group, identity k1 (stable)
  core:
    scan: cars as cars
    where: cars.`price` > 10
    store: car_id := cars.`car_id`
    store: k1 := cars.`dealer`
  token: cars as cars in car_id
  key: k1 := m.`k1`
  output: k1 := g.`k1` (stable)
b0: rows, identity dealer (stable)
  core:
    scan: dealers as dealers
    semi: b1 on dealers.`dealer` = k1
    store: dealer := dealers.`dealer`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  semi: b1 on m.`dealer` = k1
  key: dealer := m.`dealer`
  output: city_2 := m.`city_2` (stable)

-- title: exists grouped correlated
SELECT city FROM dealers d WHERE EXISTS (SELECT 1 FROM cars c WHERE c.dealer = d.dealer AND c.price > 10 GROUP BY c.model HAVING sum(c.price) IS NOT NULL)
-- blocks
b1: group, identity model_2, dealer_3 (stable)
  core:
    scan: cars as cars
    where: cars.`price` > 10
    store: car_id := cars.`car_id`
    store: model_2 := cars.`model`
    store: dealer_3 := cars.`dealer`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: model_2 := m.`model_2`
  key: dealer_3 := m.`dealer_3`
  aggregate: sum_price := SUM(m.`price`)
  having: g.`sum_price` IS NOT NULL
  having is not monotone
  output: model_2 := g.`model_2` (stable)
  output: dealer_3 := g.`dealer_3` (stable)
  output: sum_price := g.`sum_price`
b2: group, identity k1 (stable)
  lookup: b1 as b1, free
  key: k1 := b1.`dealer_3`
  output: k1 := g.`k1` (stable)
b0: rows, identity dealer (stable)
  core:
    scan: dealers as dealers
    semi: b2 on dealers.`dealer` = k1
    store: dealer := dealers.`dealer`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  semi: b2 on m.`dealer` = k1
  key: dealer := m.`dealer`
  output: city_2 := m.`city_2` (stable)

-- title: exists in having under or
SELECT dealer, count(*) AS n FROM cars c GROUP BY dealer HAVING count(*) > 2 OR EXISTS (SELECT 1 FROM dealers d WHERE d.dealer = c.dealer)
-- blocks
b1: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: count := COUNT(*)
  output: dealer_3 := g.`dealer_3` (stable)
  output: count := g.`count`
b2: group, identity k1 (stable)
  core:
    scan: dealers as dealers
    store: dealer := dealers.`dealer`
  token: dealers as dealers in dealer
  key: k1 := m.`dealer`
  output: k1 := g.`k1` (stable)
b0: rows, identity b1_dealer_3 (stable)
  lookup: b1 as b1, free
  outer lookup of values: b2_found, b2 on b1.`dealer_3` = k1
  condition: b1.`count` > 2 OR (NOT b2_found.`k1` IS NULL)
  key: b1_dealer_3 := b1.`dealer_3`
  output: dealer_2 := b1.`dealer_3` (stable)
  output: n := b1.`count`

-- title: exists in select
SELECT model, EXISTS (SELECT 1 FROM bids) AS sold FROM cars
-- blocks
b1: group, identity k1 (stable)
  core:
    scan: bids as bids
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
  token: bids as bids in bid, buyer
  key: k1 := TRUE
  output: k1 := g.`k1` (stable)
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_2 := cars.`model`
  token: cars as cars in car_id
  outer lookup of values: b1_found, b1 on nothing
  key: car_id := m.`car_id`
  output: model_2 := m.`model_2` (stable)
  output: sold := NOT b1_found.`k1` IS NULL

-- title: exists of inequality in case
SELECT sum(CASE WHEN EXISTS (SELECT 1 FROM bids b WHERE b.amount > c.price) THEN 1 ELSE 0 END) AS n FROM cars c
-- expected
WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    outer_.`price` AS `price`
  FROM `bids` AS bids, (
    SELECT DISTINCT
      cars_2.`price` AS `price`
    FROM `cars` AS cars_2
  ) AS outer_
  WHERE
    bids.`amount` > outer_.`price`
), `b1` AS (
  SELECT
    g.`price` AS `price`,
    g.`found` AS `found`
  FROM (
    SELECT
      m.`price` AS `price`,
      TRUE AS `found`
    FROM `b1_members` AS m
    GROUP BY
      m.`price`,
      TRUE
  ) AS g
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  g.`sum_case_when_found_then_1_else_0_end` AS `n`,
  g.`_prov`
FROM (
  SELECT
    SUM(CASE WHEN (
      NOT b1_found.`found` IS NULL
    ) THEN 1 ELSE 0 END) AS `sum_case_when_found_then_1_else_0_end`,
    COLLECT_LIST(
      NAMED_STRUCT(
        'cars',
        m.`car_id`,
        'sum_case_when_found_then_1_else_0_end_value',
        CASE WHEN (
          NOT b1_found.`found` IS NULL
        ) THEN 1 ELSE 0 END
      )
    ) AS `_prov`
  FROM `b0_members` AS m
  LEFT JOIN `b1` AS b1_found
    ON b1_found.`price` IS NOT DISTINCT FROM m.`price`
) AS g
-- blocks
b1: group, identity price, found (stable)
  core:
    scan: bids as bids
    values: outer_:
      scan: cars as cars_2
      store: price := cars_2.`price`
    where: bids.`amount` > outer_.`price`
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: price := outer_.`price`
  token: bids as bids in bid, buyer
  key: price := m.`price`
  key: found := TRUE
  output: price := g.`price` (stable)
  output: found := g.`found` (stable)
b0: group, identity nothing (not stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price := cars.`price`
  token: cars as cars in car_id
  outer lookup of values: b1_found, b1 on m.`price` <=> price
  aggregate: sum_case_when_found_then_1_else_0_end := SUM(CASE WHEN (NOT b1_found.`found` IS NULL) THEN 1 ELSE 0 END)
  output: n := g.`sum_case_when_found_then_1_else_0_end`

-- title: exists of null safe
SELECT model FROM cars c WHERE EXISTS (SELECT 1 FROM bids b WHERE b.amount <=> c.price) OR price < 10
-- blocks
b1: group, identity k1, k2 (stable)
  core:
    scan: bids as bids
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: k1 := bids.`amount`
  token: bids as bids in bid, buyer
  key: k1 := m.`k1`
  key: k2 := TRUE
  output: k1 := g.`k1` (stable)
  output: k2 := g.`k2` (stable)
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price := cars.`price`
    store: model_2 := cars.`model`
  token: cars as cars in car_id
  outer lookup of values: b1_found, b1 on m.`price` <=> k1
  condition: (NOT b1_found.`k2` IS NULL) OR m.`price` < 10
  key: car_id := m.`car_id`
  output: model_2 := m.`model_2` (stable)

-- title: exists uncorrelated
SELECT city FROM dealers WHERE EXISTS (SELECT 1 FROM cars WHERE price > 10)
-- blocks
b1: group, identity k1 (stable)
  core:
    scan: cars as cars
    where: cars.`price` > 10
    store: car_id := cars.`car_id`
  token: cars as cars in car_id
  key: k1 := TRUE
  output: k1 := g.`k1` (stable)
b0: rows, identity dealer (stable)
  core:
    scan: dealers as dealers
    semi: b1 on nothing
    store: dealer := dealers.`dealer`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  semi: b1 on nothing
  key: dealer := m.`dealer`
  output: city_2 := m.`city_2` (stable)

-- title: exists under or
SELECT model FROM cars c WHERE EXISTS (SELECT 1 FROM bids b WHERE b.car_id = c.car_id) OR price < 10
-- blocks
b1: group, identity k1 (stable)
  core:
    scan: bids as bids
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: k1 := bids.`car_id`
  token: bids as bids in bid, buyer
  key: k1 := m.`k1`
  output: k1 := g.`k1` (stable)
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price := cars.`price`
    store: model_2 := cars.`model`
  token: cars as cars in car_id
  outer lookup of values: b1_found, b1 on m.`car_id` = k1
  condition: (NOT b1_found.`k1` IS NULL) OR m.`price` < 10
  key: car_id := m.`car_id`
  output: model_2 := m.`model_2` (stable)
