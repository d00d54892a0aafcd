-- title: in aggregate correlated
SELECT bid FROM bids b WHERE b.amount IN (SELECT max(c.price) FROM cars c WHERE c.car_id = b.car_id GROUP BY c.car_id)
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`car_id_3` AS `car_id_3`,
    g.`max_price` AS `max_price`
  FROM (
    SELECT
      m.`car_id` AS `car_id_3`,
      MAX(m.`price`) AS `max_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`car_id`
  ) AS g
), `b2` AS (
  SELECT
    g.`k1` AS `k1`,
    g.`k2` AS `k2`
  FROM (
    SELECT
      b1.`max_price` AS `k1`,
      b1.`car_id_3` AS `k2`
    FROM `b1` AS b1
    GROUP BY
      b1.`max_price`,
      b1.`car_id_3`
  ) AS g
), `b0_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`amount` AS `amount`,
    bids.`car_id` AS `car_id`
  FROM `bids` AS bids
)
SELECT
  m.`bid` AS `bid_2`,
  NAMED_STRUCT(
    'bids',
    NAMED_STRUCT('_1', m.`bid`, '_2', m.`buyer`),
    'b2_exists',
    NAMED_STRUCT('_1', m.`amount`, '_2', m.`car_id`)
  ) AS `_prov`
FROM `b0_members` AS m
WHERE
  EXISTS(
    SELECT
      1
    FROM `b2` AS k
    WHERE
      k.`k1` = m.`amount` AND k.`k2` = m.`car_id`
  )
-- blocks
b1: group, identity car_id_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: car_id_3 := m.`car_id`
  aggregate: max_price := MAX(m.`price`)
  output: car_id_3 := g.`car_id_3` (stable)
  output: max_price := g.`max_price`
b2: group, identity k1, k2 (not stable)
  lookup: b1 as b1, free
  key: k1 := b1.`max_price`
  key: k2 := b1.`car_id_3`
  output: k1 := g.`k1`
  output: k2 := g.`k2`
b0: rows, identity bid, buyer (stable)
  core:
    scan: bids as bids
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: amount := bids.`amount`
    store: car_id := bids.`car_id`
  token: bids as bids in bid, buyer
  semi: b2 on m.`amount` = k1, m.`car_id` = k2
  key: bid := m.`bid`
  key: buyer := m.`buyer`
  output: bid_2 := m.`bid` (stable)

-- title: in both sides grouped
SELECT dealer FROM cars GROUP BY dealer HAVING dealer IN (SELECT buyer FROM bids GROUP BY buyer) AND count(*) > 1
-- blocks
b1: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: count := COUNT(*)
  having: g.`count` > 1
  having is monotone
  output: dealer_3 := g.`dealer_3` (stable)
  output: count := g.`count`
b2: group, identity buyer_3 (stable)
  core:
    scan: bids as bids
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
  token: bids as bids in bid, buyer
  key: buyer_3 := m.`buyer`
  output: buyer_2 := g.`buyer_3` (stable)
b0: rows, identity b1_dealer_3 (stable)
  lookup: b1 as b1, free
  semi: b2 on b1.`dealer_3` = buyer_2
  key: b1_dealer_3 := b1.`dealer_3`
  output: dealer_2 := b1.`dealer_3` (stable)

