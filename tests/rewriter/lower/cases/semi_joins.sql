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
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    outer_.`dealer` AS `dealer`,
    outer_.`amount` AS `amount`
  FROM `cars` AS cars, (
    SELECT DISTINCT
      dealers_2.`dealer` AS `dealer`,
      bids_2.`amount` AS `amount`
    FROM `dealers` AS dealers_2, `bids` AS bids_2
    WHERE
      bids_2.`buyer` = dealers_2.`city`
  ) AS outer_
  WHERE
    cars.`price` > outer_.`amount` AND outer_.`dealer` = cars.`dealer`
), `b1` AS (
  SELECT
    g.`dealer` AS `dealer`,
    g.`amount` AS `amount`
  FROM (
    SELECT
      m.`dealer` AS `dealer`,
      m.`amount` AS `amount`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer`,
      m.`amount`
  ) AS g
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`amount` AS `amount`,
    dealers.`city` AS `city_2`
  FROM `dealers` AS dealers, `bids` AS bids
  WHERE
    bids.`buyer` = dealers.`city`
)
SELECT
  m.`city_2` AS `city_2`,
  NAMED_STRUCT(
    'dealers',
    m.`dealer`,
    'bids',
    NAMED_STRUCT('_1', m.`bid`, '_2', m.`buyer`),
    'b1_absent',
    NAMED_STRUCT('_1', m.`dealer`, '_2', m.`amount`)
  ) AS `_prov`
FROM `b0_members` AS m
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM `b1` AS k
    WHERE
      k.`dealer` IS NOT DISTINCT FROM m.`dealer`
      AND k.`amount` IS NOT DISTINCT FROM m.`amount`
  )
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
  WHERE
    dealers.`rating` > 1
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

-- title: semi join grouped filtered
SELECT city FROM dealers d LEFT SEMI JOIN (SELECT dealer, sum(price) AS p FROM cars GROUP BY dealer) g ON g.dealer = d.dealer AND g.p > 10
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
  WHERE
    g.`sum_price` > 10
), `b2` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      b1.`dealer_3` AS `k1`
    FROM `b1` AS b1
    GROUP BY
      b1.`dealer_3`
  ) AS g
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city_2`
  FROM `dealers` AS dealers
)
SELECT
  m.`city_2` AS `city_2`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b2_exists', m.`dealer`) AS `_prov`
FROM `b0_members` AS m
WHERE
  EXISTS(
    SELECT
      1
    FROM `b2` AS k
    WHERE
      k.`k1` = m.`dealer`
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

-- title: semi join of scalar subquery
SELECT city, count(*) FROM dealers WHERE (SELECT max(model) FROM cars) IN (SELECT model FROM cars) GROUP BY city
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`max_model_3` AS `max_model`
  FROM (
    SELECT
      MAX(m.`model`) AS `max_model_3`
    FROM `b1_members` AS m
  ) AS g
), `b2_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`model` AS `k1`
  FROM `cars` AS cars_2
), `b2` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`k1` AS `k1`
    FROM `b2_members` AS m
    GROUP BY
      m.`k1`
  ) AS g
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city_3`
  FROM `dealers` AS dealers
)
SELECT
  g.`city_3` AS `city_2`,
  g.`count_2` AS `count`,
  g.`_prov`
FROM (
  SELECT
    m.`city_3` AS `city_3`,
    COUNT(*) AS `count_2`,
    COLLECT_LIST(
      NAMED_STRUCT(
        'dealers',
        m.`dealer`,
        'b2_exists',
        (
          SELECT
            b1_value.`max_model`
          FROM `b1` AS b1_value
        )
      )
    ) AS `_prov`
  FROM `b0_members` AS m
  WHERE
    EXISTS(
      SELECT
        1
      FROM `b2` AS k
      WHERE
        k.`k1` = (
          SELECT
            b1_value.`max_model`
          FROM `b1` AS b1_value
        )
    )
  GROUP BY
    m.`city_3`
) AS g
