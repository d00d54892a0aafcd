-- title: anti join
SELECT city FROM dealers d LEFT ANTI JOIN cars c ON c.dealer = d.dealer AND c.price > 10 AND d.rating > 2
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
    dealers.`rating` AS `rating`,
    dealers.`city` AS `city_2`
  FROM `dealers` AS dealers
)
SELECT
  m.`city_2` AS `city_2`,
  NAMED_STRUCT(
    'dealers',
    m.`dealer`,
    'b1_absent',
    CASE WHEN COALESCE((
      m.`rating` > 2
    ), FALSE) THEN m.`dealer` END
  ) AS `_prov`
FROM `b0_members` AS m
WHERE
  (
    NOT COALESCE((
      m.`rating` > 2
    ), FALSE)
    OR NOT EXISTS(
      SELECT
        1
      FROM `b1` AS k
      WHERE
        k.`k1` = m.`dealer`
    )
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
    store: dealer := dealers.`dealer`
    store: rating := dealers.`rating`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  semi: not b1 on m.`dealer` = k1 if COALESCE((m.`rating` > 2), FALSE)
  key: dealer := m.`dealer`
  output: city_2 := m.`city_2` (stable)

-- title: anti join inequality
SELECT d.city FROM dealers d JOIN bids b ON b.buyer = d.city WHERE NOT EXISTS (SELECT 1 FROM cars c WHERE c.dealer = d.dealer AND c.price > b.amount)
-- blocks
b1: group, identity dealer, amount (stable)
  core:
    scan: cars as cars
    values: outer_:
      scan: dealers as dealers_2
      scan: bids as bids_2
      where: bids_2.`buyer` = dealers_2.`city`
      store: dealer := dealers_2.`dealer`
      store: amount := bids_2.`amount`
    where: cars.`price` > outer_.`amount`
    where: outer_.`dealer` = cars.`dealer`
    store: car_id := cars.`car_id`
    store: dealer := outer_.`dealer`
    store: amount := outer_.`amount`
  token: cars as cars in car_id
  key: dealer := m.`dealer`
  key: amount := m.`amount`
  output: dealer := g.`dealer` (stable)
  output: amount := g.`amount` (stable)
b0: rows, identity dealer, bid, buyer (stable)
  core:
    scan: dealers as dealers
    scan: bids as bids
    where: bids.`buyer` = dealers.`city`
    store: dealer := dealers.`dealer`
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: amount := bids.`amount`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  token: bids as bids in bid, buyer
  semi: not b1 on m.`dealer` <=> dealer, m.`amount` <=> amount
  key: dealer := m.`dealer`
  key: bid := m.`bid`
  key: buyer := m.`buyer`
  output: city_2 := m.`city_2` (stable)

-- title: semi join
SELECT city FROM dealers d LEFT SEMI JOIN cars c ON c.dealer = d.dealer AND c.price > 10 AND d.rating > 1
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
    where: dealers.`rating` > 1
    semi: b1 on dealers.`dealer` = k1
    store: dealer := dealers.`dealer`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  semi: b1 on m.`dealer` = k1
  key: dealer := m.`dealer`
  output: city_2 := m.`city_2` (stable)

-- title: semi join grouped filtered
SELECT city FROM dealers d LEFT SEMI JOIN (SELECT dealer, sum(price) AS p FROM cars GROUP BY dealer) g ON g.dealer = d.dealer AND g.p > 10
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
  having: g.`sum_price` > 10
  having is monotone
  output: dealer_3 := g.`dealer_4` (stable)
  output: p := g.`sum_price`
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

-- title: semi join inequality
SELECT city FROM dealers d WHERE EXISTS (SELECT 1 FROM cars c WHERE c.price > d.rating)
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    outer_.`rating` AS `rating`
  FROM `cars` AS cars, (
    SELECT DISTINCT
      dealers_2.`rating` AS `rating`
    FROM `dealers` AS dealers_2
  ) AS outer_
  WHERE
    cars.`price` > outer_.`rating`
), `b1` AS (
  SELECT
    g.`rating` AS `rating`
  FROM (
    SELECT
      m.`rating` AS `rating`
    FROM `b1_members` AS m
    GROUP BY
      m.`rating`
  ) AS g
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`rating` AS `rating`,
    dealers.`city` AS `city_2`
  FROM `dealers` AS dealers
)
SELECT
  m.`city_2` AS `city_2`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b1_exists', m.`rating`) AS `_prov`
FROM `b0_members` AS m
WHERE
  EXISTS(
    SELECT
      1
    FROM `b1` AS k
    WHERE
      k.`rating` IS NOT DISTINCT FROM m.`rating`
  )
-- blocks
b1: group, identity rating (stable)
  core:
    scan: cars as cars
    values: outer_:
      scan: dealers as dealers_2
      store: rating := dealers_2.`rating`
    where: cars.`price` > outer_.`rating`
    store: car_id := cars.`car_id`
    store: rating := outer_.`rating`
  token: cars as cars in car_id
  key: rating := m.`rating`
  output: rating := g.`rating` (stable)
b0: rows, identity dealer (stable)
  core:
    scan: dealers as dealers
    semi: b1 on dealers.`rating` <=> rating
    store: dealer := dealers.`dealer`
    store: rating := dealers.`rating`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  semi: b1 on m.`rating` <=> rating
  key: dealer := m.`dealer`
  output: city_2 := m.`city_2` (stable)

-- title: semi join of scalar subquery
SELECT city, count(*) FROM dealers WHERE (SELECT max(model) FROM cars) IN (SELECT model FROM cars) GROUP BY city
-- blocks
b1: group, identity nothing (not stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model := cars.`model`
  token: cars as cars in car_id
  aggregate: max_model_3 := MAX(m.`model`)
  output: max_model := g.`max_model_3`
b2: group, identity k1 (stable)
  core:
    scan: cars as cars_2
    store: car_id := cars_2.`car_id`
    store: k1 := cars_2.`model`
  token: cars as cars_2 in car_id
  key: k1 := m.`k1`
  output: k1 := g.`k1` (stable)
b0: group, identity city_3 (stable)
  core:
    scan: dealers as dealers
    store: dealer := dealers.`dealer`
    store: city_3 := dealers.`city`
  token: dealers as dealers in dealer
  lookup: b1 as b1_value, scalar
  semi: b2 on b1_value.`max_model` = k1
  key: city_3 := m.`city_3`
  aggregate: count_2 := COUNT(*)
  output: city_2 := g.`city_3` (stable)
  output: count := g.`count_2`