-- title: in correlated union
SELECT model FROM cars c WHERE dealer IN (SELECT dealer FROM dealers d WHERE d.rating > c.price UNION SELECT buyer FROM bids b WHERE b.car_id = c.car_id)
-- blocks
b1: group, identity dealer_7, car_id_2_5, price_2_5 (stable)
  core:
    union: union_
      branch:
        scan: dealers as dealers
        values: outer__2:
          scan: cars as cars_3
          store: car_id_2 := cars_3.`car_id`
          store: price_2 := cars_3.`price`
        where: dealers.`rating` > outer__2.`price_2`
        store: dealer_6 := dealers.`dealer`
        store: car_id_2_4 := outer__2.`car_id_2`
        store: price_2_4 := outer__2.`price_2`
        store: dealers_dealer := dealers.`dealer`
        store: bids_bid := NULL
        store: bids_buyer := NULL
      branch:
        scan: bids as bids
        values: outer__3:
          scan: cars as cars_4
          store: car_id_2 := cars_4.`car_id`
          store: price_2 := cars_4.`price`
        where: bids.`car_id` = outer__3.`car_id_2`
        store: dealer_6 := bids.`buyer`
        store: car_id_2_4 := outer__3.`car_id_2`
        store: price_2_4 := outer__3.`price_2`
        store: dealers_dealer := NULL
        store: bids_bid := bids.`bid`
        store: bids_buyer := bids.`buyer`
    store: dealers_dealer := union_.`dealers_dealer`
    store: bids_bid := union_.`bids_bid`
    store: bids_buyer := union_.`bids_buyer`
    store: dealer_7 := union_.`dealer_6`
    store: car_id_2_5 := union_.`car_id_2_4`
    store: price_2_5 := union_.`price_2_4`
  token: dealers as dealers in dealers_dealer
  token: bids as bids in bids_bid, bids_buyer
  key: dealer_7 := m.`dealer_7`
  key: car_id_2_5 := m.`car_id_2_5`
  key: price_2_5 := m.`price_2_5`
  output: dealer_7 := g.`dealer_7` (stable)
  output: car_id_2_5 := g.`car_id_2_5` (stable)
  output: price_2_5 := g.`price_2_5` (stable)
b2: group, identity dealer, car_id, price (stable)
  core:
    potential: b1 as b1
    values: outer_:
      scan: cars as cars_2
      store: dealer := cars_2.`dealer`
      store: car_id := cars_2.`car_id`
      store: price := cars_2.`price`
    where: b1.`car_id_2_5` IS NOT DISTINCT FROM outer_.`car_id`
    where: b1.`price_2_5` IS NOT DISTINCT FROM outer_.`price`
    where: outer_.`dealer` = b1.`dealer_7`
    store: b1_dealer_7 := b1.`dealer_7`
    store: b1_car_id_2_5 := b1.`car_id_2_5`
    store: b1_price_2_5 := b1.`price_2_5`
    store: dealer := outer_.`dealer`
    store: car_id := outer_.`car_id`
    store: price := outer_.`price`
  lookup: b1 as b1, b1_dealer_7 <=> dealer_7, b1_car_id_2_5 <=> car_id_2_5, b1_price_2_5 <=> price_2_5
  key: dealer := m.`dealer`
  key: car_id := m.`car_id`
  key: price := m.`price`
  output: dealer := g.`dealer` (stable)
  output: car_id := g.`car_id` (stable)
  output: price := g.`price` (stable)
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars
    semi: b2 on cars.`dealer` <=> dealer, cars.`car_id` <=> car_id, cars.`price` <=> price
    store: car_id := cars.`car_id`
    store: dealer := cars.`dealer`
    store: price := cars.`price`
    store: model_3 := cars.`model`
  token: cars as cars in car_id
  semi: b2 on m.`dealer` <=> dealer, m.`car_id` <=> car_id, m.`price` <=> price
  key: car_id := m.`car_id`
  output: model_3 := m.`model_3` (stable)

-- title: in filtered by null
SELECT model FROM cars WHERE NULL AND price IN (SELECT NULL FROM bids)
-- blocks
b1: group, identity k1 (stable)
  core:
    scan: bids as bids
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
  token: bids as bids in bid, buyer
  key: k1 := NULL
  output: k1 := g.`k1` (stable)
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars
    where: NULL
    semi: b1 on cars.`price` = k1
    store: car_id := cars.`car_id`
    store: price := cars.`price`
    store: model_2 := cars.`model`
  token: cars as cars in car_id
  semi: b1 on m.`price` = k1
  key: car_id := m.`car_id`
  output: model_2 := m.`model_2` (stable)

