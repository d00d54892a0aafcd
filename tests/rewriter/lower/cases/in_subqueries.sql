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
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`count` AS `count`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      COUNT(*) AS `count`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
  WHERE
    g.`count` > 1
), `b2_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`
  FROM `bids` AS bids
), `b2` AS (
  SELECT
    g.`buyer_3` AS `buyer_3`,
    g.`buyer_3` AS `buyer_2`
  FROM (
    SELECT
      m.`buyer` AS `buyer_3`
    FROM `b2_members` AS m
    GROUP BY
      m.`buyer`
  ) AS g
)
SELECT
  b1.`dealer_3` AS `dealer_2`,
  NAMED_STRUCT('b1', b1.`dealer_3`, 'b2_exists', b1.`dealer_3`) AS `_prov`
FROM `b1` AS b1
WHERE
  EXISTS(
    SELECT
      1
    FROM `b2` AS k
    WHERE
      k.`buyer_2` = b1.`dealer_3`
  )

-- title: in correlated union
SELECT model FROM cars c WHERE dealer IN (SELECT dealer FROM dealers d WHERE d.rating > c.price UNION SELECT buyer FROM bids b WHERE b.car_id = c.car_id)
-- expected
WITH `b1_members` AS (
  SELECT
    union_.`dealers_dealer` AS `dealers_dealer`,
    union_.`bids_bid` AS `bids_bid`,
    union_.`bids_buyer` AS `bids_buyer`,
    union_.`dealer_6` AS `dealer_7`,
    union_.`car_id_2_4` AS `car_id_2_5`,
    union_.`price_2_4` AS `price_2_5`
  FROM (
    SELECT
      dealers.`dealer` AS `dealer_6`,
      outer__2.`car_id_2` AS `car_id_2_4`,
      outer__2.`price_2` AS `price_2_4`,
      dealers.`dealer` AS `dealers_dealer`,
      NULL AS `bids_bid`,
      NULL AS `bids_buyer`
    FROM `dealers` AS dealers, (
      SELECT DISTINCT
        cars_3.`car_id` AS `car_id_2`,
        cars_3.`price` AS `price_2`
      FROM `cars` AS cars_3
    ) AS outer__2
    WHERE
      dealers.`rating` > outer__2.`price_2`
    UNION ALL
    SELECT
      bids.`buyer` AS `dealer_6`,
      outer__3.`car_id_2` AS `car_id_2_4`,
      outer__3.`price_2` AS `price_2_4`,
      NULL AS `dealers_dealer`,
      bids.`bid` AS `bids_bid`,
      bids.`buyer` AS `bids_buyer`
    FROM `bids` AS bids, (
      SELECT DISTINCT
        cars_4.`car_id` AS `car_id_2`,
        cars_4.`price` AS `price_2`
      FROM `cars` AS cars_4
    ) AS outer__3
    WHERE
      bids.`car_id` = outer__3.`car_id_2`
  ) AS union_
), `b1` AS (
  SELECT
    g.`dealer_7` AS `dealer_7`,
    g.`car_id_2_5` AS `car_id_2_5`,
    g.`price_2_5` AS `price_2_5`
  FROM (
    SELECT
      m.`dealer_7` AS `dealer_7`,
      m.`car_id_2_5` AS `car_id_2_5`,
      m.`price_2_5` AS `price_2_5`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_7`,
      m.`car_id_2_5`,
      m.`price_2_5`
  ) AS g
), `b2_members` AS (
  SELECT
    b1.`dealer_7` AS `b1_dealer_7`,
    b1.`car_id_2_5` AS `b1_car_id_2_5`,
    b1.`price_2_5` AS `b1_price_2_5`,
    outer_.`dealer` AS `dealer`,
    outer_.`car_id` AS `car_id`,
    outer_.`price` AS `price`
  FROM `b1` AS b1, (
    SELECT DISTINCT
      cars_2.`dealer` AS `dealer`,
      cars_2.`car_id` AS `car_id`,
      cars_2.`price` AS `price`
    FROM `cars` AS cars_2
  ) AS outer_
  WHERE
    b1.`car_id_2_5` IS NOT DISTINCT FROM outer_.`car_id`
    AND b1.`price_2_5` IS NOT DISTINCT FROM outer_.`price`
    AND outer_.`dealer` = b1.`dealer_7`
), `b2` AS (
  SELECT
    g.`dealer` AS `dealer`,
    g.`car_id` AS `car_id`,
    g.`price` AS `price`
  FROM (
    SELECT
      m.`dealer` AS `dealer`,
      m.`car_id` AS `car_id`,
      m.`price` AS `price`
    FROM `b2_members` AS m, `b1` AS b1
    WHERE
      m.`b1_dealer_7` IS NOT DISTINCT FROM b1.`dealer_7`
      AND m.`b1_car_id_2_5` IS NOT DISTINCT FROM b1.`car_id_2_5`
      AND m.`b1_price_2_5` IS NOT DISTINCT FROM b1.`price_2_5`
    GROUP BY
      m.`dealer`,
      m.`car_id`,
      m.`price`
  ) AS g
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer`,
    cars.`price` AS `price`,
    cars.`model` AS `model_3`
  FROM `cars` AS cars
)
SELECT
  m.`model_3` AS `model_3`,
  NAMED_STRUCT(
    'cars',
    m.`car_id`,
    'b2_exists',
    NAMED_STRUCT('_1', m.`dealer`, '_2', m.`car_id`, '_3', m.`price`)
  ) AS `_prov`
FROM `b0_members` AS m
WHERE
  EXISTS(
    SELECT
      1
    FROM `b2` AS k
    WHERE
      k.`dealer` IS NOT DISTINCT FROM m.`dealer`
      AND k.`car_id` IS NOT DISTINCT FROM m.`car_id`
      AND k.`price` IS NOT DISTINCT FROM m.`price`
  )

-- title: in filtered by null
SELECT model FROM cars WHERE NULL AND price IN (SELECT NULL FROM bids)
-- expected
WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`
  FROM `bids` AS bids
), `b1` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      NULL AS `k1`
    FROM `b1_members` AS m
    GROUP BY
      NULL
  ) AS g
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`,
    cars.`model` AS `model_2`
  FROM `cars` AS cars
  WHERE
    CAST(NULL AS BOOLEAN)
)
SELECT
  m.`model_2` AS `model_2`,
  NAMED_STRUCT('cars', m.`car_id`, 'b1_exists', m.`price`) AS `_prov`
