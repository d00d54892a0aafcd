-- title: aggregate without keys having
SELECT max(price) AS m FROM cars HAVING count(*) > 3
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  g.`max_price` AS `m`,
  g.`_prov`
FROM (
  SELECT
    MAX(m.`price`) AS `max_price`,
    COUNT(*) AS `count`,
    COLLECT_LIST(NAMED_STRUCT('cars', m.`car_id`, 'max_price_value', m.`price`)) AS `_prov`
  FROM `b0_members` AS m
) AS g
WHERE
  g.`count` > 3
-- blocks
b0: group, identity nothing (not stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price := cars.`price`
  token: cars as cars in car_id
  aggregate: max_price := MAX(m.`price`)
  aggregate: count := COUNT(*)
  having: g.`count` > 3
  having is not monotone
  output: m := g.`max_price`

-- title: having in subquery
SELECT dealer FROM cars GROUP BY dealer HAVING max(price) IN (SELECT amount FROM bids)
-- blocks
b1: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: max_price := MAX(m.`price`)
  output: dealer_3 := g.`dealer_3` (stable)
  output: max_price := g.`max_price`
b2: group, identity k1 (stable)
  core:
    scan: bids as bids
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: k1 := bids.`amount`
  token: bids as bids in bid, buyer
  key: k1 := m.`k1`
  output: k1 := g.`k1` (stable)
b0: rows, identity b1_dealer_3 (stable)
  lookup: b1 as b1, free
  semi: b2 on b1.`max_price` = k1
  key: b1_dealer_3 := b1.`dealer_3`
  output: dealer_2 := b1.`dealer_3` (stable)

-- title: having monotone
SELECT dealer FROM cars GROUP BY dealer HAVING count(*) > 2 AND sum(price) >= 10 AND min(price) < 5
-- blocks
b0: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: count := COUNT(*)
  aggregate: sum_price := SUM(m.`price`)
  aggregate: min_price := MIN(m.`price`)
  having: g.`count` > 2
  having: g.`sum_price` >= 10
  having: g.`min_price` < 5
  having is monotone
  output: dealer_2 := g.`dealer_3` (stable)

-- title: having not monotone
SELECT dealer FROM cars GROUP BY dealer HAVING avg(price) > 2
-- blocks
b0: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: avg_price := AVG(m.`price`)
  having: g.`avg_price` > 2
  having is not monotone
  output: dealer_2 := g.`dealer_3` (stable)

-- title: having null
SELECT dealer FROM cars WHERE price > 3 GROUP BY dealer HAVING NULL AND count(*) > 1
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`
  FROM `cars` AS cars
  WHERE
    cars.`price` > 3
)
SELECT
  g.`dealer_3` AS `dealer_2`,
  g.`_prov`
FROM (
  SELECT
    m.`dealer_3` AS `dealer_3`,
    COUNT(*) AS `count`,
    COLLECT_LIST(NAMED_STRUCT('cars', m.`car_id`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`dealer_3`
) AS g
WHERE
  CAST(NULL AS BOOLEAN) AND g.`count` > 1
-- blocks
b0: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    where: cars.`price` > 3
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: count := COUNT(*)
  having: NULL
  having: g.`count` > 1
  having is not monotone
  output: dealer_2 := g.`dealer_3` (stable)

-- title: having on key
SELECT dealer, count(*) AS n FROM cars GROUP BY dealer HAVING dealer > 'a' AND count(*) > 1
-- blocks
b0: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    where: cars.`dealer` > 'a'
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: count := COUNT(*)
  having: g.`count` > 1
  having is monotone
  output: dealer_2 := g.`dealer_3` (stable)
  output: n := g.`count`