-- title: in grouped
SELECT city FROM dealers WHERE dealer IN (SELECT dealer FROM cars GROUP BY dealer HAVING sum(price) > 10)
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
    g.`dealer_4` AS `dealer_3`
  FROM (
    SELECT
      m.`dealer_4` AS `dealer_4`,
      SUM(m.`price`) AS `sum_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_4`
  ) AS g
  WHERE
    g.`sum_price` > 10
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
      k.`dealer_3` = m.`dealer`
  )
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
b0: rows, identity dealer (stable)
  core:
    scan: dealers as dealers
    semi: b1 on dealers.`dealer` = dealer_3
    store: dealer := dealers.`dealer`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  semi: b1 on m.`dealer` = dealer_3
  key: dealer := m.`dealer`
  output: city_2 := m.`city_2` (stable)

-- title: in grouped correlated
SELECT city FROM dealers d WHERE d.dealer IN (SELECT c.dealer FROM cars c WHERE c.model = d.city GROUP BY c.dealer HAVING count(*) >= 1)
-- blocks
b1: group, identity dealer_3, model_2 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
    store: model_2 := cars.`model`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  key: model_2 := m.`model_2`
  aggregate: count := COUNT(*)
  having: g.`count` >= 1
  having is monotone
  output: dealer_3 := g.`dealer_3` (stable)
  output: model_2 := g.`model_2` (stable)
  output: count := g.`count`
b0: rows, identity dealer (stable)
  core:
    scan: dealers as dealers
    semi: b1 on dealers.`dealer` = dealer_3, dealers.`city` = model_2
    store: dealer := dealers.`dealer`
    store: city := dealers.`city`
  token: dealers as dealers in dealer
  semi: b1 on m.`dealer` = dealer_3, m.`city` = model_2
  key: dealer := m.`dealer`
  output: city_2 := m.`city` (stable)

-- title: in predicate
SELECT city FROM dealers WHERE (rating > 3) IN (SELECT price > 10 FROM cars)
-- blocks
b1: group, identity k1 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: k1 := cars.`price` > 10
  token: cars as cars in car_id
  key: k1 := m.`k1`
  output: k1 := g.`k1` (stable)
b0: rows, identity dealer (stable)
  core:
    scan: dealers as dealers
    semi: b1 on dealers.`rating` > 3 = k1
    store: dealer := dealers.`dealer`
    store: rating := dealers.`rating`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  semi: b1 on m.`rating` > 3 = k1
  key: dealer := m.`dealer`
  output: city_2 := m.`city_2` (stable)

-- title: not in
SELECT model FROM cars WHERE dealer NOT IN (SELECT dealer FROM dealers WHERE rating > 3)
-- blocks
b1: group, identity value (stable)
  core:
    scan: dealers as dealers
    where: dealers.`rating` > 3
    store: dealer := dealers.`dealer`
  token: dealers as dealers in dealer
  key: value := m.`dealer`
  output: value := g.`value` (stable)
b2: group, identity k1 (stable)
  lookup: b1 as b1_2, free
  key: k1 := TRUE
  output: k1 := g.`k1` (stable)
b3: group, identity k1 (stable)
  lookup: b1 as b1_3, free
  condition: b1_3.`value` IS NULL
  key: k1 := TRUE
  output: k1 := g.`k1` (stable)
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer := cars.`dealer`
    store: model_2 := cars.`model`
  token: cars as cars in car_id
  semi: not b1 on m.`dealer` = value
  semi: not b2 on nothing if COALESCE((m.`dealer` IS NULL), FALSE)
  semi: not b3 on nothing
  key: car_id := m.`car_id`
  output: model_2 := m.`model_2` (stable)