FROM `b0_members` AS m
WHERE
  EXISTS(
    SELECT
      1
    FROM `b1` AS k
    WHERE
      k.`k1` = m.`price`
  )

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
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`model` AS `model_2`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`model_2` AS `model_2`,
    g.`count` AS `count`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      m.`model_2` AS `model_2`,
      COUNT(*) AS `count`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`,
      m.`model_2`
  ) AS g
  WHERE
    g.`count` >= 1
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city`
  FROM `dealers` AS dealers
)
SELECT
  m.`city` AS `city_2`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b1_exists', NAMED_STRUCT('_1', m.`dealer`, '_2', m.`city`)) AS `_prov`
FROM `b0_members` AS m
WHERE
  EXISTS(
    SELECT
      1
    FROM `b1` AS k
    WHERE
      k.`dealer_3` = m.`dealer` AND k.`model_2` = m.`city`
  )
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
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` > 10 AS `k1`
  FROM `cars` AS cars
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
  NAMED_STRUCT('dealers', m.`dealer`, 'b1_exists', m.`rating` > 3) AS `_prov`
FROM `b0_members` AS m
WHERE
  EXISTS(
    SELECT
      1
    FROM `b1` AS k
    WHERE
      k.`k1` = (
        m.`rating` > 3
      )
  )

-- title: not in
SELECT model FROM cars WHERE dealer NOT IN (SELECT dealer FROM dealers WHERE rating > 3)
-- expected
WITH `b1_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`
  FROM `dealers` AS dealers
  WHERE
    dealers.`rating` > 3
), `b1` AS (
  SELECT
    g.`value` AS `value`
  FROM (
    SELECT
      m.`dealer` AS `value`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer`
  ) AS g
), `b2` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      TRUE AS `k1`
    FROM `b1` AS b1_2
    GROUP BY
      TRUE
  ) AS g
), `b3` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      TRUE AS `k1`
    FROM `b1` AS b1_3
    WHERE
      b1_3.`value` IS NULL
    GROUP BY
      TRUE
  ) AS g
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer`,
    cars.`model` AS `model_2`
  FROM `cars` AS cars
)
SELECT
  m.`model_2` AS `model_2`,
  NAMED_STRUCT(
    'cars',
    m.`car_id`,
    'b1_absent',
    m.`dealer`,
    'b2_2_absent',
    CASE WHEN COALESCE((
      m.`dealer` IS NULL
    ), FALSE) THEN TRUE END,
    'b3_3_absent',
    TRUE
  ) AS `_prov`
FROM `b0_members` AS m
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM `b1` AS k
    WHERE
      k.`value` = m.`dealer`
  )
  AND (
    NOT COALESCE((
      m.`dealer` IS NULL
    ), FALSE)
    OR NOT EXISTS(
      SELECT
        1
      FROM `b2` AS k
    )
  )
  AND NOT EXISTS(
    SELECT
      1
    FROM `b3` AS k
  )
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

-- title: not in under or
SELECT model FROM cars WHERE car_id NOT IN (SELECT car_id FROM bids) OR price < 10
-- expected
WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`car_id` AS `value`
  FROM `bids` AS bids
), `b1` AS (
  SELECT
    g.`value` AS `value`
  FROM (
    SELECT
      m.`value` AS `value`
    FROM `b1_members` AS m
    GROUP BY
      m.`value`
  ) AS g
), `b2` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      TRUE AS `k1`
    FROM `b1` AS b1
    WHERE
      b1.`value` IS NULL
    GROUP BY
      TRUE
  ) AS g
), `b3` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      TRUE AS `k1`
    FROM `b1` AS b1_2
    GROUP BY
      TRUE
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
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
LEFT JOIN `b2` AS b2_found
  ON TRUE
LEFT JOIN `b1` AS b1_found
  ON b1_found.`value` = m.`car_id`
LEFT JOIN `b3` AS b3_found
  ON COALESCE((
    m.`car_id` IS NULL
  ), FALSE)
WHERE
  NOT (
    (
      NOT b1_found.`value` IS NULL
    )
    OR (
      NOT b3_found.`k1` IS NULL
    )
    OR (
      NOT b2_found.`k1` IS NULL
    )
  )
  OR m.`price` < 10
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
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`sum_price` AS `sum_price`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      SUM(m.`price`) AS `sum_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
), `b2_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`car_id` AS `car_id_4`,
    bids.`amount` AS `amount`
  FROM `bids` AS bids
), `b2` AS (
  SELECT
    g.`car_id_4` AS `car_id_4`,
    g.`max_amount` AS `max_amount`
  FROM (
    SELECT
      m.`car_id_4` AS `car_id_4`,
      MAX(m.`amount`) AS `max_amount`
    FROM `b2_members` AS m
    GROUP BY
      m.`car_id_4`
  ) AS g
), `b3_members` AS (
  SELECT
    b2.`car_id_4` AS `b2_car_id_4`,
    outer_.`dealer_2` AS `dealer_2`
  FROM `b2` AS b2, (
    SELECT DISTINCT
      b1_2.`dealer_3` AS `dealer_2`
    FROM `b1` AS b1_2
  ) AS outer_
  WHERE
    b2.`car_id_4` > outer_.`dealer_2`
), `b3` AS (
  SELECT
    g.`dealer_2` AS `dealer_2`,
    g.`found` AS `found`
  FROM (
    SELECT
      m.`dealer_2` AS `dealer_2`,
      TRUE AS `found`
    FROM `b3_members` AS m, `b2` AS b2
    WHERE
      m.`b2_car_id_4` IS NOT DISTINCT FROM b2.`car_id_4` AND b2.`max_amount` IS NULL
    GROUP BY
      m.`dealer_2`,
      TRUE
  ) AS g
), `b4` AS (
  SELECT
    g.`s` AS `s`,
    g.`dealer_2` AS `dealer_2`,
    g.`found` AS `found`
  FROM (
    SELECT
      b1_3.`sum_price` AS `s`,
      b1_3.`dealer_3` AS `dealer_2`,
      TRUE AS `found`
    FROM `b2` AS b2_2
    CROSS JOIN `b1` AS b1_3
    LEFT JOIN `b3` AS b3_found_2
      ON b3_found_2.`dealer_2` IS NOT DISTINCT FROM b1_3.`dealer_3`
    WHERE
      b2_2.`car_id_4` > b1_3.`dealer_3` AND b1_3.`sum_price` = b2_2.`max_amount`
    GROUP BY
      b1_3.`sum_price`,
      b1_3.`dealer_3`,
      TRUE
  ) AS g
), `b5_members` AS (
  SELECT
    b2_3.`car_id_4` AS `b2_3_car_id_4`,
    outer__3.`dealer_2` AS `dealer_2`
  FROM `b2` AS b2_3, (
    SELECT DISTINCT
      b1_4.`dealer_3` AS `dealer_2`
    FROM `b1` AS b1_4
  ) AS outer__3
  WHERE
    b2_3.`car_id_4` > outer__3.`dealer_2`
), `b5` AS (
  SELECT
    g.`dealer_2` AS `dealer_2`,
    g.`found` AS `found`
  FROM (
    SELECT
      m.`dealer_2` AS `dealer_2`,
      TRUE AS `found`
    FROM `b5_members` AS m, `b2` AS b2_3
    WHERE
      m.`b2_3_car_id_4` IS NOT DISTINCT FROM b2_3.`car_id_4`
    GROUP BY
      m.`dealer_2`,
      TRUE
  ) AS g
)
SELECT
  b1.`dealer_3` AS `dealer_4`,
  b1.`sum_price` AS `s_2`,
  NAMED_STRUCT('b1', b1.`dealer_3`) AS `_prov`
FROM `b1` AS b1
LEFT JOIN `b3` AS b3_found
  ON b3_found.`dealer_2` IS NOT DISTINCT FROM b1.`dealer_3`
LEFT JOIN `b4` AS b4_found
  ON b4_found.`s` IS NOT DISTINCT FROM b1.`sum_price`
  AND b4_found.`dealer_2` IS NOT DISTINCT FROM b1.`dealer_3`
LEFT JOIN `b5` AS b5_found
  ON COALESCE((
    b1.`sum_price` IS NULL
  ), FALSE)
  AND b5_found.`dealer_2` IS NOT DISTINCT FROM b1.`dealer_3`
WHERE
  NOT (
    (
      NOT b4_found.`found` IS NULL
    )
    OR (
      NOT b5_found.`found` IS NULL
    )
    OR (
      NOT b3_found.`found` IS NULL
    )
  )
  OR b1.`dealer_3` = 1

-- title: not of or with in
SELECT model FROM cars WHERE NOT (car_id IN (SELECT car_id FROM bids) AND price < 10)
-- expected
WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`car_id` AS `value`
  FROM `bids` AS bids
), `b1` AS (
  SELECT
    g.`value` AS `value`
  FROM (
    SELECT
      m.`value` AS `value`
    FROM `b1_members` AS m
    GROUP BY
      m.`value`
  ) AS g
), `b2` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      TRUE AS `k1`
    FROM `b1` AS b1
    WHERE
      b1.`value` IS NULL
    GROUP BY
      TRUE
  ) AS g
), `b3` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      TRUE AS `k1`
    FROM `b1` AS b1_2
    GROUP BY
      TRUE
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
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
LEFT JOIN `b2` AS b2_found
  ON TRUE
LEFT JOIN `b1` AS b1_found
  ON b1_found.`value` = m.`car_id`
LEFT JOIN `b3` AS b3_found
  ON COALESCE((
    m.`car_id` IS NULL
  ), FALSE)
WHERE
  NOT (
    (
      NOT b1_found.`value` IS NULL
    )
    OR (
      NOT b3_found.`k1` IS NULL
    )
    OR (
      NOT b2_found.`k1` IS NULL
    )
  )
  OR NOT (
    m.`price` < 10
  )