-- title: not in pairs
SELECT model FROM cars WHERE (car_id, price) NOT IN (SELECT car_id, amount FROM bids)
-- expected
WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    outer_.`car_id` AS `car_id`,
    outer_.`price` AS `price`
  FROM `bids` AS bids, (
    SELECT DISTINCT
      cars_2.`car_id` AS `car_id`,
      cars_2.`price` AS `price`
    FROM `cars` AS cars_2
  ) AS outer_
  WHERE
    (
      outer_.`car_id` = bids.`car_id`
      OR outer_.`car_id` IS NULL
      OR bids.`car_id` IS NULL
    )
    AND (
      outer_.`price` = bids.`amount` OR outer_.`price` IS NULL OR bids.`amount` IS NULL
    )
), `b1` AS (
  SELECT
    g.`car_id` AS `car_id`,
    g.`price` AS `price`
  FROM (
    SELECT
      m.`car_id` AS `car_id`,
      m.`price` AS `price`
    FROM `b1_members` AS m
    GROUP BY
      m.`car_id`,
      m.`price`
  ) AS g
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`,
    cars.`model` AS `model_2`
  FROM `cars` AS cars
)
SELECT
  m.`model_2` AS `model_2`,
  NAMED_STRUCT('cars', m.`car_id`, 'b1_absent', NAMED_STRUCT('_1', m.`car_id`, '_2', m.`price`)) AS `_prov`
FROM `b0_members` AS m
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM `b1` AS k
    WHERE
      k.`car_id` IS NOT DISTINCT FROM m.`car_id`
      AND k.`price` IS NOT DISTINCT FROM m.`price`
  )
-- blocks
b1: group, identity car_id, price (stable)
  core:
    scan: bids as bids
    values: outer_:
      scan: cars as cars_2
      store: car_id := cars_2.`car_id`
      store: price := cars_2.`price`
    where: outer_.`car_id` = bids.`car_id` OR outer_.`car_id` IS NULL OR bids.`car_id` IS NULL
    where: outer_.`price` = bids.`amount` OR outer_.`price` IS NULL OR bids.`amount` IS NULL
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: car_id := outer_.`car_id`
    store: price := outer_.`price`
  token: bids as bids in bid, buyer
  key: car_id := m.`car_id`
  key: price := m.`price`
  output: car_id := g.`car_id` (stable)
  output: price := g.`price` (stable)
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price := cars.`price`
    store: model_2 := cars.`model`
  token: cars as cars in car_id
  semi: not b1 on m.`car_id` <=> car_id, m.`price` <=> price
  key: car_id := m.`car_id`
  output: model_2 := m.`model_2` (stable)

-- title: not in under or
SELECT model FROM cars WHERE car_id NOT IN (SELECT car_id FROM bids) OR price < 10
-- blocks
b1: group, identity value (stable)
  core:
    scan: bids as bids
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: value := bids.`car_id`
  token: bids as bids in bid, buyer
  key: value := m.`value`
  output: value := g.`value` (stable)
b2: group, identity k1 (stable)
  lookup: b1 as b1, free
  condition: b1.`value` IS NULL
  key: k1 := TRUE
  output: k1 := g.`k1` (stable)
b3: group, identity k1 (stable)
  lookup: b1 as b1_2, free
  key: k1 := TRUE
  output: k1 := g.`k1` (stable)
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price := cars.`price`
    store: model_2 := cars.`model`
  token: cars as cars in car_id
  outer lookup of values: b2_found, b2 on nothing
  outer lookup of values: b1_found, b1 on m.`car_id` = value
  outer lookup of values: b3_found, b3 on nothing if COALESCE((m.`car_id` IS NULL), FALSE)
  condition: NOT ((NOT b1_found.`value` IS NULL) OR (NOT b3_found.`k1` IS NULL) OR (NOT b2_found.`k1` IS NULL)) OR m.`price` < 10
  key: car_id := m.`car_id`
  output: model_2 := m.`model_2` (stable)

-- title: not in under or of groups
SELECT g.dealer, g.s FROM (SELECT dealer, sum(price) AS s FROM cars GROUP BY dealer) g WHERE g.s NOT IN (SELECT t.m FROM (SELECT car_id, max(amount) AS m FROM bids GROUP BY car_id) t WHERE t.car_id > g.dealer) OR g.dealer = 1
-- blocks
b1: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: sum_price := SUM(m.`price`)
  output: dealer_3 := g.`dealer_3` (stable)
  output: sum_price := g.`sum_price`
b2: group, identity car_id_4 (stable)
  core:
    scan: bids as bids
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: car_id_4 := bids.`car_id`
    store: amount := bids.`amount`
  token: bids as bids in bid, buyer
  key: car_id_4 := m.`car_id_4`
  aggregate: max_amount := MAX(m.`amount`)
  output: car_id_4 := g.`car_id_4` (stable)
  output: max_amount := g.`max_amount`
b3: group, identity dealer_2, found (stable)
  core:
    potential: b2 as b2
    values: outer_:
      potential: b1 as b1_2
      store: dealer_2 := b1_2.`dealer_3`
    where: b2.`car_id_4` > outer_.`dealer_2`
    store: b2_car_id_4 := b2.`car_id_4`
    store: dealer_2 := outer_.`dealer_2`
  lookup: b2 as b2, b2_car_id_4 <=> car_id_4
  condition: b2.`max_amount` IS NULL
  key: dealer_2 := m.`dealer_2`
  key: found := TRUE
  output: dealer_2 := g.`dealer_2` (stable)
  output: found := g.`found` (stable)
b4: group, identity s, dealer_2, found (not stable)
  lookup: b2 as b2_2, free
  lookup: b1 as b1_3, free
  outer lookup of values: b3_found_2, b3 on b1_3.`dealer_3` <=> dealer_2
  condition: b2_2.`car_id_4` > b1_3.`dealer_3`
  condition: b1_3.`sum_price` = b2_2.`max_amount`
  key: s := b1_3.`sum_price`
  key: dealer_2 := b1_3.`dealer_3`
  key: found := TRUE
  output: s := g.`s`
  output: dealer_2 := g.`dealer_2`
  output: found := g.`found`
b5: group, identity dealer_2, found (stable)
  core:
    potential: b2 as b2_3
    values: outer__3:
      potential: b1 as b1_4
      store: dealer_2 := b1_4.`dealer_3`
    where: b2_3.`car_id_4` > outer__3.`dealer_2`
    store: b2_3_car_id_4 := b2_3.`car_id_4`
    store: dealer_2 := outer__3.`dealer_2`
  lookup: b2 as b2_3, b2_3_car_id_4 <=> car_id_4
  key: dealer_2 := m.`dealer_2`
  key: found := TRUE
  output: dealer_2 := g.`dealer_2` (stable)
  output: found := g.`found` (stable)
b0: rows, identity b1_dealer_3 (stable)
  lookup: b1 as b1, free
  outer lookup of values: b3_found, b3 on b1.`dealer_3` <=> dealer_2
  outer lookup of values: b4_found, b4 on b1.`sum_price` <=> s, b1.`dealer_3` <=> dealer_2
  outer lookup of values: b5_found, b5 on b1.`dealer_3` <=> dealer_2 if COALESCE((b1.`sum_price` IS NULL), FALSE)
  condition: NOT ((NOT b4_found.`found` IS NULL) OR (NOT b5_found.`found` IS NULL) OR (NOT b3_found.`found` IS NULL)) OR b1.`dealer_3` = 1
  key: b1_dealer_3 := b1.`dealer_3`
  output: dealer_4 := b1.`dealer_3` (stable)
  output: s_2 := b1.`sum_price`

-- title: not of or with in
SELECT model FROM cars WHERE NOT (car_id IN (SELECT car_id FROM bids) AND price < 10)
-- blocks
b1: group, identity value (stable)
  core:
    scan: bids as bids
    store: bid := bids.`bid`
    store: buyer := bids.`buyer`
    store: value := bids.`car_id`
  token: bids as bids in bid, buyer
  key: value := m.`value`
  output: value := g.`value` (stable)
b2: group, identity k1 (stable)
  lookup: b1 as b1, free
  condition: b1.`value` IS NULL
  key: k1 := TRUE
  output: k1 := g.`k1` (stable)
b3: group, identity k1 (stable)
  lookup: b1 as b1_2, free
  key: k1 := TRUE
  output: k1 := g.`k1` (stable)
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price := cars.`price`
    store: model_2 := cars.`model`
  token: cars as cars in car_id
  outer lookup of values: b2_found, b2 on nothing
  outer lookup of values: b1_found, b1 on m.`car_id` = value
  outer lookup of values: b3_found, b3 on nothing if COALESCE((m.`car_id` IS NULL), FALSE)
  condition: NOT ((NOT b1_found.`value` IS NULL) OR (NOT b3_found.`k1` IS NULL) OR (NOT b2_found.`k1` IS NULL)) OR NOT (m.`price` < 10)
  key: car_id := m.`car_id`
  output: model_2 := m.`model_2` (stable)
